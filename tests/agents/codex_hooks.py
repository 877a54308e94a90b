"""Ask the real Codex CLI what it makes of a project's hooks, and reproduce its trust hash.

``list_hooks`` runs ``codex app-server`` offline and calls its ``hooks/list`` method: the
definitive linter for a hooks.json (events seen, timeouts after clamping, warnings, trust).
``trust_hash`` is the value Codex stores under ``[hooks.state."<key>"] trusted_hash`` once the
user has reviewed a hook; checked against 0.171.0. Meant for tests: trust is the user's to give.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess

from tests.agents.rig import Bench, cli

MATCHER_EVENTS = {
    "pre_tool_use",
    "permission_request",
    "post_tool_use",
    "pre_compact",
    "post_compact",
    "session_start",
    "session_end",
    "subagent_start",
    "subagent_stop",
}
CONTEXT_EVENTS = {"pre_tool_use", "post_tool_use", "session_start", "user_prompt_submit", "subagent_start"}


def snake(event: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in event).lstrip("_")


def trust_hash(event: str, handler: dict, matcher: str | None = None) -> str:
    """``event`` in hooks.json spelling ("PostToolUse"); ``handler`` one entry of "hooks"."""
    key = snake(event)
    low, high, default = (1, 3, 1) if key == "session_end" else (1, None, 600)
    timeout = max(handler.get("timeout", default), low)
    timeout = min(timeout, high) if high else timeout
    normal = {
        "type": "command",
        "command": handler["command"],
        "timeout": timeout,
        "async": handler.get("async", False),
    }
    if "statusMessage" in handler:
        normal["statusMessage"] = handler["statusMessage"]
    limit = handler.get("additionalContextLimit")
    if key in CONTEXT_EVENTS and limit not in (None, 2500):
        normal["additionalContextLimit"] = limit
    identity = {"event_name": key, "hooks": [normal]}
    if key in MATCHER_EVENTS and matcher is not None:
        identity["matcher"] = matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def trust_all(bench: Bench) -> None:
    """Record every hook of the bench's hooks.json as reviewed, as the /hooks screen does."""
    path = bench.dot / "hooks.json"
    lines = []
    for event, groups in json.loads(path.read_text())["hooks"].items():
        for g, group in enumerate(groups):
            for h, handler in enumerate(group["hooks"]):
                key = json.dumps(f"{path}:{snake(event)}:{g}:{h}")
                value = trust_hash(event, handler, group.get("matcher"))
                lines.append(f'[hooks.state.{key}]\ntrusted_hash = "{value}"\n')
    (bench.state / "extra.toml").write_text("".join(lines))


def list_hooks(bench: Bench) -> dict:
    """{"hooks": [...], "warnings": [...], "errors": [...]} as Codex sees the project."""
    bench._codex_home("http://127.0.0.1:9", "gpt-5.5")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(bench.home),
        "CODEX_HOME": str(bench.state),
        "STUB_API_KEY": "made-up",
    }
    server = subprocess.Popen(
        [*cli("codex"), "app-server"],
        cwd=bench.project,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def call(ident: int, method: str, params: dict) -> dict:
        server.stdin.write(json.dumps({"id": ident, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            reply = json.loads(line)
            if reply.get("id") == ident:
                return reply["result"]
        raise RuntimeError("codex app-server went away")

    try:
        call(0, "initialize", {"clientInfo": {"name": "rig", "title": "rig", "version": "1"}})
        server.stdin.write(json.dumps({"method": "initialized"}) + "\n")
        return call(1, "hooks/list", {"cwds": [str(bench.project)]})["data"][0]
    finally:
        server.stdin.close()
        server.stdout.close()
        server.wait(15)
