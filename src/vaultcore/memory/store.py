"""The memories of one vault as this process holds them: parsed once, checked against the files at every opening."""

from __future__ import annotations

import os
import threading

from . import record
from .lexicon import Lexicon
from .reach import Edges, Names
from .tables import Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from vaultcore.errors import Problem

    from .record import Record
    from .similarity import Text
    from .tombstones import Tombstones

INBOX = "_inbox"
REVIEW = "Review.md"
LARGEST = 2_000_000


class Store:
    """`records` maps vault-relative paths to memories, `inbox` to proposals that nobody accepted yet.

    Files are the truth: `refresh` lists the memory folder and parses what has another size or time than before. What
    cannot be read now keeps its earlier parse and is named in `problems` (rel -> sentence). Thread-safe.
    """

    def __init__(self, root: str, folder: str = "memories") -> None:
        self.root = root
        self.folder = folder.strip("/") or "memories"
        self.records: dict[str, Record] = {}
        self.inbox: dict[str, Record] = {}
        self.problems: dict[str, str] = {}
        self.generation = 0
        self.lock = threading.RLock()
        self.stamps: dict[str, tuple[int, int]] = {}
        self._lexicon = Lexicon()
        self._lexicon_at = -1
        self._names: Names | None = None
        self._edges: Edges | None = None
        self._tombstones: Tombstones | None = None
        self._ruled: dict[str, tuple[Record, int, bool]] = {}
        self._texts: dict[str, tuple[Record, Text]] = {}
        self._tables = Tables()
        self._tables_at = -1
        self._doubts: dict[str, tuple[Record, str]] = {}

    # -- what is on disk ------------------------------------------------------------------------------------------

    def refresh(self) -> list[str]:
        """Bring everything up to the files; returns the paths that were added, changed or removed."""
        with self.lock:
            found: dict[str, tuple[int, int]] = {}
            for rel, size, mtime_ns in self._listing():
                found[rel] = (size, mtime_ns)
            changed = [rel for rel in self.stamps if rel not in found]
            for rel in changed:
                self._drop(rel)
            for rel, stamp in found.items():
                if self.stamps.get(rel) != stamp:
                    self._load(rel, *stamp)
                    changed.append(rel)
            if changed:
                self._changed()
            return changed

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
            self._changed()

    def _changed(self) -> None:
        self.generation += 1
        self._names = self._edges = None

    def _drop(self, rel: str) -> None:
        self.stamps.pop(rel, None)
        self.records.pop(rel, None)
        self.inbox.pop(rel, None)
        self.problems.pop(rel, None)

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
            self.stamps.pop(rel, None)
            return
        self.stamps[rel] = (size, mtime_ns)
        r = record.parse(rel, data, size, mtime_ns)
        held = self.inbox if rel.startswith(f"{self.folder}/{INBOX}/") else self.records
        if r is None:
            held.pop(rel, None)
            if b"tags" not in data[:2000] and not data.startswith(b"---"):
                self.problems[rel] = (
                    f"{rel} has no properties, so it reaches nobody: give it scope, projects and a title"
                )
            return
        held[rel] = r

    def _listing(self) -> Iterator[tuple[str, int, int]]:
        """Every Markdown file below the memory folder. An unreadable folder is not an empty one: what we knew stays."""
        from vaultcore import walk

        problems: list[Problem] = []
        review = f"{self.folder}/{REVIEW}"
        for entry in walk.walk(self.root, self.folder, problems=problems):
            if entry.conflict:
                self.problems[entry.rel] = (
                    f"{entry.rel} is a sync tool's conflict copy and is not served: merge or delete it"
                )
            elif entry.rel != review:
                yield entry.rel, entry.size, entry.mtime_ns
        for problem in problems:
            self.problems[problem.path] = problem.sentence()
            if "cannot be read" in problem.message:
                inside = problem.path.rstrip("/") + "/"
                yield from [(rel, *stamp) for rel, stamp in self.stamps.items() if rel.startswith(inside)]

    # -- what follows from it -------------------------------------------------------------------------------------

    @property
    def names(self) -> Names:
        with self.lock:
            if self._names is None:
                self._names = Names(self.records.values())
            return self._names

    @property
    def edges(self) -> Edges:
        with self.lock:
            if self._edges is None:
                self._edges = Edges(self.records.values(), self.names)
            return self._edges

    @property
    def lexicon(self) -> Lexicon:
        with self.lock:
            if self._lexicon_at != self.generation:
                self._lexicon.sync(self.records)
                self._lexicon_at = self.generation
            return self._lexicon

    @property
    def tables(self) -> Tables:
        with self.lock:
            if self._tables_at != self.generation:
                self._tables.sync(self.records)
                self._tables_at = self.generation
            return self._tables

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
