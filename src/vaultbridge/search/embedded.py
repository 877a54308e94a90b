"""The engine inside the index file: FTS5 over chunks, words joined by OR, BM25, the best chunk of a note stands for
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vaultcore import text
from vaultcore.private import is_tag

from .engine import Chunk, Pointer

if TYPE_CHECKING:
    import sqlite3

    from vaultcore.index import Index

WEIGHTS = "3.0, 2.0, 2.0, 1.0"  # title, heading, names, body: the flat optimum of three judged sets
MOST_CHUNKS = 64_000
CANDIDATES = 1_500  # chunks that are scored at least, if so many hold a word of the query


class Embedded:
    """Full-text search in the index. `weight` is what its list counts in fusion."""

    name = "words"
    weight = 2.0

    def __init__(self, index: Index) -> None:
        self.index = index

    def state(self) -> str:
        return "ok" if self.index.full_text else "off: this Python's SQLite has no FTS5"

    def search(self, query: str, limit: int, *, folder: str | None = None, tag: str | None = None) -> list[Pointer]:
        """At most `limit` notes, best first. Any text is a query; one without a word finds nothing."""
        parts = text.match_parts(query)
        if not parts or limit < 1 or not self.index.full_text:
            return []
        return self.index.ask(lambda connection: _search(connection, parts, limit, folder, tag))


def _search(
    connection: sqlite3.Connection, parts: list[str], limit: int, folder: str | None, tag: str | None
) -> list[Pointer]:
    where, values = scope(folder, tag)
    expression = " OR ".join(parts)
    core = "" if where else _core(connection, parts, max(CANDIDATES, 20 * limit))
    inside = " and +rowid in (select rowid from fts where fts match ?)" if core else ""
    statement = (
        "select n.rel, c.heading, c.line0, c.line1, x.s from"
        f" (select rowid r, bm25(fts, {WEIGHTS}) s from fts where fts match ?{inside} order by s limit ?) x"
        f" join chunks c on c.id=x.r join notes n on n.id=c.note where n.gone=0{where} order by x.s"
    )
    pool = max(400, 8 * limit)
    while True:
        found: dict[str, Pointer] = {}
        looked_at = 0
        bound = (expression, core, pool) if core else (expression, pool)
        for rel, heading, line0, line1, score in connection.execute(statement, (*bound, *values)):
            looked_at += 1
            if rel not in found:
                found[rel] = Pointer(rel, Chunk(heading, line0, line1), len(found) + 1, "words", -score)
                if len(found) >= limit:
                    return list(found.values())
        if (looked_at < pool and not where) or pool >= MOST_CHUNKS or _matches(connection, expression, pool) < pool:
            return list(found.values())
        pool *= 8


def _core(connection: sqlite3.Connection, parts: list[str], enough: int) -> str:
    """The rarest terms that together name `enough` chunks; "" when all terms name few.

    Scoring is what costs: a chunk that holds none but the commonest words of a query is not worth it. Scores are not
    changed.
    """
    counted = sorted((_matches(connection, part, 4 * enough), i, part) for i, part in enumerate(parts))
    total = sum(count for count, _, _ in counted)
    if total <= 2 * enough:
        return ""
    chosen: list[str] = []
    named = 0
    for count, _, part in counted:
        if chosen and named >= enough:
            break
        chosen.append(part)
        named += count
    return " OR ".join(chosen) if len(chosen) < len(parts) else ""


def _matches(connection: sqlite3.Connection, expression: str, most: int) -> int:
    query = "select count(*) from (select 1 from fts where fts match ? limit ?)"
    return int(connection.execute(query, (expression, most)).fetchone()[0])


def scope(folder: str | None, tag: str | None) -> tuple[str, list[Any]]:
    """SQL conditions (each with a leading ` and`) on `notes n` for a folder and a tag with everything nested in it."""
    where, values = "", list[Any]()
    inside = text.clean(folder or "").replace("\\", "/").removeprefix("./").strip("/ ")
    if inside:
        below = inside + "/"
        where += " and substr(n.rel, 1, ?) = ?"
        values += [len(below), below]
    if tag and tag.strip("#/ "):
        folded = text.clean(tag).strip("#/ ").casefold()
        if is_tag(folded):  # what it would find is a note that says it in its text only
            return " and 0", []
        where += " and n.id in (select note from tags where tag=? or (tag>? and tag<?))"
        values += [folded, folded + "/", folded + "0"]
    return where, values
