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
READ = 200  # commits that are looked at for them: those of the template's own files are passed over
VERSION = 2


def recent(root: str, now: float, roots: list[str], machinery: list[str]) -> list[str] | None:
    """Lines on the commits of the last HOURS that touched the user's own files, newest first; None where there is no
    git or it does not answer. `roots` and `machinery`: globs of what is the user's and of what is the template's."""
    head = _head(root)
    if head is None:
        return None
    known = state.read(root, NAME)
    mark = {"version": VERSION, "head": head, "globs": [roots, machinery]}
    if not isinstance(known, dict) or any(known.get(key) != mark[key] for key in mark) or "" in head:
        known = {**mark, "commits": _ask(root, roots, machinery)}
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


def owned(rel: str, roots: list[str], machinery: list[str]) -> bool:
    """Whether a file is the user's: below one of their roots, or a note beside them that is none of the template's.
    Where no roots are named, whatever is not the template's."""
    from vaultcore.session.note_checks import covers

    if any(covers(pattern, rel) for pattern in machinery):
        return False
    if not roots or ("/" not in rel and rel[-3:].lower() == ".md"):
        return True
    return any(covers(root if "*" in root or root == rel else root.rstrip("/") + "/", rel) for root in roots)


def _ask(root: str, roots: list[str], machinery: list[str]) -> list[list[Any]] | None:
    from vaultcore import git

    commits = git.head_changes(root, HOURS, READ, PATIENCE)
    if commits is None:
        return None
    found: list[list[Any]] = []
    for commit in commits:
        own = [path for path in commit.paths if owned(path, roots, machinery)]
        if not own or len(found) == MOST:
            continue
        more = f", {len(own) - 3} more" if len(own) > 3 else ""
        paths = ", ".join(flat(path, 60) for path in own[:3])
        found.append([_seconds(commit.when), f"{flat(commit.subject, 100)} ({paths}{more})"])
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
