"""Which files a vault holds, remembered per folder: a folder whose mtime stands still need not be listed again.

Two files in the session state: `census.json` (folders: mtime, number of notes, names where they are few) and `names`
(one line per file, `folded name<TAB>path`), which answers "is there a file of this name?" by one search in a string.
"""

from __future__ import annotations

import os

from vaultcore.session import state
from vaultcore.session.plain import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

VERSION = 2
FEW = 60  # notes of a folder whose names are kept
HEAD = 8_192  # bytes of a note in which its aliases are looked for
HEADS = 1_000  # notes whose aliases a hook itself looks up
AT_ONCE = 3_000  # entries that a hook itself lists before it leaves the rest to the worker


class Folder:
    __slots__ = ("files", "folders", "mtime_ns", "notes")

    def __init__(self, mtime_ns: int) -> None:
        self.mtime_ns = mtime_ns
        self.notes = 0
        self.files: list[str] = []  # every name, or only those of the notes, and only if few, when read back
        self.folders: list[str] = []


class Census:
    """Folders by path ("" is the root). `complete` is False while folders are left unlisted."""

    __slots__ = ("as_of", "complete", "folders")

    def __init__(self) -> None:
        self.as_of = 0.0
        self.complete = True
        self.folders: dict[str, Folder] = {}

    def total(self) -> int:
        return sum(folder.notes for folder in self.folders.values())


def take(root: str, limit: int = 0) -> Census:
    """List the whole vault, or as much of it as `limit` entries (0: all of it)."""
    import time

    census = Census()
    census.as_of = time.time()
    left = _walk(root, "", census, limit or 1 << 60)
    census.complete = left > 0
    return census


def save(root: str, census: Census) -> None:
    """Remember a full census for the hooks to come."""
    from vaultcore.links import file_key

    lines = []
    folders: dict[str, Any] = {}
    for rel, folder in sorted(census.folders.items()):
        base = rel + "/" if rel else ""
        lines += [f"{file_key(name)}\t{base}{name}" for name in folder.files if "\n" not in name and "\t" not in name]
        notes = [name for name in folder.files if _is_note(name)]
        folders[rel] = [folder.mtime_ns, folder.notes, sorted(notes) if len(notes) <= FEW else []]
    state.write_text(root, "names", "\n" + "\n".join(lines) + "\n")
    paths = (line.partition("\t")[2] for line in lines)
    state.write_text(root, "aliases", aliases(root, (path for path in paths if _is_note(path))))
    state.write(root, "census.json", {"version": VERSION, "as_of": census.as_of, "folders": folders})


def load(root: str) -> Census | None:
    """The remembered census as it was, or None."""
    data = state.read(root, "census.json")
    if not isinstance(data, dict) or data.get("version") != VERSION:
        return None
    census = Census()
    try:
        census.as_of = float(data["as_of"])
        for rel, (mtime_ns, notes, names) in data["folders"].items():
            folder = census.folders[rel] = Folder(mtime_ns)
            folder.notes, folder.files = notes, names
    except (KeyError, TypeError, ValueError):
        return None
    return census


def current(root: str) -> Census:
    """The census as of now: what is remembered, with every folder listed again that has changed since."""
    known = load(root)
    if known is None:
        return take(root, AT_ONCE)
    left = AT_ONCE
    for rel in changed(root, known):
        gone = known.folders.pop(rel, None)
        if os.path.isdir(_path(root, rel)) and not _linked(root, rel):
            if gone is not None and gone.notes > left:
                known.folders[rel] = gone  # too many to list here: its count is as of the last census
                known.complete = False
                continue
            left = _walk(root, rel, known, left)
            if left <= 0:
                known.complete = False
                break
    return known


def changed(root: str, census: Census, since_ns: int = 0) -> list[str]:
    """Folders that are gone or whose mtime differs (with `since_ns`: is later than that)."""
    found = []
    for rel, folder in census.folders.items():
        try:
            mtime_ns = os.stat(_path(root, rel)).st_mtime_ns
        except OSError:
            found.append(rel)
            continue
        if mtime_ns > since_ns if since_ns else mtime_ns != folder.mtime_ns:
            found.append(rel)
    return found


def _walk(root: str, start: str, census: Census, left: int) -> int:
    """List `start` and all new folders below it into `census`; what is left of the allowance."""
    todo = [start]
    while todo and left > 0:
        rel = todo.pop()
        try:
            folder = Folder(os.stat(_path(root, rel)).st_mtime_ns)
            with os.scandir(_path(root, rel)) as listing:
                for entry in listing:
                    name = entry.name
                    if name[0] == "." or name == "node_modules":
                        continue
                    left -= 1
                    if entry.is_dir(follow_symlinks=False):
                        folder.folders.append(name)
                    elif not (entry.is_symlink() and entry.is_dir()):
                        folder.files.append(name)
                        folder.notes += _is_note(name)
        except OSError:
            continue  # unreadable, or gone since its parent was listed
        census.folders[rel] = folder
        below = [f"{rel}/{name}" if rel else name for name in folder.folders]
        todo += [inner for inner in below if inner not in census.folders]
    return left if not todo else 0


def _path(root: str, rel: str) -> str:
    return os.path.join(root, rel) if rel else root


def _linked(root: str, rel: str) -> bool:
    return bool(rel) and os.path.islink(os.path.join(root, rel))


def _is_note(name: str) -> bool:
    return name[-3:].lower() == ".md"


class Names:
    """Answers by folded name, as the resolver asks: from the remembered names, then from folders changed since."""

    __slots__ = ("_aliases", "_newer", "_text", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        self._aliases: str | None = None
        self._newer: dict[str, list[str]] | None = None
        self._text = _read(root, "names")

    def named(self, key: str) -> list[str]:
        """Every file there is whose folded name is `key`; files newer than the names only after `look_again`."""
        found = [rel for rel in self._remembered(key) if os.path.lexists(os.path.join(self.root, rel))]
        if self._newer is None and not self._text:
            self.look_again()
        return found + [rel for rel in (self._newer or {}).get(key, []) if rel not in found]

    def look_again(self) -> bool:
        """List what has changed since the names were written; False if that had been done before."""
        if self._newer is not None:
            return False
        from vaultcore.links import file_key

        self._newer = {}
        known = load(self.root) if self._text else None
        before = dict(known.folders) if known else {}
        fresh = known or take(self.root)
        for rel in changed(self.root, fresh) if known else ():
            fresh.folders.pop(rel, None)
            _walk(self.root, rel, fresh, 1 << 60)
        for rel, folder in fresh.folders.items():
            if folder is not before.get(rel):
                for name in folder.files:
                    self._newer.setdefault(file_key(name), []).append(f"{rel}/{name}" if rel else name)
        return True

    def like(self, key: str, most: int = 400) -> list[tuple[str, str]]:
        """(folded name, path) of files that share letters with `key`: candidates for "did you mean"."""
        stem = key[:-3] if key.endswith(".md") else key
        pieces = [word for word in stem.replace("-", " ").split() if len(word) > 2] or [stem]
        pieces += [stem[:4], stem[-4:]]
        found: dict[str, str] = {}
        for piece in pieces:
            at = self._text.find(piece) if piece else -1
            while at >= 0 and len(found) < most:
                start = self._text.rfind("\n", 0, at) + 1
                end = self._text.find("\n", at)
                name, tab, rel = self._text[start:end].partition("\t")
                if tab and name.endswith(".md"):
                    found[rel] = name[:-3]
                at = self._text.find(piece, end)
        for name, rels in (self._newer or {}).items():
            found.update(dict.fromkeys(rels, name[:-3] if name.endswith(".md") else name))
        return [(name, rel) for rel, name in found.items()]

    def _remembered(self, key: str) -> Iterable[str]:
        mark = f"\n{key}\t"
        at = self._text.find(mark)
        while at >= 0:
            end = self._text.find("\n", at + len(mark))
            yield self._text[at + len(mark) : end]
            at = self._text.find(mark, end)

    def called(self, key: str) -> list[str]:
        """Every note that has the folded `key` among its aliases."""
        if self._aliases is None:
            self._aliases = _read(self.root, "aliases") or self._gather()
        mark = f"\n{key}\t"
        at = self._aliases.find(mark)
        found = []
        while at >= 0:
            end = self._aliases.find("\n", at + len(mark))
            found.append(self._aliases[at + len(mark) : end])
            at = self._aliases.find(mark, end)
        return [rel for rel in found if os.path.lexists(os.path.join(self.root, rel))]

    def _gather(self) -> str:
        """No worker has been here yet: look at a few notes, rather than call an alias a broken link."""
        self.look_again()
        files = [rel for rels in (self._newer or {}).values() for rel in rels] if not self._text else []
        files += [line.partition("\t")[2] for line in self._text.split("\n")] if self._text else []
        return aliases(self.root, [rel for rel in files if _is_note(rel)][:HEADS])


def aliases(root: str, notes: Iterable[str]) -> str:
    """Lines `folded alias<TAB>path` for these notes, as `Names.called` reads them."""
    from vaultcore import properties
    from vaultcore.regular import opener
    from vaultcore.text import fold

    lines = []
    for rel in notes:
        try:
            with open(os.path.join(root, rel), "rb", opener=opener) as file:
                head = whole(file.read(HEAD), HEAD)
        except OSError:
            continue
        if b"alias" not in head.lower():
            continue
        given = properties.read(properties.decode(head)[0])
        for name in ("aliases", "alias"):
            lines += [f"{fold(each)}\t{rel}" for each in properties.as_list(given.get(name)) if "\t" not in each]
    return "\n" + "\n".join(lines) + "\n"


def _read(root: str, name: str) -> str:
    try:
        with open(os.path.join(state.folder(root), name), encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""
