"""What is known of the memories, kept in one SQLite file of the cache for every process: parsed facets, texts, and
which words they hold. A session's first recall then parses nothing and holds no word in memory.

Derived, and never changed once in place: who has a newer one writes it beside and puts it there whole. Each row counts
only while its file has the size and time it was parsed at; anything odd is parsed anew.
"""

from __future__ import annotations

import json
import os
import sys

from . import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from array import array
    from typing import Any

    from .record import Record

VERSION = 2
MOST = 1_000_000  # memories in one file
FEWEST = 200  # fewer changed files than this are parsed faster than the snapshot is written
WORD, OPENING, ABOUT, BODY, TITLE = range(5)  # what a term is
PLAIN = (
    "key id title date source origin session scope projects platforms paths aliases "
    "confidence claimed_confidence claimed_scope flags valid_from valid_until recorded_at retired_at declared about "
    "supersedes superseded_by promoted external_id private problems"
).split()
MARK = f"{VERSION} {sys.byteorder} {' '.join(PLAIN)}"


def path(root: str) -> str:
    from vaultcore import places

    return os.path.join(places.cache(root), "memory-words.sqlite")


class Snapshot:
    """One such file, opened; without a `root` an empty one. `dead` are those of its memories that no longer are as
    it holds them, `count` and `total` how many others there are and how many words they have. Thread-safe."""

    def __init__(self, root: str = "") -> None:
        import threading
        from array import array

        self.root = root
        self.rels: list[str] = []
        self.lengths: array[int] = array("I")
        self.dead: set[int] = set()
        self.count = self.total = 0
        self.identity: tuple[int, int, int] | None = None
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def open(self, known: dict[str, Record] | None = None) -> dict[str, Record]:
        """Open the file and take its memories out, by path: those of `known` that have not changed since they were
        parsed leave their text to it, without `known` all are made anew. Empty when there is none that can be used."""
        self.identity = identity(self.root)
        if self.identity is None:
            return {}
        import sqlite3
        from urllib.parse import quote

        try:
            # immutable: it is replaced, never written to, so nobody needs a lock
            address = f"file:{quote(path(self.root))}?mode=ro&immutable=1"
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            connection.execute("pragma cache_size=-512")
            [(mark, top)] = connection.execute("select text, top from mark").fetchall()
            if mark != MARK or not 0 <= top < MOST:
                connection.close()
                return {}
            self.rels, self.lengths, self.dead = [""] * top, array_of([0]) * top, set(range(top))
            found, numbers = self._rows(connection, known)
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            self.rels, self.dead = [], set()
            return {}
        self._connection = connection
        if known is not None:
            for rel, r in found.items():
                r.keep_in(self, numbers[rel])
        return found

    def _rows(
        self, connection: sqlite3.Connection, known: dict[str, Record] | None
    ) -> tuple[dict[str, Record], dict[str, int]]:
        found: dict[str, Record] = {}
        numbers: dict[str, int] = {}
        shared: dict[Any, Any] = {}
        facts = ", facts" if known is None else ""
        for number, rel, size, mtime_ns, length, *row in connection.execute(
            f"select number, rel, size, mtime_ns, length{facts} from docs"
        ):
            if known is None:
                r = found[rel] = _made(rel, size, mtime_ns, json.loads(row[0]), shared)
                r.keep_in(self, number)
            else:
                held = known.get(rel)
                if held is None or (held.size, held.mtime_ns) != (size, mtime_ns):
                    continue
                r = found[held.rel] = held
                numbers[held.rel] = number
            self.rels[number], self.lengths[number] = r.rel, length
        return found, numbers

    def set(self, number: int, alive: bool) -> None:
        """Count the memory `number` in, or out."""
        if alive == (number in self.dead):
            (self.dead.discard if alive else self.dead.add)(number)
            self.count += 1 if alive else -1
            self.total += self.lengths[number] if alive else -self.lengths[number]

    def term(self, kind: int, term: str) -> array[int]:
        """The numbers of the memories that have `term`, dead ones too; of a WORD each is followed by how often."""
        row = self._ask("select docs from terms where kind=? and term=?", (kind, packed(term)))
        return array_of(b"" if row is None else row[0])

    def having(self, kind: int, term: str) -> list[str]:
        """The paths of the memories that have `term`, which is no WORD."""
        return [self.rels[n] for n in self.term(kind, term) if n not in self.dead]

    def text(self, number: int, rel: str, name: str) -> str:
        """The `body` or `description` of one of its memories."""
        row = self._ask(f"select {name} from docs where number=?", (number,))
        if row is not None:
            return str(row[0], "utf-8", "surrogatepass")
        try:  # the cache is damaged: the file itself still says it
            with open(os.path.join(self.root, rel), "rb") as file:
                r = record.parse(rel, file.read())
        except OSError:
            return ""
        return "" if r is None else str(getattr(r, name))

    def _ask(self, query: str, values: tuple[object, ...]) -> tuple[Any, ...] | None:
        import sqlite3

        if self._connection is None:
            return None
        with self._lock:
            try:
                found: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
            except sqlite3.Error:
                return None
            return found

    def close(self) -> None:
        """Let go of the file. Nothing may ask this snapshot or its records afterwards."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def identity(root: str) -> tuple[int, int, int] | None:
    """What tells the file in place from the one before it; None when there is none."""
    from vaultcore.errors import VaultError

    try:
        found = os.stat(path(root))
    except (OSError, VaultError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def drop(root: str) -> None:
    """Forget the snapshot: it holds the text of memories."""
    clear(path(root))
    clear(os.path.join(os.path.dirname(path(root)), "memory-records.json"))  # what an earlier version kept


def digest(form: str) -> str:
    """What stands for the normal form of a body."""
    from hashlib import sha256

    return sha256(form.encode("utf-8", "replace")).hexdigest()[:16]


def clear(place: str) -> None:
    """Remove a file if it is there."""
    try:
        os.unlink(place)
    except OSError:
        return


def array_of(content: bytes | list[int]) -> array[int]:
    """Numbers as they lie in the file."""
    from array import array

    return array("I", content)


def packed(text: str) -> bytes:
    """A text as it lies in the file."""
    return text.encode("utf-8", "surrogatepass")  # SQLite takes no text with half a pair


_EMPTY: list[str] = []  # one for all records: nobody changes a list of a parsed memory


def _made(rel: str, size: int, mtime_ns: int, row: list[Any], shared: dict[Any, Any]) -> Record:
    """The record of a row. What many have in common they share."""
    r = record.Record()
    r.rel, r.size, r.mtime_ns = rel, size, mtime_ns
    for name, value in zip(PLAIN, row):
        if type(value) is str:
            value = shared.setdefault(value, value)
        elif type(value) is list:
            value = shared.setdefault(("list", *value), value) if value else _EMPTY
        setattr(r, name, value)
    record.complete(r)
    return r
