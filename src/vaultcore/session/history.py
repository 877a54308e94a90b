"""What git says changed lately, asked again only when HEAD has moved: a git process costs as much as a hook."""

from __future__ import annotations

import os

from vaultcore.session import state
from vaultcore.session.plain import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "history.json"
HOURS = 48
MOST = 15  # commits that are kept
PATIENCE = 2.0  # seconds git may take while a session waits
VERSION = 1


def recent(root: str, now: float) -> list[str] | None:
    """Lines on the commits of the last HOURS, newest first; None where there is no git or it does not answer."""
    head = _head(root)
    if head is None:
        return None
    known = state.read(root, NAME)
    if not isinstance(known, dict) or known.get("head") != head or known.get("version") != VERSION or "" in head:
        known = {"version": VERSION, "head": head, "commits": _ask(root)}
        if known["commits"] is not None:
            state.write(root, NAME, known)
    commits = known["commits"]
    if not isinstance(commits, list):
        return None
    return [line for when, line in commits if now - when < HOURS * 3600]


def _head(root: str) -> list[str] | None:
    """What changes whenever HEAD does, read from files; None outside a repository, [""] where files do not tell."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    own = os.path.join(folder, ".git")
    if os.path.isfile(own):
        line = _text(own)
        if not line.startswith("gitdir:"):
            return None
        own = os.path.join(folder, line[7:].strip())
    if not os.path.exists(os.path.join(own, "HEAD")):
        return None
    try:
        log = os.stat(os.path.join(own, "logs", "HEAD"))
    except OSError:
        return [""]
    return [own, _text(os.path.join(own, "HEAD")).strip()[:200], str(log.st_size), str(log.st_mtime_ns)]


def _ask(root: str) -> list[list[Any]] | None:
    from vaultcore import git

    commits = git.head_changes(root, HOURS, MOST, PATIENCE)
    if commits is None:
        return None
    found = []
    for commit in commits[:MOST]:
        paths = [flat(path, 60) for path in commit.paths[:3]]
        more = f", {len(commit.paths) - 3} more" if len(commit.paths) > 3 else ""
        line = f"{flat(commit.subject, 100)} ({', '.join(paths)}{more})" if paths else flat(commit.subject, 100)
        found.append([_seconds(commit.when), line])
    return found


def _seconds(when: str) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(4000)
    except OSError:
        return ""
