"""Before a write: keep knowledge out of an agent's private memory, and rulings in a person's hand."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.session import guard, settings

    reason = guard.refusal(event, settings.load(event.root))
    return event.deny(reason) if reason else None


if __name__ == "__main__":
    hookio.run("before-write", ROOT, answer)
