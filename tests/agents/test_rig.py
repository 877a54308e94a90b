"""The rig is sound: hooks fire, context arrives, writes are blocked, a server is called, trust is understood."""

from __future__ import annotations

import json

import pytest

from tests.agents.codex_hooks import list_hooks, trust_all, trust_hash
from tests.agents.rig import Bench, demo_script

pytestmark = pytest.mark.agents
NAMES = {
    "codex": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"),
    "gemini": ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"),
}


def test_hooks_fire_in_order_context_arrives_and_the_server_is_called(bench: Bench) -> None:
    names = NAMES[bench.agent]
    bench.write_hooks({name: {} for name in names})
    bench.write_mcp()
    told = {"hookSpecificOutput": {"hookEventName": names[0], "additionalContext": "MARK-start"}}
    bench.answer(**{names[0]: {"stdout": told}})
    run = bench.run("write a note", script=demo_script(bench.agent))
    assert run.code == 0, run.stderr
    order = [record["label"] for record in run.hooks()]
    assert order[:3] == list(names[:3]) and order[-3:] == list(names[3:])
    assert [record["kind"] for record in run.mcp()] == ["start", "initialize", "call"]
    assert "MARK-start" in run.sent()


def test_codex_skips_hooks_nobody_reviewed_until_they_are_trusted(codex: Bench) -> None:
    codex.write_hooks({"SessionStart": {}, "Stop": {}})
    run = codex.run(script=[{"text": "hi"}], hook_trust=False)
    assert run.code == 0 and run.hooks() == []
    trust_all(codex)
    run = codex.run(script=[{"text": "hi"}], hook_trust=False)
    assert [record["label"] for record in run.hooks()] == ["SessionStart", "Stop"]


def test_codex_agrees_on_the_trust_hash(codex: Bench) -> None:
    codex.write_hooks(
        {
            "SessionStart": {"matcher": "startup|resume", "timeout": 9},
            "PostToolUse": {"matcher": "Write|Edit", "statusMessage": "x", "additionalContextLimit": 4000},
            "SessionEnd": {"timeout": 30},
        }
    )
    groups = json.loads((codex.dot / "hooks.json").read_text())["hooks"]
    for hook in list_hooks(codex)["hooks"]:
        event = hook["eventName"][0].upper() + hook["eventName"][1:]
        group = groups[event][0]
        assert trust_hash(event, group["hooks"][0], group.get("matcher")) == hook["currentHash"]
