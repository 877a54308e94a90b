"""The engine inside the index file: FTS5 over chunks, words joined by OR, BM25, the best chunk of a note stands for
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vaultcore import text

from .engine import Chunk, Pointer

if TYPE_CHECKING:
    import sqlite3

    from vaultcore.index import Index

WEIGHTS = "3.0, 2.0, 2.0, 1.0"  # title, heading, names, body: the flat optimum of three judged sets
MOST_CHUNKS = 64_000


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
        expression = text.match_expression(query)
        if not expression or limit < 1 or not self.index.full_text:
            return []
        return self.index.ask(lambda connection: _search(connection, expression, limit, folder, tag))


def _search(
    connection: sqlite3.Connection, expression: str, limit: int, folder: str | None, tag: str | None
) -> list[Pointer]:
    where, values = scope(folder, tag)
    statement = (
        "select n.rel, c.id, c.heading, c.line0, c.line1, x.s from"
        f" (select rowid r, bm25(fts, {WEIGHTS}) s from fts where fts match ? order by s limit ?) x"
        f" join chunks c on c.id=x.r join notes n on n.id=c.note where n.gone=0{where} order by x.s"
    )
    pool = max(400, 8 * limit)
    while True:
        found: dict[str, Pointer] = {}
        looked_at = 0
        for rel, _, heading, line0, line1, score in connection.execute(statement, (expression, pool, *values)):
            looked_at += 1
            if rel not in found:
                found[rel] = Pointer(rel, Chunk(heading, line0, line1), len(found) + 1, "words", -score)
                if len(found) >= limit:
                    return list(found.values())
        if (looked_at < pool and not where) or pool >= MOST_CHUNKS or _matches(connection, expression, pool) < pool:
            return list(found.values())
        pool *= 8


def _matches(connection: sqlite3.Connection, expression: str, most: int) -> int:
    query = "select count(*) from (select 1 from fts where fts match ? limit ?)"
    return int(connection.execute(query, (expression, most)).fetchone()[0])


def scope(folder: str | None, tag: str | None) -> tuple[str, list[Any]]:
    """SQL conditions (each with a leading ` and`) on `notes n` for a folder and a tag with everything nested in it."""
    where, values = "", list[Any]()
    if folder and folder.strip("/ "):
        below = folder.strip("/ ") + "/"
        where += " and substr(n.rel, 1, ?) = ?"
        values += [len(below), below]
    if tag and tag.strip("#/ "):
        folded = text.clean(tag).strip("#/ ").casefold()
        where += " and n.id in (select note from tags where tag=? or (tag>? and tag<?))"
        values += [folded, folded + "/", folded + "0"]
    return where, values
