"""The files below the memory folder and their states, without listing again what has not changed."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

REVIEW = "Review.md"
CLOCK_NS = 2_500_000_000


class Gone:
    """The state of a file, as it is or, when its folder cannot be listed now, as it was known last."""

    __slots__ = ("st_size", "st_mtime_ns")

    def __init__(self, size: int, mtime_ns: int) -> None:
        self.st_size = size
        self.st_mtime_ns = mtime_ns


class Folder:
    """One folder as it was listed when its time of change was `mtime_ns` (-1: not to be relied on)."""

    __slots__ = ("mtime_ns", "files", "folders")

    def __init__(self, mtime_ns: int) -> None:
        self.mtime_ns = mtime_ns
        self.files: list[str] = []
        self.folders: list[tuple[str, str]] = []


class Listing:
    """The memory folder of a vault, looked at again and again. `stamps` (path -> size, mtime_ns) is what the store
    knows, `problems` takes a sentence for each path that cannot be used."""

    def __init__(self, root: str, start: str, stamps: dict[str, tuple[int, int]], problems: dict[str, str]) -> None:
        self.root = root
        self.start = start
        self.stamps = stamps
        self.problems = problems
        self._folders: dict[str, Folder] = {}

    def files(self) -> Iterator[tuple[str, os.stat_result | Gone]]:
        """Every Markdown file below the memory folder, as walk.walk finds them. An unreadable folder is not an empty
        one: what we knew of it stays. A folder that has not changed since it was listed is not listed again; each
        file in it is looked at all the same."""
        stack = [(os.path.join(self.root, self.start), self.start + "/")]
        while stack:
            path, prefix = stack.pop()
            try:
                changed = os.stat(path).st_mtime_ns
                held = self._folders.get(path)
                if held is None or held.mtime_ns != changed:
                    held = self._folders[path] = self._list(path, prefix, changed)
            except (FileNotFoundError, NotADirectoryError):
                self._folders.pop(path, None)
                continue
            except OSError as error:
                folder = prefix.rstrip("/")
                self.problems[folder] = f"{folder} cannot be listed ({error.strerror or error}): check its permissions"
                yield from [(rel, Gone(*stamp)) for rel, stamp in self.stamps.items() if rel.startswith(prefix)]
                continue
            stack.extend(held.folders)
            stat, base = os.stat, self.root + os.sep
            for rel in held.files:
                try:
                    yield rel, stat(base + rel)
                except OSError:
                    continue  # gone since the listing

    def settled(self) -> bool:
        """Whether no folder has changed since it was listed, and every listing can be relied on."""
        try:
            return bool(self._folders) and all(  # none: the memory folder itself may have come
                os.stat(path).st_mtime_ns == folder.mtime_ns for path, folder in self._folders.items()
            )
        except OSError:
            return False

    def _list(self, path: str, prefix: str, changed: int) -> Folder:
        import time

        found = Folder(changed)
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                rel = prefix + name
                try:
                    if rel in self.stamps or (name[-3:].lower() == ".md" and self._welcome(rel, entry)):
                        found.files.append(rel)
                    elif name[0] != "." and entry.is_dir(follow_symlinks=False) and name != "node_modules":
                        found.folders.append((entry.path, rel + "/"))
                except OSError:
                    continue
        # a clock of two seconds (FAT) may hide a second change: such a listing serves once
        if time.time_ns() - changed < CLOCK_NS:
            found.mtime_ns = -1
        return found

    def _welcome(self, rel: str, entry: os.DirEntry[str]) -> bool:
        """Whether a file not seen before may be a memory: no dot file, no conflict copy, no link out of the vault."""
        from vaultcore import walk

        if entry.name.startswith(".") or rel == f"{self.start}/{REVIEW}" or "\\" in entry.name:
            return False
        if walk.is_conflict(entry.name):
            self.problems[rel] = f"{rel} is a sync tool's conflict copy and is not served: merge or delete it"
            return False
        if entry.is_symlink() and walk.contained(self.root, rel) is None:
            return False
        return entry.is_file()
