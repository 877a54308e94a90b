"""What registrations wrote, kept so that it can be taken back byte for byte.

One file per vault in the user's state folder (XDG_STATE_HOME, Library/Application Support, LOCALAPPDATA): it names this
machine's paths, so it is neither committed with the vault nor synced with it; and it is no cache, which may be deleted.
"""

from __future__ import annotations

import json
import os
import sys

from vaultbridge.registration import files
from vaultcore.errors import VaultError

Entry = dict[str, object]


def path(root: str) -> str:
    """Where the record of the vault at `root` lies."""
    import hashlib

    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    elif os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        given = os.environ.get("XDG_STATE_HOME", "")
        base = given if os.path.isabs(given) else os.path.join(home, ".local", "state")
    name = hashlib.sha256(os.fsencode(os.path.normcase(os.path.realpath(root)))).hexdigest()[:16]
    return os.path.join(base, "om-vault", name, "registrations.json")


def load(root: str) -> dict[str, Entry]:
    """File path -> {"scope", "created", "folders", "before", "after", "patch", "agents"}; empty when there is none."""
    data = files.read(path(root))
    if data is None:
        return {}
    try:
        entries = json.loads(data)["files"]
        return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        why = f"{path(root)} is damaged: move it away, then `om unregister` removes just its own entries"
        raise VaultError(why) from None


def save(root: str, entries: dict[str, Entry]) -> None:
    place = path(root)
    os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
    before = files.read(place)
    data = json.dumps({"version": 1, "files": entries}, indent=1, sort_keys=True).encode() + b"\n"
    if not entries:
        if before is not None:
            files.install(place, before, None)
    elif data != before:
        files.install(place, before, data)
        os.chmod(place, 0o600)


def note(entries: dict[str, Entry], scope: str, change: files.Change, folders: list[str]) -> None:
    """Record `change` for `scope` (the registered folder, or "user"): from what it replaced before any of ours."""
    assert change.after is not None
    old = entries.get(change.path, {})
    before, created = change.before, change.before is None
    known = True
    if old and before is not None:
        created = bool(old.get("created"))
        first = original(old, before)
        known = first is not None
        before = first if known else before  # unknown: it was edited where we wrote, only our entries can be taken out
    shared = {"lines": old["lines"]} if "lines" in old else {}
    entries[change.path] = {
        **shared,
        "scope": scope,
        "created": created,
        "folders": [*words(old, "folders"), *folders],
        "agents": sorted({*words(old, "agents"), *change.agents}),
        "before": files.digest(before) if known else "unknown",
        "after": files.digest(change.after),
        "patch": files.Patch.between(before or b"", change.after).to_json(),
    }


def lines(entry: Entry) -> dict[str, list[str]]:
    """Of a file that several folders share: which of our lines each of them needs. Empty for every other file."""
    value = entry.get("lines")
    shared = value if isinstance(value, dict) else {}
    return {str(scope): [str(line) for line in needed] for scope, needed in shared.items() if isinstance(needed, list)}


def share(entries: dict[str, Entry], scope: str, path: str, needed: list[str], change: files.Change | None) -> None:
    """Record which lines of `path` the folder `scope` needs; with none, it needs the file no longer, and `change` (if
    there was one) took out what nobody else needs. Lines that somebody else wrote are not ours to record."""
    entry = entries.get(path)
    patch = entry.get("patch") if entry else None
    if entry is None or not isinstance(patch, dict):
        return
    ours = files.Patch.from_json(patch).inserted.decode("utf-8", "replace").splitlines()
    held = lines(entry) or {str(entry.get("scope")): [line for line in ours if line.startswith("/")]}
    if needed:
        held[scope] = [line for line in ours if line in needed or line in held.get(scope, ())]
    else:
        held.pop(scope, None)
        if change is not None and held:
            note(entries, next(iter(held)), change, [])
    entries[path] = {**entries[path], "scope": next(iter(held), scope), "lines": held}


def words(entry: Entry, key: str) -> list[str]:
    """A list of strings in an entry."""
    value = entry.get(key)
    return [str(word) for word in value] if isinstance(value, list) else []


def original(entry: Entry, current: bytes) -> bytes | None:
    """The bytes that `current` would be without us; exactly the first ones when nobody edited the file since."""
    patch = entry.get("patch")
    return files.Patch.from_json(patch).back(current) if isinstance(patch, dict) else None
