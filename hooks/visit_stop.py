"""A turn ends in another repository: offer, once, to keep what the session learnt."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    if event.subagent or event.again:
        return None
    from vaultcore.visit import farewell, guest

    visit = guest.arrive(event)
    text = farewell.offer(visit) if visit else ""
    return event.go_on(text) if text else None


if __name__ == "__main__":
    hookio.run("stop", ROOT, answer)
