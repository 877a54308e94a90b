"""Evidence about ticks in memories/Review.md: what is ticked while an agent works is no decision of a person."""

from __future__ import annotations

import os

from vaultcore.session import settings, state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.agents import Event

MOST = 200
LARGEST = 2_000_000


def note(event: Event) -> state.Session:
    """Note in the session's record what is ticked, if the page has changed since the session began."""
    session = state.Session(event.root, event.agent_name, event.session)
    path = os.path.join(event.root, str(settings.load(event.root).get("memory_root")), "Review.md")
    try:
        changed = os.stat(path).st_mtime_ns
        if not session.start() or changed < session.start():
            return session
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(LARGEST)
    except OSError:
        return session
    if "- [x]" in text or "- [X]" in text:
        from vaultcore.memory import page

        known = {tick for found in session.all("ticked") if isinstance(found, list) for tick in found}
        new = [tick for tick in page.ticks(text) if tick not in known][:MOST]
        if new:
            session.add(ticked=new)
    return session


def end(event: Event) -> None:
    """Note that the session is over: what is ticked from now on may be a person's."""
    import time

    note(event).add(ended=time.time_ns())
