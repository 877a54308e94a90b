"""The visitors' hooks as another repository's agent runs them: one process each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.hooks.running import AGENTS, CODE, Answer

EVENTS = {
    "start": ("SessionStart", "SessionStart", "SessionStart"),
    "edit": ("PreToolUse", "PreToolUse", "AfterTool"),
    "stop": ("Stop", "Stop", "AfterAgent"),
}


def visit(script: str, vault: Path, repo: Path, agent: str = "claude", **fields: Any) -> Answer:
    """Run hooks/visit_<script>.py for a session in `repo`; `fields` override the payload's, None removes one."""
    env = {**os.environ, "OM_WORKER": "off", **fields.pop("env", {})}
    payload: dict[str, Any] = {
        "session_id": "s1",
        "cwd": str(repo),
        "hook_event_name": EVENTS[script][AGENTS.index(agent)],
        **fields,
    }
    data = json.dumps({key: value for key, value in payload.items() if value is not None}).encode()
    call = [sys.executable, "-I", "-S", str(CODE / f"hooks/visit_{script}.py"), "--agent", agent, "--vault", str(vault)]
    done = subprocess.run(call, input=data, capture_output=True, env=env, timeout=60, cwd=repo.parent)
    return Answer(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def edit(vault: Path, repo: Path, path: str = "src/a.py", agent: str = "claude", **fields: Any) -> Answer:
    """What the hook says when `path` of the repository is about to be changed, in that agent's own words."""
    tools: dict[str, dict[str, Any]] = {
        "claude": {
            "tool_name": "Edit",
            "tool_input": {"file_path": str(repo / path), "old_string": "a", "new_string": "b"},
        },
        "codex": {
            "tool_name": "apply_patch",
            "tool_input": {"command": f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"},
        },
        "gemini": {"tool_name": "replace", "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"}},
    }
    return visit("edit", vault, repo, agent, **{**tools[agent], **fields})


def index(vault: Path) -> None:
    """Bring the vault's index up to the files, as the worker does."""
    from vaultcore.index import open_index

    found = open_index(str(vault))
    found.refresh(budget=None)
    found.close()
