"""Binding a name to a repository: the only code that writes `.om/projects.json`."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from vaultcore.identity import Caller
    from vaultcore.projects import Projects
    from vaultcore.repository import Place

    Answer = TypeVar("Answer")

_MOST = 100  # folders, remotes and root commits kept per name
_RIVALS = 20


def bind(vault_root: str, caller: Caller) -> Caller:
    """Call before the first write on a caller's behalf: its name now belongs to its repository. Returns the caller as
    it is after that: another process may have bound the name to another repository in the meantime (contested then),
    and a fork known under another name gets that one. Cheap when the folder is bound already; raises Refusal when the
    vault cannot be written."""
    from vaultcore import projects, repository

    if caller.vault or not caller.root or not caller.claimed:
        return caller
    known = projects.load(vault_root)
    place = repository.place(caller.root)
    if known.problem or place is None:
        return caller
    entry = known.entries.get(caller.claimed)
    if entry and not caller.contested and known.salt and known.hash(caller.root) in entry.paths:
        return caller
    projects.root_commits(place)  # asks git now, outside the lock

    def change(fresh: Projects) -> tuple[Projects, Caller]:
        name = caller.claimed or ""
        if name not in fresh.entries and not place.declared and caller.source not in ("flag", "env:OM_PROJECT"):
            name = fresh.by_roots(projects.root_commits(place), place.within) or name
        if fresh.fits(name, place, caller.root or ""):
            _tie(fresh, name, place, caller.root or place.root)
            names = tuple(dict.fromkeys((name, *caller.projects[1:])))
            return fresh, caller.but(project=name, claimed=name, projects=names, contested=False)
        rival = {"folder": fresh.hash(caller.root or ""), "since": _today()}
        rivals = fresh.entries[name].contested
        if len(rivals) < _RIVALS and all(known.get("folder") != rival["folder"] for known in rivals):
            rivals.append(rival)
        return fresh, caller.but(project=None, claimed=name, contested=True, projects=caller.projects[1:])

    return _update(vault_root, change)


def register(
    vault_root: str,
    path: str,
    *,
    name: str | None = None,
    same: bool = False,
    platforms: Iterable[str] = (),
    agents: Iterable[str] = (),
    dry_run: bool = False,
) -> tuple[str, str, bool]:
    """A person declares the repository at `path`: (its name, its folder, whether the file changes).

    `name`: the name it shall go by, for a sub-folder too; `same`: it is the project that its name belongs to already.
    Raises VaultError when `path` says nothing, or when its name belongs to another repository and neither is given.
    """
    from vaultcore import identity, projects, repository
    from vaultcore.errors import VaultError

    place = repository.place(path)
    if place is None or not os.path.isdir(path):
        what = "says nothing about a project" if os.path.isdir(path) else "is not a folder"
        raise VaultError(f"{path} {what}: give the folder of a repository")
    wanted = identity.canonical(name)
    if name is not None and (wanted is None or not name.isprintable() or "/" in name or "\\" in name):
        near = f" (`--as {wanted!r}`, say)" if wanted and wanted.strip(". ") == wanted else ""
        raise VaultError(f"{name!r} cannot be a project's name: use letters, digits, spaces, dots or dashes{near}")
    folder = place.start if wanted and place.start in place.chain else place.root
    caller = identity.resolve(vault_root, None, [identity.Claim("flag", folder)])
    if caller.vault:
        raise VaultError(
            f"{path} lies in the vault itself, where its own hooks and notes serve: register another folder"
        )
    known = projects.load(vault_root)
    if known.problem:
        raise VaultError(known.problem)
    mine = wanted or caller.claimed or ""
    asked = {"platforms": _clean(platforms), "agents": _clean(agents)}

    def change(fresh: Projects) -> tuple[Projects, bool]:
        if not fresh.fits(mine, place, folder) and not (same and not fresh.entries[mine].broken):
            raise VaultError(_taken(mine, folder, bool(wanted)))
        before = encode(fresh)
        _tie(fresh, mine, place, folder)
        entry = fresh.entries[mine]
        for key, values in asked.items():
            setattr(entry, key, list(dict.fromkeys((*getattr(entry, key), *values))))
        return fresh, encode(fresh) != before

    if dry_run:
        return mine, folder, change(_editable(known))[1]
    return mine, folder, _update(vault_root, change)


def unregister(vault_root: str, name: str, agents: Iterable[str]) -> None:
    """Forget that `agents` are registered for `name`. The binding stays: memories still belong to the name."""
    from vaultcore import projects

    gone = set(agents)
    entry = projects.load(vault_root).entries.get(name)
    if entry is None or not gone.intersection(entry.agents):
        return

    def change(fresh: Projects) -> tuple[Projects, None]:
        if name in fresh.entries:
            fresh.entries[name].agents = [agent for agent in fresh.entries[name].agents if agent not in gone]
        return fresh, None

    _update(vault_root, change)


def encode(known: Projects) -> bytes:
    """The file's bytes: names sorted, one value a line, so that git merges it."""
    entries = {name: known.entries[name].to_json() for name in sorted(known.entries)}
    text = json.dumps({"version": 1, "salt": known.salt, "projects": entries}, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _tie(known: Projects, name: str, place: Place, folder: str) -> None:
    """Add everything that recognises `folder` to `name`, and let no other name claim that folder."""
    from vaultcore import projects, repository

    hashed = known.hash(folder)
    for entry in known.entries.values():
        entry.contested = [rival for rival in entry.contested if rival.get("folder") != hashed]
    moved: list[str] = []
    for other, entry in known.entries.items():
        if other != name and hashed in entry.paths:
            entry.paths.remove(hashed)
            if not entry.paths:  # the agents registered there go with the folder
                moved, entry.agents = [*moved, *entry.agents], []
    entry = known.entries.get(name) or projects.Entry({})
    _add(entry.agents, moved)
    if not entry.bound:
        entry.since = entry.since or _today()
        top = place.root[: len(place.root) - len(place.within)].rstrip("/\\") if place.within else place.root
        inner = os.path.relpath(folder, top).replace(os.sep, "/")
        entry.within = "" if inner == "." or not place.git else inner
    _add(entry.paths, [hashed])
    _add(entry.roots, projects.root_commits(place))
    _add(entry.remotes, filter(None, [repository.remote(place.git)]))
    known.entries[name] = entry


def _update(vault_root: str, change: Callable[[Projects], tuple[Projects, Answer]]) -> Answer:
    from vaultcore import projects, write
    from vaultcore.errors import VaultError

    with write.Lock(vault_root, "projects"):
        fresh = _editable(projects.load(vault_root))
        if fresh.problem:
            raise VaultError(fresh.problem)
        changed, answer = change(fresh)
        data = encode(changed)
        if fresh.data is None:
            write.create(vault_root, projects.FILE, data)
        elif data != fresh.data:
            write.replace(vault_root, projects.FILE, data, write.revision(fresh.data))
    return answer


def _editable(known: Projects) -> Projects:
    """A copy to change; the loaded one is shared."""
    from vaultcore import projects

    fresh = projects.parse(known.root, known.data) if known.data is not None else projects.Projects(known.root)
    if not fresh.salt and not fresh.problem:
        fresh.salt = os.urandom(16).hex()
    return fresh


def _add(values: list[str], new: Iterable[str]) -> None:
    values += [value for value in new if value not in values][: max(0, _MOST - len(values))]


def _clean(values: Iterable[str]) -> list[str]:
    from vaultcore.identity import canonical

    return [proper for value in values if (proper := canonical(value))]


def _taken(name: str, folder: str, wanted: bool) -> str:
    if wanted:
        return (
            f"{name} is another repository's name already: choose another --as, or add --same if they are one project"
        )
    return (
        f"{folder} goes by {name}, which is the name of another repository: run `om register {folder} --as NEWNAME` "
        "if it is another project, or `--same` if it is the same one"
    )


def _today() -> str:
    import time

    return time.strftime("%Y-%m-%d")
