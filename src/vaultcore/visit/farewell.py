"""The end of a turn: one sentence, once in a session that changed code and kept nothing of it."""

from __future__ import annotations

from vaultcore.memory import anchors

from . import guest as guests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .guest import Guest

KEPT = ("create", "propose", "record-work")  # operations of the log that keep something
SAID = "farewell"


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
    from vaultcore.memory import times
    from vaultcore.memory.journal import Journal

    journal = Journal(guest.root)
    name, since = guest.caller.name, times.stamp(began)
    return any(
        line.get("op") in KEPT and line.get("caller") == name and str(line.get("at", "")) >= since
        for line in journal.lines(months=2)
    )
