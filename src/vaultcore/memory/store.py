"""The memories of one vault as this process holds them: parsed once, checked against the files at every opening."""

from __future__ import annotations

import os

from . import record
from .listing import Gone, Listing
from .reach import Edges, Names
from .sharing import Sharing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .marks import Marks
    from .record import Record
    from .similarity import Text
    from .tombstones import Tombstones

INBOX = "_inbox"
LARGEST = 2_000_000
MOST_TEXTS = 500  # comparable forms kept for the next write


class Store(Sharing):
    """`records` maps vault-relative paths to memories, `inbox` to proposals that nobody accepted yet.

    Files are the truth: `refresh` lists the memory folder and parses what has another size or time than before. What
    cannot be read now keeps its earlier parse and is named in `problems` (rel -> sentence). Thread-safe.
    """

    def __init__(self, root: str, folder: str = "memories") -> None:
        super().__init__()
        self.root = root
        self.folder = folder.strip("/") or "memories"
        self.records: dict[str, Record] = {}
        self.inbox: dict[str, Record] = {}
        self.problems: dict[str, str] = {}
        self.generation = 0
        import threading

        self.lock = threading.RLock()
        self.stamps: dict[str, tuple[int, int]] = {}
        self.unseen: set[str] = set()  # changed since the log was last held against the files
        self.unseen_all = True  # nothing was compared yet in this process
        self._names = Names(())
        self._read = False
        self._looked = 0.0
        self._listing = Listing(root, self.folder, self.stamps, self.problems)
        self._linked: dict[str, Record] = {}  # those that replace or are replaced
        self._edges: Edges | None = None
        self._edges_at = -1
        self._tombstones: Tombstones | None = None
        self._marks: Marks | None = None
        self._ruled: dict[str, tuple[Record, int, bool]] = {}
        self._texts: dict[str, tuple[Record, Text]] = {}
        self.kept: dict[object, object] = {}  # what follows from one generation, by what it was asked with
        self._doubts: dict[str, tuple[Record, str]] = {}

    # -- what is on disk ----------------------------------------------------------------------------------------------

    def refresh(self, patience: float = 0.0) -> list[str]:
        """Bring everything up to the files; returns the paths that were added, changed or removed.

        `patience`: for so many seconds since the last look at every file, only an edit in place may be missed; what is
        added, replaced or removed changes its folder and is seen at once.
        """
        from time import monotonic

        with self.lock:
            if patience and self._read and monotonic() - self._looked < patience and self._listing.settled():
                return []
            self._looked = monotonic()
            changed = self._compare(self._listing.files() if self._read else self._first())
            if len(self._loose) >= self._enough:
                self._leave_to_snapshot()
            return changed

    def _compare(self, files: Iterable[tuple[str, os.stat_result | Gone]]) -> list[str]:
        stamps = self.stamps
        changed: list[str] = []
        held = stamps.get
        seen = 0
        for rel, state in files:
            seen += 1
            known = held(rel)
            if known is None or known[1] != state.st_mtime_ns or known[0] != state.st_size:
                self._load(rel, state.st_size, state.st_mtime_ns)
                changed.append(rel)
        if seen != len(stamps):  # something is gone: find out what
            found = {rel for rel, _ in self._listing.files()}
            for rel in [rel for rel in stamps if rel not in found]:
                self._drop(rel)
                changed.append(rel)
        if changed:
            self._changed(changed)
        if not self._read:
            self._read = True
            return list(stamps)
        return changed

    def fresh(self, rel: str) -> bool:
        """Whether the file at `rel` is still the one that was read."""
        try:
            found = os.stat(os.path.join(self.root, rel))
        except OSError:
            return False
        return self.stamps.get(rel) == (found.st_size, found.st_mtime_ns)

    def reread(self, rels: list[str]) -> None:
        """Parse these files again whatever their times say: this process has just written them."""
        with self.lock:
            for rel in rels:
                try:
                    found = os.stat(os.path.join(self.root, rel))
                except OSError:
                    self._drop(rel)
                    continue
                self._load(rel, found.st_size, found.st_mtime_ns)
            self._changed(rels)

    def _changed(self, rels: list[str]) -> None:
        self.generation += 1
        self._changes.extend(rels)
        self.unseen.update(rels)
        self.kept.clear()

    def _drop(self, rel: str) -> None:
        self.stamps.pop(rel, None)
        self._put(self.records, rel, None)
        self._put(self.inbox, rel, None)
        self.problems.pop(rel, None)

    def _put(self, held: dict[str, Record], rel: str, r: Record | None) -> None:
        old = held.pop(rel, None) if r is None else held.get(rel)
        self._loose.discard(rel)
        if r is not None:
            held[rel] = r
            if r.kept is None:
                self._loose.add(rel)
        if held is self.records:
            for which, alive in ((old, False), (r, True)):
                if which is not None and which.number(self._snapshot) >= 0:
                    self._snapshot.set(which.number(self._snapshot), alive)
            if old is not None:
                self._names.remove(old)
                self._linked.pop(rel, None)
            if r is not None:
                self._names.add(r)
                if r.supersedes or r.superseded_by:
                    self._linked[rel] = r

    def _shelf(self, rel: str) -> dict[str, Record]:
        return self.inbox if rel.startswith(f"{self.folder}/{INBOX}/") else self.records

    def _load(self, rel: str, size: int, mtime_ns: int) -> None:
        self.problems.pop(rel, None)
        if size > LARGEST:
            self.stamps[rel] = (size, mtime_ns)
            self.problems[rel] = f"{rel} is larger than 2 MB and is not read as a memory: shorten it"
            return
        try:
            with open(os.path.join(self.root, rel), "rb") as file:
                data = file.read(LARGEST + 1)
        except OSError as error:
            # it is there and cannot be read now: what we knew stays, and it is tried again next time
            self.problems[rel] = f"{rel} cannot be read ({error.strerror or error}): check its permissions"
            self.stamps[rel] = (-1, -1)
            return
        self.stamps[rel] = (size, mtime_ns)
        r = record.parse(rel, data, size, mtime_ns)
        self._put(self._shelf(rel), rel, r)
        if r is None and not data.lstrip(b"\xef\xbb\xbf").startswith(b"---"):
            self.problems[rel] = f"{rel} has no properties, so it reaches nobody: give it scope, projects and a title"

    # -- what follows from it -------------------------------------------------------------------------------------

    @property
    def names(self) -> Names:
        return self._names

    @property
    def edges(self) -> Edges:
        with self.lock:
            if self._edges is None or self._edges_at != self.generation:
                self._edges = Edges(list(self._linked.values()), self._names)
                self._edges_at = self.generation
            return self._edges

    @property
    def marks(self) -> Marks:
        """What the gates say of files written by hand, as it is kept now."""
        from .marks import Marks

        if self._marks is None:
            self._marks = Marks(self.root)
        self._marks.refresh()
        return self._marks

    @property
    def tombstones(self) -> Tombstones:
        """What people ruled out, as it lies on disk now."""
        from .tombstones import Tombstones

        with self.lock:
            if self._tombstones is None:
                self._tombstones = Tombstones(self.root)
            self._tombstones.refresh()
            return self._tombstones

    def text(self, r: Record) -> Text:
        """The comparable form of `r`, worked out once per version of its file."""
        from .similarity import Text

        held = self._texts.get(r.rel)
        if held is None or held[0] is not r:
            while len(self._texts) >= MOST_TEXTS:
                del self._texts[next(iter(self._texts))]
            held = self._texts[r.rel] = (r, Text(r))
        return held[1]

    def ruled_out(self, r: Record) -> bool:
        """Whether a person has ruled out what `r` says, for readers that `r` reaches."""
        stones = self._tombstones or self.tombstones
        if not stones.count:
            return False
        held = self._ruled.get(r.rel)
        if held and held[0] is r and held[1] == stones.generation:
            return held[2]
        answer = stones.match(r) is not None
        self._ruled[r.rel] = (r, stones.generation, answer)
        return answer

    def doubtful(self, r: Record) -> str:
        """Why a file that came in behind our back may not be served before a person looked at it ("" when it may)."""
        if r.source == "mcp-capture":
            return ""
        held = self._doubts.get(r.rel)
        if held and held[0] is r:
            return held[1]
        from . import markup, secrets

        text = f"{r.title}\n{r.body}"
        answer = ""
        if secrets.find(text):
            answer = "it holds what looks like a secret"
        elif markup.find(text):
            answer = "it holds the markup of a broken tool call"
        self._doubts[r.rel] = (r, answer)
        return answer
