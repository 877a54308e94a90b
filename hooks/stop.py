"""End of a turn: tell the person, once, what this session left in disorder."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    if event.subagent or event.again:
        return None
    from vaultcore.session import checklist, ticked

    ticked.note(event)
    text = checklist.remarks(event)
    return event.message(text) if text else None


if __name__ == "__main__":
    hookio.run("stop", ROOT, answer)
