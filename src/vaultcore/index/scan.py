"""Looking at the vault's folders: all of them with the state of every file, or only those whose own time stamp
moved.
"""

from __future__ import annotations

import os

from vaultcore import walk
from vaultcore.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .states import States

    # size, mtime_ns, inode
    State = tuple[int, int, int]

RACY = 2_000_000_000  # a time stamp younger than this when it was read may not move with the next change
ROOT = ""


class Folder:
    """One folder as last seen: its time stamp, when that was, its notes (name -> inode) and its sub-folders."""

    __slots__ = ("mtime_ns", "seen_ns", "notes", "folders", "others")

    def __init__(self, mtime_ns: int, seen_ns: int) -> None:
        self.mtime_ns, self.seen_ns = mtime_ns, seen_ns
        self.notes: dict[str, int] = {}
        self.folders: list[str] = []
        self.others: list[str] = []

    @property
    def racy(self) -> bool:
        return self.mtime_ns > self.seen_ns - RACY


class Scan:
    """What one look found. `files`: rel -> State of every note looked at that is not `known` to be in that state;
    `gone`: folders that are no more; `blind`: folders that could not be read, so that nothing may be concluded about
    what is in them."""

    __slots__ = ("files", "folders", "gone", "blind", "problems", "known")

    def __init__(self, known: States | None = None) -> None:
        self.known = known
        self.files: dict[str, State] = {}
        self.folders: dict[str, Folder] = {}
        self.gone: list[str] = []
        self.blind: list[str] = []
        self.problems: list[Problem] = []

    def holds(self, rel: str) -> bool:
        """Whether the note is in one of the folders looked at."""
        above, slash, name = rel.rpartition("/")
        folder = self.folders.get(above + slash)
        return folder is not None and name in folder.notes


def sweep(root: str, known: States | None = None) -> Scan:
    """Look at everything. Notes that `known` (rel -> number, state, when it was read) proves to be unchanged are left
    out of `files`. Raises OSError when the root itself can't be read."""
    scan = Scan(known)
    waiting = [ROOT]
    while waiting:
        prefix = waiting.pop()
        folder = _look(root, prefix, scan, None)
        if folder is not None:
            waiting.extend(f"{prefix}{name}/" for name in folder.folders)
    return scan


def changes(root: str, known: dict[str, Folder]) -> Scan:
    """Look at those folders whose time stamp moved since `known`, and at folders new in them; files of unmoved folders
    are not looked at. Raises OSError when the root itself can't be read."""
    scan = Scan()
    waiting: list[str] = []
    base = root + os.sep
    stat = os.stat
    for prefix, folder in known.items():
        try:
            moved = stat(base + prefix).st_mtime_ns != folder.mtime_ns
        except OSError as error:
            if prefix == ROOT:
                raise
            if isinstance(error, (FileNotFoundError, NotADirectoryError)):
                scan.gone.append(prefix)
            else:
                scan.blind.append(prefix)
            continue
        if moved or folder.racy:
            waiting.append(prefix)
    while waiting:
        prefix = waiting.pop()
        if prefix in scan.folders:
            continue
        before = known.get(prefix)
        found = _look(root, prefix, scan, before)
        if found is not None:
            waiting.extend(
                inner
                for name in found.folders
                if (inner := f"{prefix}{name}/") not in known and inner not in scan.folders
            )
    return scan


def _look(root: str, prefix: str, scan: Scan, before: Folder | None) -> Folder | None:
    """List one folder into `scan`. With `before`, only files whose inode is new are asked for their state."""
    import time

    path = os.path.join(root, prefix) if prefix else root
    try:
        # Taken before the listing: what changes during it shows as a newer time stamp next time.
        state = os.stat(path)
        folder = Folder(state.st_mtime_ns, time.time_ns())
        with os.scandir(path) as listing:
            for entry in listing:
                name = entry.name
                if name[0] == "." or (name[0] in "nN" and walk.skipped(name)):
                    continue
                if name[-3:].lower() == ".md":
                    _note(root, prefix, entry, folder, scan, before)
                elif entry.is_symlink():
                    continue
                elif entry.is_dir(follow_symlinks=False):
                    if walk.usable(prefix, name, scan.problems):
                        folder.folders.append(name)
                elif name.isascii() or _encodable(name):
                    folder.others.append(name)
    except OSError as error:
        if prefix == ROOT:
            raise
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            scan.gone.append(prefix)
        else:
            scan.blind.append(prefix)
            scan.problems.append(Problem(prefix.rstrip("/"), f"the folder cannot be read ({error.strerror})"))
        return None
    scan.folders[prefix] = folder
    return folder


def _note(root: str, prefix: str, entry: os.DirEntry[str], folder: Folder, scan: Scan, before: Folder | None) -> None:
    name = entry.name
    if not name.isascii() or "\\" in name:
        if not walk.usable(prefix, name, scan.problems):
            return
    rel = prefix + name
    if entry.is_symlink():
        walk.linked(root, rel, scan.problems)  # followed by nobody, but one that leads out is worth a word
        return
    if entry.is_dir(follow_symlinks=False):
        folder.folders.append(name)
        return
    inode = entry.inode() & 0x7FFFFFFFFFFFFFFF
    if before is not None and before.notes.get(name) == inode:
        folder.notes[name] = inode
        return
    try:
        state = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if (state.st_mode & 0o170000) == 0o100000:
        now = (state.st_size, state.st_mtime_ns, inode)
        held = None if scan.known is None else scan.known.get(rel)
        if held is not None and held[1] == now and now[1] <= held[2] - RACY:
            folder.notes[name] = inode
            return
        folder.notes[name] = inode
        scan.files[rel] = now


def look(root: str, rel: str) -> State | None:
    """The state of one note on disk; None when no walk would show it: gone, hidden, a link, a folder."""
    if walk.hidden(rel) or not walk.is_note(rel):
        return None
    try:
        state = os.lstat(os.path.join(root, rel))
    except (OSError, ValueError):
        return None
    if (state.st_mode & 0o170000) != 0o100000:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ino & 0x7FFFFFFFFFFFFFFF


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
