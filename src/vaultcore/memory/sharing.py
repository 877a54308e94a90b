"""The part of a store that all processes of a vault share: a snapshot of parsed memories and of their words."""

from __future__ import annotations

from . import snapshot
from .lexicon import Lexicon
from .listing import Gone
from .snapshot import Snapshot
from .tables import Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    import threading
    from collections.abc import Iterable

    from .listing import Listing
    from .record import Record

LOCK = "memory-words"
PATIENCE = 60  # seconds a first look waits for another process that is parsing everything


class Sharing:
    """Holds of the memories what no snapshot in use holds, and hands that on to a new one when it becomes much. What
    the files say is the store's business."""

    root: str
    lock: threading.RLock
    records: dict[str, Record]
    inbox: dict[str, Record]
    stamps: dict[str, tuple[int, int]]
    _listing: Listing

    def __init__(self) -> None:
        self._snapshot = Snapshot()
        self._loose: set[str] = set()  # parsed here: no snapshot in use has them
        self._enough = snapshot.FEWEST
        self._lexicon = Lexicon(self._snapshot)
        self._lexicon_at = 0
        self._tables = Tables(self._snapshot)
        self._tables_at = 0
        self._changes: list[str] = []

    def _put(self, held: dict[str, Record], rel: str, r: Record | None) -> None:
        raise NotImplementedError

    def _shelf(self, rel: str) -> dict[str, Record]:
        raise NotImplementedError

    def _changed(self, rels: list[str]) -> None:
        raise NotImplementedError

    def _compare(self, files: Iterable[tuple[str, os.stat_result | Gone]]) -> list[str]:
        raise NotImplementedError

    def _first(self) -> list[tuple[str, os.stat_result | Gone]]:
        """Every file, when none was looked at yet: what a snapshot holds of them is taken from it, and when it lacks
        much, of many processes that start at once one makes it."""
        from vaultcore.errors import VaultError
        from vaultcore.write import lock

        kept = self._open()
        # of five thousand files, what stat says is more than what is known of them
        files: list[tuple[str, os.stat_result | Gone]] = [
            (rel, Gone(state.st_size, state.st_mtime_ns)) for rel, state in self._listing.files()
        ]
        if sum(rel not in kept for rel, _ in files) >= snapshot.FEWEST:
            try:
                with lock(self.root, LOCK, PATIENCE):
                    kept = self._open()
                    self._take(files, kept)
                    self._compare(files)
                    if len(self._loose) >= self._enough:
                        self._make_snapshot()
                    return files
            except (VaultError, OSError):
                pass
        self._take(files, kept)
        return files

    def _take(self, files: list[tuple[str, os.stat_result | Gone]], kept: dict[str, Record]) -> None:
        for rel, state in files:
            r = kept.get(rel)
            if r is not None and (r.size, r.mtime_ns) == (state.st_size, state.st_mtime_ns):
                r.rel = rel  # one path in memory, not three
                if r.number(self._snapshot) >= 0:
                    self._snapshot.rels[r.number(self._snapshot)] = rel
                self._put(self._shelf(rel), rel, r)
                self.stamps[rel] = (r.size, r.mtime_ns)
        self._changed(list(self.stamps))

    def _open(self) -> dict[str, Record]:
        opened = Snapshot(self.root)
        found = opened.open()
        self._use(opened)
        return found

    def _use(self, opened: Snapshot) -> None:
        self._snapshot = opened
        self._lexicon, self._lexicon_at = Lexicon(opened), 0
        self._tables, self._tables_at = Tables(opened), 0
        self._changes.clear()

    def _leave_to_snapshot(self) -> None:
        """Hold no longer what a snapshot holds: the one in place, or when that lacks as much, one made now."""
        from vaultcore.errors import VaultError
        from vaultcore.write import lock

        try:
            with lock(self.root, LOCK, 0):
                self._adopt()
                if len(self._loose) >= self._enough:
                    self._make_snapshot()
        except (VaultError, OSError):
            return  # somebody is making it: the next call has it

    def _make_snapshot(self) -> None:
        from . import deposit

        if deposit.save(self.root, self.records, self.inbox):
            self._adopt()
        self._enough = snapshot.FEWEST + 2 * len(self._loose)  # not again at once when that did not help

    def _adopt(self) -> None:
        """Take over the snapshot in place when it is another than the one in use. The memories in it leave their
        text and their words to it and stay the objects they are."""
        if snapshot.identity(self.root) in (None, self._snapshot.identity):
            return
        opened = Snapshot(self.root)
        found = opened.open({**self.records, **self.inbox})
        for r in (*self.records.values(), *self.inbox.values()):
            if r.number(opened) < 0 and r.kept is not None:
                r.take_back()
                self._loose.add(r.rel)
        for rel, r in found.items():
            self._loose.discard(rel)
            if rel in self.records:
                opened.set(r.number(opened), True)
        self._use(opened)
        self._changes.extend(self._loose)

    @property
    def lexicon(self) -> Lexicon:
        with self.lock:
            self._lexicon_at = self._catch_up(self._lexicon, self._lexicon_at)
            return self._lexicon

    @property
    def tables(self) -> Tables:
        with self.lock:
            self._tables_at = self._catch_up(self._tables, self._tables_at)
            return self._tables

    def _catch_up(self, table: Lexicon | Tables, at: int) -> int:
        for rel in dict.fromkeys(self._changes[at:]):
            held, r = table.held.get(rel), self.records.get(rel)
            if r is not None and r.number(table.snapshot) >= 0:
                r = None  # it is found there
            if held is not None and held[0] is not r:
                table.remove(rel)
            if r is not None and (held is None or held[0] is not r):
                table.add(r)
        return len(self._changes)
