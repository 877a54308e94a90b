"""Files into the index, in batches that leave room for other processes, and out of it when they are gone."""

from __future__ import annotations

from .rows import Refresh
from .states import States
from .store import Store, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from .scan import Folder, Scan, State

BATCH = 256  # notes in one transaction
BUDGET = 4.0  # seconds a refresh spends on reading files before it answers with what there is
LINGER = 600  # seconds that rows of a file that is gone are kept, in case it comes back


class Reading:
    """The part of an index that reads files and writes rows. Its callers hold `_lock`."""

    def __init__(self, root: str, path: str | None) -> None:
        import threading

        self.root = root
        self.watched = False
        self._store = Store(path)
        self._lock = threading.RLock()
        self._known = States()  # files that are gone are left out
        self._folders: dict[str, Folder] = {}
        self._pending: dict[str, State] = {}
        self._cache: dict[str, tuple[int, Any]] = {}
        self._memories_in: str | None = None
        self._others: set[str] | None = None
        self._generation = -1
        self._wrote = 0
        self._builder: threading.Thread | None = None

    def _follow(self) -> None:
        raise NotImplementedError

    def _read(self, result: Refresh, budget: float | None) -> None:
        """Read what is waiting, newest first, memories before notes, within the budget."""
        import time

        if not self._pending:
            return
        deadline = None if budget is None else time.monotonic() + budget
        total = len(self._pending)
        order = sorted(self._pending, key=lambda rel: (not below(rel, self._memories_in), -self._pending[rel][1]))
        for at in range(0, total, BATCH):
            if at and deadline is not None and time.monotonic() > deadline:
                break
            self._batch(order[at : at + BATCH], result)
        if self._pending:
            result.waiting = len(self._pending)
            known = len(self._known)
            result.unready(f"the index is being built: {known:,} of {known + result.waiting:,} notes are in it so far")
            if self.watched:
                self._build_beside()

    def _build_beside(self) -> None:
        import threading

        if self._builder is not None and self._builder.is_alive():
            return

        def work() -> None:
            while self._pending:
                with self._lock:
                    try:
                        self._read(Refresh(), 0.0)  # one batch at a time: calls get the lock in between
                    except (Trouble, OSError):
                        return
                threading.Event().wait(0.01)

        self._builder = threading.Thread(target=work, name="om-index", daemon=True)
        self._builder.start()

    def _batch(self, rels: list[str], result: Refresh) -> None:
        """Read these files and write what is new; reading and parsing is done before other processes have to wait."""
        from . import entries

        store = self._store
        asked = "select id, size, mtime_ns, ino, sha, seen_ns, gone from notes where rel=?"

        def held(connection: sqlite3.Connection) -> dict[str, Any]:
            return {rel: row for rel in rels if (row := connection.execute(asked, (rel,)).fetchone())}

        before: dict[str, Any] = store.run(held)
        done: dict[str, tuple[str, Any]] = {}
        sources: dict[str, entries.Source] = {}
        fresh: dict[str, entries.Entry] = {}
        for rel in rels:
            row = before.get(rel)
            if row and self._settled(rel, row):
                done[rel] = ("same", (row[0], row[1:4], row[5]))
                continue
            source = entries.load(self.root, rel)
            if source is None:
                done[rel] = ("unread", None)
                continue
            sources[rel] = source
            if not row or row[1] < 0 or row[4] != source.sha:
                fresh[rel] = entries.Entry(source, below(rel, self._memories_in))

        def work(connection: sqlite3.Connection, generation: int) -> dict[str, tuple[str, Any]]:
            found: dict[str, tuple[str, Any]] = {}
            now = held(connection)
            memories = False
            for rel, source in sources.items():
                row = now.get(rel)
                if row and row != before.get(rel) and self._settled(rel, row):
                    found[rel] = ("same", (row[0], row[1:4], row[5]))  # another process was faster
                    continue
                state = (source.size, source.mtime_ns, source.ino)
                if row and row[1] >= 0 and row[4] == source.sha:
                    what = "back" if row[6] else "same" if row[1:4] == state else "touched"
                    if what == "same":  # only proven once more: no news for other processes
                        connection.execute("update notes set seen_ns=? where id=?", (source.seen_ns, row[0]))
                    else:
                        connection.execute(
                            "update notes set size=?, mtime_ns=?, ino=?, seen_ns=?, gone=0, gen=? where id=?",
                            (*state, source.seen_ns, generation, row[0]),
                        )
                    found[rel] = (what, (row[0], state, source.seen_ns))
                else:
                    entry = fresh.get(rel) or entries.Entry(source, below(rel, self._memories_in))
                    number = entry.write(connection, generation, store.full_text, store.trigrams)
                    found[rel] = ("changed" if row and not row[6] else "added", (number, state, source.seen_ns))
                memories = memories or (found[rel][0] != "same" and below(rel, self._memories_in))
            if memories:
                connection.execute("update meta set value=? where key='memories'", (generation,))
            self._wrote = generation
            return found

        if sources:
            written = store.write(work, _news)
            done.update(written)
            if self._wrote == self._generation + 1 and _news(written):
                self._generation = self._wrote  # nobody else wrote meanwhile: nothing to take over
        for rel, (what, known) in done.items():
            self._pending.pop(rel, None)
            if known is None:
                continue
            self._known[rel] = known
            result.added += what in ("added", "back")
            result.changed += what == "changed"

    def _settled(self, rel: str, row: Any) -> bool:
        """Whether the index already holds what waits to be read, proven later than this process knew it."""
        known = self._known.get(rel)
        return not row[6] and row[1:4] == self._pending.get(rel) and (known is None or row[5] > known[2])

    def _bury(self, gone: list[str], result: Refresh) -> None:
        """Mark the rows of files that are gone. They stay for a while: a renamed folder or a drive may come back."""
        if not gone:
            return
        import time

        now = int(time.time())

        def work(connection: sqlite3.Connection, generation: int) -> None:
            connection.executemany(
                "update notes set gone=?, gen=? where rel=? and gone=0", [(now, generation, rel) for rel in gone]
            )
            connection.execute("update meta set value=? where key='memories'", (generation,))

        self._store.write(work)
        for rel in gone:
            self._known.pop(rel)
            self._pending.pop(rel, None)
        result.removed += len(gone)
        self._follow()

    def _purge(self) -> None:
        """Take out for good what has been gone for LINGER seconds, a batch at a time."""
        import time

        from . import entries

        limit = int(time.time()) - LINGER

        def find(connection: sqlite3.Connection) -> list[int]:
            query = "select id from notes where gone>0 and gone<? limit ?"
            return [row[0] for row in connection.execute(query, (limit, BATCH))]

        if not self._store.run(find):
            return

        def work(connection: sqlite3.Connection, generation: int) -> None:
            for number in find(connection):
                entries.erase(connection, number, self._store.full_text, self._store.trigrams)
                connection.execute("delete from notes where id=?", (number,))

        self._store.write(work)

    def _attachments(self, seen: Scan) -> None:
        """Keep the names of other files, so that links to them resolve."""
        from vaultcore.links import file_key

        now = {prefix + name for prefix, folder in self._folders.items() for name in folder.others}
        if now == self._others:
            return

        def before(connection: sqlite3.Connection) -> set[str]:
            return {row[0] for row in connection.execute("select rel from attachments")}

        held = self._store.run(before)
        if held != now:

            def work(connection: sqlite3.Connection, generation: int) -> None:
                connection.executemany("delete from attachments where rel=?", [(rel,) for rel in held - now])
                connection.executemany(
                    "insert or replace into attachments values(?,?)", [(rel, file_key(rel)) for rel in now - held]
                )

            self._store.write(work)
        self._others = now


def _news(done: dict[str, tuple[str, Any]]) -> bool:
    return any(what not in ("same", "unread") for what, _ in done.values())


def below(rel: str, folder: str | None) -> bool:
    return folder is not None and folder != "" and rel.startswith(folder + "/")
