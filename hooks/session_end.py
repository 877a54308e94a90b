"""Session end: one last refresh, detached. May run several times."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.session import refresh, ticked

    if not event.subagent:
        ticked.end(event)
        refresh.mark(event.root)
        refresh.start(event.root, event.code, at_once=True)


if __name__ == "__main__":
    hookio.run("session-end", ROOT, answer)
