"""Another repository is about to be edited: say what the vault knows about the file, once."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.visit import advice, guest

    visit = guest.arrive(event) if event.writes() else None
    text = advice.on(event, visit) if visit else ""
    return event.context(text) if text else None


if __name__ == "__main__":
    hookio.run("before-write", ROOT, answer)
