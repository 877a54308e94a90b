"""The index of one vault: brought up to the files by `refresh`, asked by everything else.

How fresh it is. A call of `refresh` always (1) takes over what other processes wrote into the index, (2) looks at every
folder's time stamp and lists those that moved: a note created, removed, renamed or replaced by rename (as all our own
writers do) is known at once, whoever did it, and (3) looks at files named by `mark_dirty`. What it can miss is a file
edited in place by somebody else. So a full sweep of sizes and time stamps comes first in every process and again when
the last is older than 10 times its cost (0.25 to 2 s); with a watcher (`watched`) the sweep runs beside the call, which
waits for it 25 ms: then an edit is missed only if the watcher did not tell and the vault is too large to be swept in
that time, and the next call has it. Search checks its hits against the files themselves in any case.
"""

from __future__ import annotations

import os

from vaultcore.errors import Problem

from .reading import BATCH, BUDGET, Reading, below
from .rows import Refresh
from .store import Trouble, meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

    from .scan import Scan, State

WAIT = 1.0  # seconds a refresh waits for another thread that is at it
PATIENCE = 0.025  # seconds a watched index waits for a sweep


class Freshness(Reading):
    """The part of an index that follows the files."""

    def __init__(self, root: str, path: str | None) -> None:
        import threading

        super().__init__(root, path)
        self._dirty: set[str] = set()
        self._dirty_lock = threading.Lock()
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
        self._cache = {}
        self._others = None
        self._memories_in = None

    def refresh(self, budget: float | None = BUDGET, full: bool = False) -> Refresh:
        """Bring the index up to the files; `full` sweeps them whatever the clock says. Never raises for the state of
        the vault or of the index: `ready` is False and `reason` says why."""
        result = Refresh()
        if not self._lock.acquire(timeout=-1 if budget is None else WAIT):
            result.scanned = len(self._known)
            return result.unready(f"the index is being brought up to date: {result.scanned:,} notes are in it so far")
        try:
            return self._refresh(result, budget, full)
        except Trouble as trouble:
            result.scanned = len(self._known)
            return result.unready(str(trouble))
        finally:
            self._lock.release()

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
                seen = scan.sweep(self.root, self._known)
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

        def work(connection: sqlite3.Connection) -> int:
            generation: int = meta(connection, "generation")
            if generation != self._generation:
                query = "select rel, id, size, mtime_ns, ino, seen_ns, gone from notes where gen>?"
                # taken as the rows come: all of them at once are as much again
                self._known.take(
                    (rel, None if gone else (number, (size, mtime_ns, ino), seen_ns))
                    for rel, number, size, mtime_ns, ino, seen_ns, gone in connection.execute(
                        query, (self._generation,)
                    )
                )
            return generation

        generation = self._store.run(work)
        if self._store.remade != self._remade:
            self._reset()
            generation = self._store.run(work)
        self._generation = generation
        self._memory_root()

    def _memory_root(self) -> None:
        """The folder of memories, from the manifest; when it has moved, what is in the old and in the new one is read
        anew.
        """
        from vaultcore import exposure, manifest

        root = exposure.policy(manifest.load(self.root)).memory_root.strip("/")
        if root == self._memories_in:
            return

        def work(connection: sqlite3.Connection) -> str:
            return str(meta(connection, "memory_root"))

        before = self._store.run(work)
        self._memories_in = root
        if before == root:
            return
        moved = [rel for rel in self._known if below(rel, root) != below(rel, before)] if before else []
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
                    seen = scan.sweep(self.root, self._known)
                    self._cost = time.monotonic() - started
                    self.mark_dirty(
                        [
                            rel
                            for rel, state in seen.files.items()
                            if (known := self._known.get(rel)) is None or known[1] != state
                        ]
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
        gone = [rel for rel in self._known if not seen.holds(rel) and not (blind and rel.startswith(blind))]
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
        with self._dirty_lock:
            dirty, self._dirty = self._dirty, set()
        racy = [*self._known.racy] if len(self._known.racy) <= 64 else []
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
        result.unready(f"the vault at {self.root} is empty although it held {len(gone)} notes: is a drive not mounted?")
        return True

    def _differing(self, files: dict[str, State]) -> dict[str, State]:
        known, racy = self._known, self._known.racy
        return {
            rel: state
            for rel, state in files.items()
            if (row := known.get(rel)) is None or row[1] != state or rel in racy
        }

    def mark_dirty(self, rels: Iterable[str]) -> None:
        """Say that these files may have changed; the next refresh looks at them."""
        with self._dirty_lock:
            self._dirty.update(rels)

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
