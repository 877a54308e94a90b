"""The index of one vault: brought up to the files by `refresh`, asked by everything else.

How fresh it is. A call of `refresh` always (1) takes over what other processes wrote into the index, (2) looks at every
folder's time stamp and lists those that moved: a note created, removed, renamed or replaced by rename (as all our own
writers do) is known at once, whoever did it, and (3) looks at files named by `mark_dirty`. What it can miss is a file
edited in place by somebody else. So a full sweep of sizes and time stamps comes first in every process and again when
the last is older than 10 times its cost (0.25 to 2 s); with a watcher (`watched`) the sweep runs beside the call, which
waits for it 25 ms: then an edit is missed only if the watcher did not tell and the vault is too large to be swept in
that
time, and the next call has it. Search checks its hits against the files themselves in any case.
"""

from __future__ import annotations

import os

from vaultcore.errors import Problem

from .rows import Refresh
from .store import Store, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

    from .scan import Folder, Scan, State

BATCH = 256  # notes in one transaction
BUDGET = 4.0  # seconds a refresh spends on reading files before it answers with what there is
LINGER = 600  # seconds that rows of a file that is gone are kept, in case it comes back
PATIENCE = 0.025  # seconds a watched index waits for a sweep


class Freshness:
    """The part of an index that follows the files."""

    def __init__(self, root: str, path: str | None) -> None:
        import threading

        self.root = root
        self.watched = False
        self._store = Store(path)
        self._lock = threading.RLock()
        self._known: dict[str, tuple[int, State, int]] = {}  # rel -> id, state, seen_ns; gone ones left out
        self._folders: dict[str, Folder] = {}
        self._dirty: set[str] = set()
        self._pending: dict[str, State] = {}
        self._problems: list[Problem] = []
        self._reset()

    def _reset(self) -> None:
        self._remade = self._store.remade
        self._generation = -1
        self._known.clear()
        self._folders = {}
        self._swept = 0.0
        self._cost = 0.0
        self._sweeping: Any = None
        self._builder: Any = None
        self._cache: dict[str, tuple[int, Any]] = {}

    def refresh(self, budget: float | None = BUDGET, full: bool = False) -> Refresh:
        """Bring the index up to the files; `full` sweeps them whatever the clock says. Never raises for the state of
        the
        vault or of the index: `ready` is False and `reason` says why."""
        result = Refresh()
        try:
            with self._lock:
                return self._refresh(result, budget, full)
        except Trouble as trouble:
            result.scanned = len(self._known)
            return result.unready(str(trouble))

    def _refresh(self, result: Refresh, budget: float | None, full: bool) -> Refresh:
        import time

        from . import scan

        if not os.path.isdir(self.root):
            return result.unready(f"the vault is not at {self.root}: put the folder back, then retry")
        self._follow()
        started = time.monotonic()
        try:
            due = full or not self._folders or started - self._swept > min(2.0, max(0.25, 10 * self._cost))
            if due and self.watched and self._folders and not full:
                self._sweep_beside()
                due = False
            if due:
                seen = scan.sweep(self.root)
                self._cost = time.monotonic() - started
                self._swept = time.monotonic()
                todo = self._compare_all(seen, result)
            else:
                seen = scan.changes(self.root, self._folders)
                todo = self._compare_some(seen, result)
        except OSError as error:
            return result.unready(
                f"the vault at {self.root} can't be read ({error.strerror}): check the drive and its rights"
            )
        if result.reason:
            return result
        self._pending.update(todo)
        self._read(result, budget)
        if self._store.remade != self._remade:
            self._reset()
            return self._refresh(result, budget, True)
        result.scanned = len(self._known)
        result.problems = [*self._problems]
        if self._store.notice:
            result.problems.insert(0, Problem("", self._store.notice))
        return result

    def _follow(self) -> None:
        """Take over what other processes have written since."""

        def work(connection: sqlite3.Connection) -> tuple[int, list[Any], str]:
            generation = connection.execute("select value from meta where key='generation'").fetchone()[0]
            if generation == self._generation:
                return generation, [], ""
            rows = connection.execute(
                "select rel, id, size, mtime_ns, ino, seen_ns, gone from notes where gen>?", (self._generation,)
            ).fetchall()
            purged = connection.execute("select value from meta where key='purged'").fetchone()
            return generation, rows, str(purged[0]) if purged else ""

        generation, rows, _ = self._store.run(work)
        if self._store.remade != self._remade:
            self._reset()
            generation, rows, _ = self._store.run(work)
        for rel, number, size, mtime_ns, ino, seen_ns, gone in rows:
            if gone:
                self._known.pop(rel, None)
            else:
                self._known[rel] = (number, (size, mtime_ns, ino), seen_ns)
        self._generation = generation
        self._memory_root()

    def _memory_root(self) -> None:
        """The folder of memories, from the manifest; when it has moved, what is in the old and in the new one is read
        anew.
        """
        from vaultcore import exposure, manifest

        root = exposure.policy(manifest.load(self.root)).memory_root.strip("/")
        if root == getattr(self, "_memories_in", None):
            return

        def work(connection: sqlite3.Connection) -> str:
            return str(connection.execute("select value from meta where key='memory_root'").fetchone()[0])

        before = self._store.run(work)
        self._memories_in = root
        if before == root:
            return
        moved = [rel for rel in self._known if _below(rel, root) != _below(rel, before)] if before else []
        for rel in moved:
            number, state, _ = self._known[rel]
            self._known[rel] = (number, (-1, *state[1:]), 0)

        def note(connection: sqlite3.Connection, generation: int) -> None:
            connection.execute("update meta set value=? where key='memory_root'", (root,))
            connection.executemany("update notes set size=-1, gen=? where rel=?", [(generation, rel) for rel in moved])

        self._store.write(note)
        self._folders = {}  # compare everything again

    def _sweep_beside(self) -> None:
        """Start a full sweep in a thread, unless one is under way, and wait a moment for it."""
        import threading

        from . import scan

        if self._sweeping is None:
            done = threading.Event()

            def work() -> None:
                import time

                started = time.monotonic()
                try:
                    seen = scan.sweep(self.root)
                    self._cost = time.monotonic() - started
                    self._dirty.update(
                        rel
                        for rel, state in seen.files.items()
                        if (known := self._known.get(rel)) is None or known[1] != state
                    )
                    self._swept = time.monotonic()
                except (OSError, RuntimeError):
                    pass  # the vault is away, or the table grew meanwhile: the next call sees to it
                finally:
                    self._sweeping = None
                    done.set()

            self._sweeping = done
            threading.Thread(target=work, name="om-sweep", daemon=True).start()
        sweeping = self._sweeping
        if sweeping is not None:
            sweeping.wait(PATIENCE)

    def _compare_all(self, seen: Scan, result: Refresh) -> dict[str, State]:
        """What a full sweep means: rels to read; rows of vanished files are marked."""
        self._problems = seen.problems
        blind = tuple(seen.blind)
        gone = [rel for rel in self._known if rel not in seen.files and not (blind and rel.startswith(blind))]
        if self._emptied(gone, result):
            return {}
        if len(gone) > 20 and len(gone) * 2 > len(self._known):
            self._problems.append(Problem("", f"{len(gone)} of {len(self._known)} notes have vanished at once"))
        kept = {prefix: folder for prefix, folder in self._folders.items() if prefix in blind}
        self._folders = {**kept, **seen.folders}
        self._dirty.clear()
        todo = self._differing(seen.files)
        self._bury(gone, result)
        self._purge()
        self._attachments(seen)
        return todo

    def _compare_some(self, seen: Scan, result: Refresh) -> dict[str, State]:
        """What a look at moved folders means."""
        from . import scan

        gone: list[str] = []
        for prefix, folder in seen.folders.items():
            before = self._folders.get(prefix)
            if before is not None:
                gone.extend(prefix + name for name in before.notes if name not in folder.notes)
                lost = set(before.folders) - set(folder.folders)
                seen.gone.extend(f"{prefix}{name}/" for name in lost)
        if seen.gone:
            away = tuple(seen.gone)
            gone.extend(rel for rel in self._known if rel.startswith(away))
            for prefix in [p for p in self._folders if p.startswith(away)]:
                del self._folders[prefix]
        self._folders.update(seen.folders)
        files = dict(seen.files)
        dirty, self._dirty = self._dirty, set()
        racy = [rel for rel in self._racy if rel in self._known] if len(self._racy) <= 64 else []
        for rel in {*dirty, *racy}:
            state = scan.look(self.root, rel)
            if state is None:
                gone.append(rel)
            else:
                files[rel] = state
        gone = [rel for rel in dict.fromkeys(gone) if rel in self._known and scan.look(self.root, rel) is None]
        if self._emptied(gone, result):
            return {}
        todo = self._differing(files)
        self._bury(gone, result)
        if seen.folders:
            self._attachments(seen)
        return todo

    def _emptied(self, gone: list[str], result: Refresh) -> bool:
        """Whether the folder at the vault's place is no vault any more: no note left and no manifest either."""
        if not gone or len(gone) < len(self._known) or os.path.lexists(os.path.join(self.root, "vault-manifest.json")):
            return False
        self._folders = {}
        result.unready(
            f"the vault at {self.root} is empty although it held {len(gone)} notes: is a drive not mounted?"
        )
        return True

    @property
    def _racy(self) -> set[str]:
        """Notes whose time stamp was too young when they were read to prove that they have not changed since."""
        generation, found = self._cache.get("racy", (-2, None))
        if generation != self._generation or found is None:
            from .scan import RACY

            found = {rel for rel, (_, state, seen) in self._known.items() if state[1] > seen - RACY}
            self._cache["racy"] = (self._generation, found)
        return found  # type: ignore[no-any-return]

    def _differing(self, files: dict[str, State]) -> dict[str, State]:
        known, racy = self._known, self._racy
        return {
            rel: state
            for rel, state in files.items()
            if (row := known.get(rel)) is None or row[1] != state or rel in racy
        }

    def _read(self, result: Refresh, budget: float | None) -> None:
        """Read what is waiting, newest first, memories before notes, within the budget."""
        import time

        if not self._pending:
            return
        deadline = None if budget is None else time.monotonic() + budget
        total = len(self._pending)
        order = sorted(self._pending, key=lambda rel: (not _below(rel, self._memories_in), -self._pending[rel][1]))
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
        from . import entries

        store = self._store

        def work(connection: sqlite3.Connection, generation: int) -> dict[str, tuple[str, Any]]:
            done: dict[str, tuple[str, Any]] = {}
            memories = False
            for rel in rels:
                row = connection.execute(
                    "select id, size, mtime_ns, ino, sha, seen_ns, gone from notes where rel=?", (rel,)
                ).fetchone()
                known = self._known.get(rel)
                if row and not row[6] and row[1:4] == self._pending.get(rel) and (not known or row[5] > known[2]):
                    done[rel] = ("same", (row[0], row[1:4], row[5]))  # another process was faster
                    continue
                source = entries.load(self.root, rel)
                if source is None:
                    done[rel] = ("unread", None)
                    continue
                memory = _below(rel, self._memories_in)
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
                        memories = memories or memory
                    done[rel] = (what, (row[0], state, source.seen_ns))
                    continue
                entries.store(connection, source, memory, generation, store.full_text, store.trigrams)
                number = row[0] if row else connection.execute("select id from notes where rel=?", (rel,)).fetchone()[0]
                done[rel] = ("changed" if row and not row[6] else "added", (number, state, source.seen_ns))
                memories = memories or memory
            if memories:
                connection.execute("update meta set value=? where key='memories'", (generation,))
            self._wrote = generation
            return done

        done = store.write(work, _news)
        if self._wrote == self._generation + 1 and _news(done):
            self._generation = self._wrote  # nobody else wrote meanwhile: nothing to take over
        for rel, (what, known) in done.items():
            self._pending.pop(rel, None)
            if known is None:
                continue
            self._known[rel] = known
            result.added += what in ("added", "back")
            result.changed += what == "changed"
        self._cache.pop("racy", None)

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
            self._known.pop(rel, None)
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
        if now == getattr(self, "_others", None):
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

    def mark_dirty(self, rels: Iterable[str]) -> None:
        """Say that these files (or everything below these folders) may have changed; the next refresh looks at them."""
        for rel in rels:
            self._dirty.add(rel)

    def note_written(self, rel: str) -> None:
        """Say that this process wrote, moved or removed `rel`: it is in the index when this returns, for every
        process.
        """
        self.update([rel])

    def update(self, rels: Iterable[str]) -> Refresh:
        """Read these files now, changed or not by the look of them."""
        from . import scan

        result = Refresh()
        try:
            with self._lock:
                self._follow()
                gone = []
                for rel in dict.fromkeys(rels):
                    state = scan.look(self.root, rel)
                    if state is None:
                        if rel in self._known:
                            gone.append(rel)
                        continue
                    self._pending[rel] = state
                    if rel in self._known:
                        number, old, _ = self._known[rel]
                        self._known[rel] = (number, old, 1 << 62)  # whatever the row says, the file is read
                wanted = [rel for rel in rels if rel in self._pending]
                for at in range(0, len(wanted), BATCH):
                    self._batch(wanted[at : at + BATCH], result)
                if os.path.isdir(self.root):
                    self._bury(gone, result)
        except Trouble as trouble:
            return result.unready(str(trouble))
        return result

    def rebuild(self) -> Refresh:
        """Throw the index away and build it anew."""
        with self._lock:
            self._store.remake("asked for")
            self._store.notice = ""
            self._pending.clear()
            self._reset()
        return self.refresh(budget=None, full=True)

    def close(self) -> None:
        self._store.close()


def _news(done: dict[str, tuple[str, Any]]) -> bool:
    return any(what not in ("same", "unread") for what, _ in done.values())


def _below(rel: str, folder: str) -> bool:
    return bool(folder) and rel.startswith(folder + "/")
