"""Prompt: say where the kind of thing the person talks about lives, once per session and kind."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.pycache_prefix = os.path.join(ROOT, ".cache", "pycache")
sys.path.insert(0, os.path.join(ROOT, "src"))

from vaultcore import hookio  # noqa: E402  (the lines above make it importable)


def answer(event):
    from vaultcore.session import own_words, settings, signals, state

    prompt = event.prompt
    if event.subagent or not prompt.strip():
        return None
    found = signals.load(settings.load(event.root).get("signals")).of(own_words.own_words(prompt))
    if not found:
        return None
    session = state.Session(event.root, event.agent_name, event.session)
    said = session.said()
    hints = [(f"hint {name}", hint) for name, hint in found if f"hint {name}" not in said]
    if not hints:
        return None
    session.add(said=[key for key, _ in hints])
    return event.context(
        "\n".join(["om: this message may hold something for the vault", *(f"- {hint}" for _, hint in hints)])
    )


if __name__ == "__main__":
    hookio.run("prompt", ROOT, answer)
