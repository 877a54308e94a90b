"""Before compaction: keep a copy of the transcript; the agent is told nothing."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.session import settings, transcript

    trouble = transcript.keep(event, settings.load(event.root).get("transcripts_kept"))
    if trouble:
        hookio.complain("before-compact", trouble)


if __name__ == "__main__":
    hookio.run("before-compact", ROOT, answer)
