"""A session starts in another repository: say what the vault has for it, if anything."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.session import refresh
    from vaultcore.visit import guest, welcome

    visit = None if event.subagent else guest.arrive(event)
    if visit is None:
        return None
    visit.session.mark_start()
    text = welcome.text(visit)
    refresh.start(visit.root, event.code, at_once=True)
    return event.context(text) if text else None


if __name__ == "__main__":
    hookio.run("session-start", ROOT, answer)
