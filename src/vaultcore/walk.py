"""Which notes a vault holds: every Markdown file once, links contained, loops harmless."""

from __future__ import annotations

import os
import re

from vaultcore.errors import Problem, VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Dropbox (in several languages), Nextcloud, ownCloud, Obsidian Sync, Syncthing, Seafile, Resilio.
_CONFLICT = (  # compiled at first use
    r"(?i)\([^()]*(?:conflicted copy|case conflict|sfconflict|konflikt|copie en conflit|copia in conflitto|"
    r"copia en conflicto|c[oó]pia em conflito|競合コピー|冲突副本|衝突複本|충돌)[^()]*\)"
    r"|\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?|_conflict-\d{8}-\d{6}|\.conflict(?:\.md)?$|_conflicted copy"
)
_MOST_PROBLEMS = 50


class Entry:
    """One note on disk: `rel` as spelled there, its size and mtime.

    `conflict`: a sync tool's conflict copy. `linked`: a link whose own file no walk reaches (a text file linked
    under an .md name); everything else that is linked appears once, under its real name.
    """

    __slots__ = ("conflict", "linked", "mtime_ns", "rel", "size")

    def __init__(self, rel: str, size: int, mtime_ns: int, conflict: bool = False, linked: bool = False) -> None:
        self.rel = rel
        self.size = size
        self.mtime_ns = mtime_ns
        self.conflict = conflict
        self.linked = linked

    def __repr__(self) -> str:
        return f"Entry({self.rel!r}, {self.size})"


def walk(root: str, start: str = "", *, problems: list[Problem] | None = None) -> Iterator[Entry]:
    """Yield every note below `root` (or below its folder `start`), sorted by `rel`.

    Dot entries and node_modules are skipped at any depth. A link is never walked: what it points to inside the
    vault is reached under its real name, and what lies outside is not ours. Links that lead nowhere or outside,
    unreadable folders and unusable names are added to `problems`. VaultError when the vault itself is gone.
    """
    real = os.path.realpath(root)
    if not os.path.isdir(real):
        raise VaultError(f"The vault {real} is not there: check whether it was moved, renamed or unmounted.")
    notes: list[Problem] = problems if problems is not None else []
    if start:
        folder = contained(real, start)
        if folder is None or not os.path.isdir(folder):
            return
        start = relative(real, folder) or ""
    yield from _folder(real, start + "/" if start else "", notes)


def _folder(root: str, prefix: str, problems: list[Problem]) -> Iterator[Entry]:
    # An explicit stack: a folder chain deeper than Python's recursion limit is no reason to fail.
    stack: list[list[tuple[str, os.DirEntry[str], bool]]] = [_listing(root, prefix, problems)]
    while stack:
        level = stack[-1]
        if not level:
            stack.pop()
            continue
        rel, entry, is_folder = level.pop()
        if is_folder:
            stack.append(_listing(root, rel, problems))
            continue
        try:
            if entry.is_symlink():
                found = linked(root, rel, problems)
                if found is not None:
                    yield found
                continue
            state = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # gone since the listing
        if (state.st_mode & 0o170000) == 0o100000:
            yield Entry(rel, state.st_size, state.st_mtime_ns, is_conflict(entry.name))


def _listing(root: str, prefix: str, problems: list[Problem]) -> list[tuple[str, os.DirEntry[str], bool]]:
    """List the notes and folders of one folder, last first; a folder's key ends with /, so all rels sort as text."""
    found: list[tuple[str, os.DirEntry[str], bool]] = []
    try:
        with os.scandir(os.path.join(root, prefix) if prefix else root) as listing:
            for entry in listing:
                name = entry.name
                if name[0] == "." or skipped(name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if usable(prefix, name, problems):
                        found.append((prefix + name + "/", entry, True))
                elif is_note(name):
                    if usable(prefix, name, problems):
                        found.append((prefix + name, entry, False))
                elif entry.is_symlink() and _to_folder_or_circle(entry):
                    linked(root, prefix + name, problems)
    except OSError as error:
        _report(problems, prefix.rstrip("/") or ".", f"the folder cannot be read ({error.strerror})")
    found.sort(key=_rel, reverse=True)
    return found


def _rel(item: tuple[str, os.DirEntry[str], bool]) -> str:
    return item[0]


def _to_folder_or_circle(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return True  # a link to itself: asking where it leads is an error


def linked(root: str, rel: str, problems: list[Problem]) -> Entry | None:
    """Return the entry of the link `rel` when its own file is reached by no walk; report one that leads astray."""
    target = os.path.realpath(os.path.join(root, rel))
    inside = relative(root, target)
    if inside is None:
        _report(problems, rel, "the link leads outside the vault and is not followed")
        return None
    try:
        state = os.stat(target)
    except OSError:
        _report(problems, rel, "the link leads nowhere")
        return None
    if (state.st_mode & 0o170000) != 0o100000 or not is_note(rel) or is_note(inside) or hidden(inside):
        return None
    return Entry(rel, state.st_size, state.st_mtime_ns, is_conflict(rel), linked=True)


def usable(prefix: str, name: str, problems: list[Problem]) -> bool:
    """Tell whether a name can be stored and linked everywhere; report one that cannot."""
    if "\\" in name:
        _report(problems, prefix + name, "a backslash in a name reads as a folder elsewhere; rename it")
        return False
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = (prefix + name).encode("utf-8", "backslashreplace").decode()
            _report(problems, shown, "the name is not valid UTF-8; rename it")
            return False
    return True


def _report(problems: list[Problem], path: str, message: str) -> None:
    if len(problems) < _MOST_PROBLEMS:
        problems.append(Problem(path, message))


def is_note(name: str) -> bool:
    """Tell whether a file name ends in .md, in any case."""
    return name[-3:].lower() == ".md"


def is_conflict(name: str) -> bool:
    """Tell whether a file name is one that sync tools give to the losing copy of a conflict."""
    return ("onfli" in name or "ONFLI" in name or not name.isascii()) and re.search(_CONFLICT, name) is not None


def skipped(name: str) -> bool:
    """Tell whether a folder or file of this name is machinery that no walk enters."""
    return name.startswith(".") or name.lower() == "node_modules"


def hidden(rel: str) -> bool:
    """Tell whether any part of `rel` is a dot entry or node_modules."""
    return any(skipped(part) for part in rel.split("/"))


def relative(root: str, path: str) -> str | None:
    """Return `path` (absolute, real) relative to `root` (absolute, real) with / as separator; None if outside."""
    if path == root:
        return ""
    base = root if root.endswith(os.sep) else root + os.sep
    if not path.startswith(base):
        return None
    inner = path[len(base) :]
    return inner.replace(os.sep, "/") if os.sep != "/" else inner


def contained(root: str, rel: str) -> str | None:
    """Return the absolute real path of `rel`, or None unless it stays inside `root` after resolving every link.

    Dot segments are refused, in `rel` and in what it resolves to. The file need not exist.
    """
    if not isinstance(rel, str) or not rel or "\0" in rel or rel.startswith(("/", "\\")) or os.path.isabs(rel):
        return None
    parts = rel.replace("\\", "/").split("/")
    if any(part.startswith(".") for part in parts if part != "."):
        return None
    if os.name == "nt" and ":" in rel:
        return None  # a drive, or a stream beside a file
    try:
        real = os.path.realpath(root)
        path = os.path.realpath(os.path.join(real, *parts))
    except (OSError, ValueError):
        return None
    inside = relative(real, path)
    if inside is None or any(part.startswith(".") for part in inside.split("/")):
        return None
    return path


def spelled(root: str, rel: str) -> str:
    """Return `rel` (real, existing) as its parts are spelled on disk, where the file system ignores case or form."""
    folder, parts = root, rel.split("/")
    for index, part in enumerate(parts):
        path = os.path.join(folder, part)
        if _other_spelling(folder, part, path):
            parts[index] = _listed(folder, part, path)
        folder = os.path.join(folder, parts[index])
    return "/".join(parts)


def _other_spelling(folder: str, part: str, path: str) -> bool:
    """Tell whether the file system takes another spelling of the name for the same file."""
    others = {part.swapcase()}
    if not part.isascii():
        import unicodedata

        others |= {unicodedata.normalize("NFC", part), unicodedata.normalize("NFD", part)}
    others.discard(part)
    for other in others:
        try:
            if os.path.samestat(os.lstat(os.path.join(folder, other)), os.lstat(path)):
                return True
        except (OSError, ValueError):
            continue
    return False


def _listed(folder: str, part: str, path: str) -> str:
    try:
        names = os.listdir(folder)
        if part in names:
            return part
        mine = os.lstat(path)
        for name in names:
            if os.path.samestat(os.lstat(os.path.join(folder, name)), mine):
                return name
    except OSError:
        pass
    return part
