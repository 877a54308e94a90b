"""The memories of a vault: opened (repaired, brought up to the files), read from, written to."""

from __future__ import annotations

import os

from . import intents, known, snapshot, times
from .journal import Journal
from .page import Page
from .store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vaultcore.write import Lock

    from .reach import Reader

LOCK = "memories"


class Settings:
    """What the manifest says about memories."""

    __slots__ = ("folder", "auto_retire")

    def __init__(self, folder: str = "memories", auto_retire: str = "key") -> None:
        self.folder = folder
        self.auto_retire = auto_retire if auto_retire in ("key", "sentence", "off") else "key"


class Writer:
    """Who writes: a name for logs, the project it comes from ("" unknown), what it may see, and the channel,
    which code stamps and no argument sets."""

    __slots__ = ("name", "origin", "projects", "reader", "channel")

    def __init__(
        self, name: str, origin: str, projects: tuple[str, ...], reader: Reader, channel: str = "agent"
    ) -> None:
        self.name = name
        self.origin = origin
        self.projects = projects
        self.reader = reader
        self.channel = channel


class Memories:
    """One vault's memories in this process. `open()` before each use; writes hold `lock()` throughout."""

    def __init__(self, root: str, settings: Settings | None = None) -> None:
        self.root = root
        self.settings = settings or Settings()
        self.store = Store(root, self.settings.folder)
        self.journal = Journal(root)
        self.known = known.Known(root)
        self.page = Page(root, self.store.folder)
        self.repaired: list[str] = []
        self.dry = False  # say what would be done and write nothing
        self._gathered: tuple[list[dict[str, Any]], list[dict[str, Any]]] | None = None
        self._reconciled = False

    def lock(self) -> Lock:
        from vaultcore.write import lock

        return lock(self.root, LOCK, 30)

    def open(self, patience: float = 0.0) -> Store:
        """The store as the files are now (see Store.refresh for `patience`). What a dead writer left is repaired, edits
        past us are logged, when the lock is free; a reader never waits for it."""
        changed = self.store.refresh(patience)
        self.store.tombstones  # noqa: B018  (rulings are read anew)
        if changed or not self._reconciled or self.page.changed() or intents.pending(self.root):
            from vaultcore.errors import VaultError
            from vaultcore.write import lock

            try:
                with lock(self.root, LOCK, 0):
                    self.settle()
            except (VaultError, OSError):
                pass  # somebody is writing, or the vault is read-only: reading goes on
        return self.store

    def settle(self) -> None:
        """Under the lock: finish what died, bring the store up to the files, log what changed past us."""
        if intents.pending(self.root):
            written = intents.recover(self.root, self.journal)
            if written:
                snapshot.drop(self.root)  # it may hold the text of what was being forgotten
                self.repaired.extend(written)
                self.store.refresh()
                self.store.reread([rel for rel in written if rel.endswith(".md")])
                self.learn(written)
        if not self._reconciled:
            intents.sweep(os.path.join(self.root, self.store.folder))
        self.store.refresh()
        self.store.marks.recall(self.journal)
        known.reconcile(self.root, self.store, self.known, self.journal, self._weigh)
        self.page.observe(self.journal)
        self._reconciled = True

    def _weigh(self, lines: list[dict[str, Any]]) -> None:
        """Send what was written past us through the gates; what they say becomes questions for a person."""
        from vaultcore.errors import VaultError

        from . import marks, rulings
        from .reach import PERSON

        rows = marks.weigh(self.store, lines, Writer("", "", (), PERSON, "external"))
        if rows:
            self.store.marks.add(rows)
            try:
                rulings.write_page(self)
            except (VaultError, OSError):
                return  # `om review` asks all the same

    def learn(self, rels: list[str]) -> None:
        """Take note that these files are as we wrote them."""
        from vaultcore.write import revision

        states: list[tuple[str, int, int, str]] = []
        for rel in rels:
            if not rel.startswith(self.store.folder + "/"):
                continue
            try:
                path = os.path.join(self.root, rel)
                with open(path, "rb") as file:
                    data = file.read()
                state = os.stat(path)
                states.append((rel, state.st_size, state.st_mtime_ns, revision(data)))
            except OSError:
                states.append((rel, 0, 0, ""))
        self.known.load()
        self.known.put(states)

    def perform(self, steps: list[dict[str, Any]], line: dict[str, Any]) -> None:
        """Write `steps` and their log line as one operation, under the lock, and take the result into the store."""
        if self.dry:
            return
        if self._gathered is not None:
            # two rulings on one value leave one record of it
            steps = [s for s in steps if s["do"] != "create" or s not in self._gathered[0]]
            self._gathered[0].extend(steps)
            self._gathered[1].append(line)
            return
        rels = intents.perform(self.root, self.journal, steps, line)
        gone = [str(step["rel"]) for step in steps if step["do"] in ("move", "remove")]
        self.store.reread([rel for rel in [*rels, *gone] if rel.startswith(self.store.folder + "/")])
        self.learn([*rels, *gone])

    def gather(self, work: Callable[[], None]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The steps and lines of everything that `work` would perform, for one operation that holds them all."""
        self._gathered = ([], [])
        try:
            work()
            return self._gathered
        finally:
            self._gathered = None

    def refused(self, writer: Writer, code: str, **fields: Any) -> None:
        """Log a refusal; a log that cannot be written does not hide the refusal itself."""
        from vaultcore.errors import VaultError

        try:
            with self.lock():
                self.journal.append("refuse", writer.channel, writer.name, code=code, **fields)
        except (VaultError, OSError):
            return

    def free_name(self, date: str, slug: str, folder: str = "") -> str:
        """The vault-relative path of a file that does not exist yet, for a memory of that date."""
        base = f"{self.store.folder}/{folder or date[:4] + '/' + date[5:7]}/{date} {slug}"
        for n in range(1, 10_000):
            rel = f"{base}.md" if n == 1 else f"{base} ({n}).md"
            if not os.path.lexists(os.path.join(self.root, rel)):
                return rel
        raise AssertionError("ten thousand memories of one name on one day")

    @staticmethod
    def now() -> str:
        return times.stamp()
