"""The end of a turn: one sentence, once in a session that changed code and kept nothing of it."""

from __future__ import annotations

import json
import os

from vaultcore.memory import anchors

from . import guest as guests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .guest import Guest

KEPT = ("create", "propose", "record-work")  # operations of the log that keep something
SAID = "farewell"
LOG = ".om/log"  # as memory.journal has it, whose own reader takes longer to load than this hook may


def offer(guest: Guest) -> str:
    """The sentence, "" when there is no reason for it. Nothing is written by itself, then or later."""
    session = guest.session
    touched = {path for many in session.all("edited") if isinstance(many, list) for path in many}
    if not touched or SAID in session.said():
        return ""
    edited = [rel for path in touched if (rel := guests.repository_path(guest, path)) and not anchors.churns(rel)]
    if not edited:
        return ""
    times = [at for at in session.all("at") if isinstance(at, (int, float))]
    times += [session.start() / 1e9] if session.start() else []
    if _kept_since(guest, min(times, default=0.0)):
        return ""
    session.add(said=[SAID])
    count = "a file" if len(edited) == 1 else f"{len(edited)} files"
    guest.audit("offered_at_stop", files=len(edited))
    return (
        f"om: this session changed {count} and the vault has nothing of it: if a later session should know something, "
        "remember keeps a lesson and record_work files what was done; if not, simply end."
    )


def _kept_since(guest: Guest, began: float) -> bool:
    """Whether the log says that this project kept something since `began` (seconds)."""
    import time

    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(began)) + f".{int(began * 1000) % 1000:03d}"
    folder = os.path.join(guest.root, *LOG.split("/"))
    for writer in _names(folder):
        for month in _names(os.path.join(folder, writer)):
            if month[:7] >= since[:7] and _keeps(os.path.join(folder, writer, month), guest.caller.name, since):
                return True
    return False


def _keeps(path: str, caller: str, since: str) -> bool:
    marks = [b'"op":"%s"' % op.encode() for op in KEPT]
    try:
        with open(path, "rb") as lines:
            for raw in lines:
                if any(mark in raw for mark in marks):
                    line = json.loads(raw)
                    if line.get("op") in KEPT and line.get("caller") == caller and str(line.get("at", "")) >= since:
                        return True
    except (OSError, ValueError):
        pass  # a log that cannot be read says nothing was kept: the sentence comes once too often
    return False


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder), reverse=True)
    except OSError:
        return []
