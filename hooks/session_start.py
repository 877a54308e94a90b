"""Session start: put the briefing before the model, note when the session began, start the refresh."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.session import briefing, refresh, state

    if event.subagent:
        return None
    state.Session(event.root, event.agent_name, event.session).mark_start()
    text = briefing.compose(event)
    refresh.start(event.root, event.code, at_once=True)
    return event.context(text)


if __name__ == "__main__":
    hookio.run("session-start", ROOT, answer)
