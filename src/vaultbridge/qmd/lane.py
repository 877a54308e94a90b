"""qmd as one of the engines of a search: pointers to notes, or one sentence why it gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vaultbridge.search.embedded import scope
from vaultbridge.search.engine import Chunk, Pointer

if TYPE_CHECKING:
    from .keeper import Keeper


class Lane:
    """The lane of one search. qmd is asked once, however often the pipeline looks deeper: it gives all it has."""

    name = "qmd"
    weight = 1.0  # against 2 of the embedded engine: what three judged sets bear

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.bridge = keeper.bridge
        self._asked: tuple[str, list[tuple[str, int]] | RuntimeError] | None = None
        self._spellings: dict[str, str | None] | None = None

    def state(self) -> str:
        return self.keeper.state()

    def search(self, query: str, limit: int, *, folder: str | None = None, tag: str | None = None) -> list[Pointer]:
        """At most `limit` pointers, best first. The policy has its say later; the query never carries it. Raises
        RuntimeError."""
        if self._asked is None or self._asked[0] != query:
            self._asked = (query, self._ask(query))
        found = self._asked[1]
        if isinstance(found, RuntimeError):
            raise found
        return self.pointers(found, folder, tag)[:limit]

    def _ask(self, query: str) -> list[tuple[str, int]] | RuntimeError:
        setting = self.keeper.setting()
        if setting is None or isinstance(setting, str):
            return []
        try:
            results = self.keeper.ask(query)
        except RuntimeError as error:
            return error
        return [place for entry in results if (place := _place(entry, setting.index.collection))]

    def pointers(self, places: list[tuple[str, int]], folder: str | None, tag: str | None) -> list[Pointer]:
        """Pointers in the given order, each note once, with the piece of the note that holds the line."""
        where, values = scope(folder, tag)
        policy = self.bridge.policy
        found: dict[str, Pointer] = {}
        for path, line in places:
            if policy.is_memory(path):
                continue  # memories are reached through their own tools, by reach
            rel = self._spelled(path) or path
            row = self._row(rel, line, where, values)
            if row is None and where:
                continue
            chunk = Chunk(row[0] or "", row[1], row[2]) if row is not None and row[1] is not None else None
            found.setdefault(rel, Pointer(rel, chunk, len(found) + 1, "qmd"))
        return list(found.values())

    def _row(self, rel: str, line: int, where: str, values: list[Any]) -> Any:
        query = (
            "select c.heading, c.line0, c.line1 from notes n left join chunks c on c.note=n.id"
            " and c.line0<=? and c.line1>=? where n.rel=? and n.kind='note' and n.gone=0" + where + " limit 1"
        )
        return self.bridge.index.ask(lambda c: c.execute(query, (line, line, rel, *values)).fetchone())

    def _spelled(self, path: str) -> str | None:
        """The note a path means: exactly, else the only one that differs by case or by dashes for spaces, as other
        versions of qmd write them. Never by file name alone: that would let in a note that lies elsewhere."""
        known = "select 1 from notes where rel=? and gone=0"
        if self.bridge.index.ask(lambda c: c.execute(known, (path,)).fetchone()):
            return path
        if self._spellings is None:
            every = self.bridge.index.ask(lambda c: c.execute("select rel from notes where gone=0").fetchall())
            self._spellings = {}
            for (rel,) in every:
                key = _loosely(rel)
                self._spellings[key] = None if key in self._spellings else rel
        return self._spellings.get(_loosely(path))


def _place(entry: Any, collection: str) -> tuple[str, int] | None:
    """(path inside the collection, line) of one result; None for what is not of this collection."""
    path = entry.get("file") if isinstance(entry, dict) else None
    if not isinstance(path, str) or len(path) > 4096:
        return None
    path = path.replace("\\", "/").removeprefix("qmd://")
    if not path.startswith(collection + "/") or path == collection + "/":
        return None
    line = entry.get("line")
    return path[len(collection) + 1 :], line if isinstance(line, int) and line > 0 else 1


def _loosely(path: str) -> str:
    from unicodedata import normalize

    return "-".join(normalize("NFC", path).casefold().split())
