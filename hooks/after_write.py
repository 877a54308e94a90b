"""After a write: check the notes that were written, say what is wrong, have the index brought up to date."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.session import refresh, settings, writes

    files = writes.touched(event)
    if not files:
        return None
    text = writes.report(event, settings.load(event.root), files)
    if any(rel[-3:].lower() == ".md" for rel, _ in files):
        refresh.mark(event.root)
        refresh.start(event.root, event.code)
    return event.context(text) if text else None


if __name__ == "__main__":
    hookio.run("after-write", ROOT, answer)
