"""Which names belong to which repositories: `.om/projects.json` in the vault.

The file is committed with the vault, so it holds as little as recognising a repository needs: root commits, remotes
without credentials, and folders only as salted hashes (relative to the home folder, so that the same layout on another
machine is the same folder). A name is bound at its first write or registration; from then on another repository that
goes by the same name is contested until a person says otherwise.
"""

from __future__ import annotations

import json
import os

from vaultcore.binding import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from vaultcore.repository import Place

__all__ = ["FILE", "Entry", "Projects", "bind", "load", "parse", "root_commits"]
FILE = ".om/projects.json"
_LIMIT = 4_000_000
_cache: dict[str, tuple[tuple[int, int, int], Projects]] = {}
_commits: dict[tuple[str, str], tuple[str, ...]] = {}


class Entry:
    """What a name is bound to: remotes ("host/path"), roots (root commits), paths (hashes), within (sub-folder of the
    repository, "" for all of it); platforms; agents (registered with); since (date); contested (who else used it)."""

    __slots__ = ("remotes", "roots", "paths", "within", "platforms", "agents", "since", "contested", "broken", "kept")

    def __init__(self, raw: Any = None) -> None:
        given: dict[str, Any] = raw if isinstance(raw, dict) else {}
        self.kept = raw  # what a newer version wrote here, and what is broken, is kept as it is
        lists = {key: given.get(key, []) for key in ("remotes", "roots", "paths", "platforms", "agents")}
        self.broken = raw is not None and not (
            isinstance(raw, dict)
            and all(isinstance(v, list) and all(isinstance(x, str) for x in v) for v in lists.values())
        )
        if self.broken:
            lists = dict.fromkeys(lists, [])
        self.remotes: list[str] = list(lists["remotes"])
        self.roots: list[str] = list(lists["roots"])
        self.paths: list[str] = list(lists["paths"])
        self.platforms: list[str] = list(lists["platforms"])
        self.agents: list[str] = list(lists["agents"])
        self.within = str(given.get("within") or "")
        self.since = str(given.get("since") or "")
        rivals = given.get("contested")
        rivals = rivals if isinstance(rivals, list) else []
        self.contested: list[dict[str, str]] = [rival for rival in rivals if isinstance(rival, dict)]

    @property
    def bound(self) -> bool:
        return bool(self.remotes or self.roots or self.paths)

    def to_json(self) -> Any:
        if self.broken:
            return self.kept
        names = ("since", "within", "roots", "remotes", "paths", "platforms", "agents", "contested")
        foreign = {key: value for key, value in dict(self.kept or {}).items() if key not in names}
        return {**{name: value for name in names if (value := getattr(self, name))}, **foreign}


class Projects:
    """The file as read. `problem` is a sentence when it could not be: then every name counts as contested, because a
    name that cannot be checked must not open anything."""

    __slots__ = ("root", "salt", "entries", "problem", "data")

    def __init__(self, root: str, data: bytes | None = None, problem: str = "") -> None:
        self.root, self.data, self.problem = root, data, problem
        self.salt = ""
        self.entries: dict[str, Entry] = {}

    def by_path(self, chain: Iterable[str]) -> tuple[str, str] | None:
        """(name, folder) of the first folder in `chain` that a name is bound to."""
        if not self.salt or not self.entries:
            return None
        hashes = {hashed: name for name, entry in self.entries.items() for hashed in entry.paths}
        for folder in chain:
            name = hashes.get(self.hash(folder))
            if name:
                return name, folder
        return None

    def by_remote(self, remote: str | None, within: str = "") -> str | None:
        """The name bound to a remote, unless several are."""
        names = [n for n, e in self.entries.items() if remote and remote in e.remotes and e.within == within]
        return names[0] if len(names) == 1 else None

    def by_roots(self, roots: Iterable[str], within: str = "") -> str | None:
        """The name bound to a root commit, unless several are."""
        mine = set(roots)
        names = [n for n, e in self.entries.items() if mine.intersection(e.roots) and e.within == within]
        return names[0] if len(names) == 1 else None

    def platforms(self, name: str) -> list[str]:
        entry = self.entries.get(name)
        return list(entry.platforms) if entry else []

    def fits(self, name: str, place: Place, folder: str = "") -> bool:
        """Whether the repository at `place` may go by `name`: nobody's yet, or bound to this very repository. Asks git
        only when neither folder nor remote settle it."""
        from vaultcore import repository

        if self.problem:
            return False
        entry = self.entries.get(name)
        if entry is None or not (entry.bound or entry.broken):
            return True
        if entry.broken:
            return False
        here = bool(self.salt) and self.hash(folder or place.root) in entry.paths
        remote = repository.remote(place.git)
        if remote and remote in entry.remotes and (here or place.within == entry.within):
            return True
        if here and not (remote and entry.remotes):
            return True
        roots = root_commits(place)
        if roots and entry.roots:
            return bool(set(roots).intersection(entry.roots)) and (here or place.within == entry.within)
        return here and not entry.roots

    def hash(self, path: str) -> str:
        """A folder as it is kept: salted, and relative to the home folder where it lies in it."""
        from hashlib import sha256

        home = os.path.realpath(os.path.expanduser("~"))
        path = os.path.normcase(os.path.realpath(path))
        start = os.path.normcase(home).rstrip(os.sep) + os.sep
        if path.startswith(start):
            path = "~/" + path[len(start) :].replace(os.sep, "/")
        return sha256(f"{self.salt}\0{path}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def root_commits(place: Place) -> tuple[str, ...]:
    """Root commits of the repository at `place`; empty without git, without commits, or with cut-off history."""
    from vaultcore import repository

    if not place.git or repository.shallow(place.git):
        return ()
    try:
        stamp = str(os.stat(os.path.join(place.git, "HEAD")).st_mtime_ns)
    except OSError:
        return ()
    key = (place.git, stamp)
    if key not in _commits:
        from vaultcore import git

        found: Any = git.root_commit(place.start)
        _commits[key] = tuple(found.split()) if isinstance(found, str) else tuple(found or ())
    return _commits[key]


def load(vault_root: str) -> Projects:
    """The bindings of a vault, re-read when the file changed. Never raises: `problem` says what is wrong."""
    path = os.path.join(vault_root, *FILE.split("/"))
    try:
        stat = os.stat(path)
        stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except FileNotFoundError:
        return Projects(vault_root)
    except OSError as error:
        return Projects(vault_root, problem=_unreadable(path, error.strerror or str(error)))
    kept = _cache.get(path)
    if kept and kept[0] == stamp:
        return kept[1]
    try:
        with open(path, "rb") as handle:
            known = parse(vault_root, handle.read(_LIMIT + 1))
    except OSError as error:
        return Projects(vault_root, problem=_unreadable(path, error.strerror or str(error)))
    _cache[path] = (stamp, known)
    return known


def parse(vault_root: str, data: bytes) -> Projects:
    """The bindings in `data`, the bytes of a projects.json."""
    path = os.path.join(vault_root, *FILE.split("/"))
    try:
        if len(data) > _LIMIT:
            raise ValueError(f"larger than {_LIMIT} bytes")
        raw = json.loads(data.decode("utf-8-sig"))
        salt, entries = raw["salt"], raw["projects"]
        if not isinstance(salt, str) or not salt or not isinstance(entries, dict):
            raise ValueError("no salt or no projects in it")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"no {error} in it" if isinstance(error, KeyError) else str(error)
        return Projects(vault_root, data, _unreadable(path, what))
    known = Projects(vault_root, data)
    known.salt = salt
    from vaultcore.identity import canonical

    for name, entry in entries.items():
        proper = canonical(name)
        if proper:
            known.entries[proper] = Entry(entry)
    return known


def _unreadable(path: str, why: str) -> str:
    return (
        f"{path} cannot be read ({why[:200]}), so no project's name can be checked and callers get general reach only: "
        "repair it or restore it with git"
    )
