"""What a briefing shows of a note (description, status, open tasks), read again only when the note has changed."""

from __future__ import annotations

import os

from vaultcore.session import state
from vaultcore.session.plain import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "digest.json"
VERSION = 2
TASKS = 6  # open tasks of one note that are shown
MOST = 300  # notes of one folder that are looked at


class Digest:
    """Facts by path. `save` keeps those that were asked for."""

    __slots__ = ("_changed", "_known", "_used", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        data = state.read(root, NAME)
        good = isinstance(data, dict) and data.get("version") == VERSION and isinstance(data.get("notes"), dict)
        self._known: dict[str, Any] = data["notes"] if good else {}
        self._used: dict[str, Any] = {}
        self._changed = False

    def of(self, rel: str) -> dict[str, Any] | None:
        """`description`, `status`, `empty`, `tasks` (text of the first open ones), `open` (how many); None if gone."""
        try:
            status = os.stat(os.path.join(self.root, rel))
        except OSError:
            return None
        mark = [status.st_size, status.st_mtime_ns]
        known = self._known.get(rel)
        if not isinstance(known, dict) or known.get("mark") != mark:
            known = {"mark": mark, **facts(self.root, rel)}
            self._changed = True
        self._used[rel] = known
        return known

    def save(self) -> None:
        if self._changed or len(self._used) != len(self._known):
            state.write(self.root, NAME, {"version": VERSION, "notes": self._used})


def facts(root: str, rel: str) -> dict[str, Any]:
    """Read one note for `Digest.of`."""
    from vaultcore import markdown, notes
    from vaultcore.errors import VaultError

    try:
        note = notes.read(root, rel, limit=400_000)
    except VaultError as trouble:
        return {
            "description": f"(cannot be read: {flat(str(trouble), 80)})",
            "status": "",
            "empty": False,
            "tasks": [],
            "open": 0,
            "private": True,
        }
    document = markdown.parse(note.text, note.properties.body)
    todo = [task for task in document.tasks if not task.done]
    description = note.properties.get("description")
    status = note.properties.get("status")
    body = [line.strip() for line in note.body.split("\n")]
    return {
        "description": flat(description, 160) if isinstance(description, str) else "",
        "status": flat(status, 40).lower() if isinstance(status, str) else "",
        "empty": not any(line.lstrip("-*+ ") for line in body if line[:1] in ("-", "*", "+")),
        "tasks": [flat(task.text, 160) for task in todo[:TASKS]],
        "open": len(todo),
        "private": bool(note.private),
    }


def notes_below(root: str, start: str) -> list[str]:
    """Notes below the folder `start`, sorted, at most MOST; no dot entries, no links to folders."""
    found: list[str] = []
    todo = [start]
    while todo and len(found) < MOST:
        rel = todo.pop()
        try:
            with os.scandir(os.path.join(root, rel)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name[0] == ".":
                continue
            if entry.is_dir(follow_symlinks=False):
                todo.append(f"{rel}/{entry.name}")
            elif entry.name[-3:].lower() == ".md" and not entry.is_symlink():
                found.append(f"{rel}/{entry.name}")
    return sorted(found)[:MOST]
