"""The last welcome of a repository, kept as long as nothing that it was made of has changed: a file in the session
state, derived and forgettable. Whatever is in doubt is worked out anew.
"""

from __future__ import annotations

import os

from vaultcore.session import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .guest import Guest

FILES = ("vault-manifest.json", "vault-manifest.local.json")
RULINGS = ".om/tombstones"
CODE = ("welcome.py", "served.py", "kept.py")


def mark(guest: Guest) -> list[Any]:
    """What a welcome depends on besides the notes it names: who asks, the index, the manifest, the rulings, our code.
    [] without an index. The memories' files must have been held against the index before (Shelf.freshen)."""
    found = guest.shelf.ask("select value from meta where key='generation'")
    if not found or not guest.shelf.there:
        return []
    caller = guest.caller
    who = [caller.project, list(caller.projects), list(caller.platforms), caller.contested, caller.name]
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [os.path.join(guest.root, *name.split("/")) for name in FILES] + [os.path.join(here, name) for name in CODE]
    return [who, found[0][0], [stamp(path) for path in paths], _rulings(guest.root)]


def stamp(path: str) -> list[int]:
    """What changes when the file, or the listing of the folder, does; [] when it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _rulings(root: str) -> list[list[object]]:
    try:
        with os.scandir(os.path.join(root, *RULINGS.split("/"))) as entries:
            return sorted([entry.name, entry.stat().st_size, entry.stat().st_mtime_ns] for entry in entries)
    except OSError:
        return []


def load(guest: Guest, mark: list[Any], now: float) -> dict[str, Any] | None:
    """The welcome that was kept under this very mark, None when there is none or one of its notes has changed."""
    found = state.read(guest.root, _name(guest)) if mark else None
    if not isinstance(found, dict) or found.get("mark") != mark:
        return None
    until, notes = found.get("until"), found.get("notes")
    if not isinstance(until, (int, float)) or not found.get("at", now) <= now < until or not isinstance(notes, list):
        return None
    for rel, seen in notes:
        if stamp(os.path.join(guest.root, *rel.split("/"))) != seen:
            return None
    return found


def save(
    guest: Guest, mark: list[Any], now: float, until: float, rels: list[str], body: str, facts: dict[str, Any]
) -> None:
    """Keep a welcome made of the notes `rels`, good until `until` (seconds) at most a day."""
    if not mark:
        return
    notes = [[rel, stamp(os.path.join(guest.root, *rel.split("/")))] for rel in rels]
    until = min(until, now + 86_400)
    kept = {"mark": mark, "at": now, "until": until, "notes": notes, "body": body, "facts": facts}
    state.write(guest.root, _name(guest), kept)


def _name(guest: Guest) -> str:
    from vaultcore import places

    return f"welcome-{places.identity(guest.caller.root or guest.cwd or guest.caller.name)}.json"
