"""What the gates say of files that were written by hand: marks beside them, never a change in them.

A mark names two memories and what is between them, "conflict" or "duplicate", and holds as long as both say what they
said when it was made and no person has settled it. It is kept in the cache and written in the log's `external` line,
from which it comes back.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .journal import Journal
    from .memories import Writer
    from .record import Record
    from .store import Store

MOST_AT_ONCE = 100  # more files than that at once are a vault taken over, not edits
MOST = 1_000
KINDS = {"disputes": "conflict", "like": "duplicate"}  # field of the log's line -> kind


class Marks:
    """The marks of one vault; `generation` grows when they, or a person's verdicts on them, change."""

    def __init__(self, root: str) -> None:
        from vaultcore import places

        self.root = root
        self.path = os.path.join(places.cache(root), "memory-marks.json")
        self.rows: list[tuple[str, str, str, str]] = []  # kind, key of the question, id, id
        self.generation = 0
        self._seen: tuple[object, object] | None = None
        self._pairs: tuple[int, int, list[tuple[str, Record, Record]]] | None = None

    def refresh(self) -> int:
        """Read them again when they have changed; returns the generation."""
        seen = (_stamp(self.path), self._verdicts())
        if seen != self._seen:
            rows = self._read() or []
            settled = _settled(self.root) if rows else set()
            self.rows = [row for row in rows if row[1] not in settled]
            self._seen = (seen[0], self._verdicts())
            self.generation += 1
        return self.generation

    def _verdicts(self) -> tuple[int, int] | None:
        if not self.rows:
            return None
        from .review import VERDICTS

        return _stamp(os.path.join(self.root, VERDICTS))

    def pairs(self, store: Store, kind: str) -> list[tuple[Record, Record]]:
        """The two memories of every mark of this kind that still holds, the one that was written by hand first."""
        if not self.rows:
            return []
        at = (self.generation, store.generation)
        if self._pairs is None or self._pairs[:2] != at:
            from . import review

            found = []
            for name, key, one, other in self.rows:
                for a in store.names.find(one):
                    for b in store.names.find(other):
                        if a is not b and review.key_of(name, [a, b]) == key:
                            found.append((name, a, b))
            self._pairs = (*at, found)
        return [(a, b) for name, a, b in self._pairs[2] if name == kind]

    def add(self, rows: list[tuple[str, str, str, str]]) -> None:
        """Keep these too, under the memory lock."""
        held = self._read() or []
        self._write([*held, *(row for row in rows if row not in held)])

    def recall(self, journal: Journal) -> None:
        """Take them from the log when the cache has none, under the memory lock."""
        if os.path.exists(self.path):
            return
        rows = []
        for line in journal.lines():
            for field, kind in KINDS.items() if line.get("op") == "external" else ():
                for entry in line.get(field) or ():
                    key, _, name = str(entry).partition(" ")
                    rows.append((kind, key, str(line.get("id", "")), name))
        self._write(rows)

    def _read(self) -> list[tuple[str, str, str, str]] | None:
        try:
            with open(self.path, encoding="utf-8") as file:
                return [(str(a), str(b), str(c), str(d)) for a, b, c, d in json.load(file)]
        except (OSError, ValueError, TypeError):
            return None

    def _write(self, rows: list[tuple[str, str, str, str]]) -> None:
        try:
            with open(f"{self.path}.{os.getpid()}", "w", encoding="utf-8") as file:
                json.dump(rows[-MOST:], file)
            os.replace(f"{self.path}.{os.getpid()}", self.path)
        except OSError:
            return  # the log has them


def weigh(store: Store, lines: list[dict[str, Any]], writer: Writer) -> list[tuple[str, str, str, str]]:
    """Hold every file that `lines` (of the log, about to be written) found changed past us against the others, by the
    rules of `remember`, and say in the lines what it contradicts or repeats. Returns the marks."""
    if len(lines) > MOST_AT_ONCE:
        return []
    from . import comparison, review, selection

    rows: list[tuple[str, str, str, str]] = []
    for line in lines:
        r = store.records.get(str(line["path"]))
        if r is None or not line.get("after") or line.get("was"):
            continue
        if selection.judged(store, writer.reader, [r.rel]).get(r.rel) != "current":
            continue
        text = store.text(r)
        held, states = comparison.meeting(store, r, text, {r.rel}, writer)
        rivals = comparison.rivals(r, text, held, states, store, set())
        twins = comparison.twins(text, held, states, {x.rel for x in rivals})
        settled = review.settled(store.root)
        for field, others in (("disputes", rivals), ("like", [m.record for m in twins])):
            asked = [(review.key_of(KINDS[field], [r, x]), x) for x in others]
            new = [(key, x) for key, x in asked if key not in settled]
            if new:
                line[field] = [f"{key} {x.key}" for key, x in new]
                rows += [(KINDS[field], key, r.key, x.key) for key, x in new]
    return rows


def _settled(root: str) -> set[str]:
    from .review import settled

    return settled(root)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
