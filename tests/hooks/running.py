"""Hooks as the agents run them: one process each, a payload on stdin, JSON or nothing back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CODE = Path(__file__).resolve().parents[2]
DATA = Path(__file__).resolve().parent / "data"
SCRIPTS = ("session_start", "prompt", "before_write", "after_write", "before_compact", "stop", "session_end")
AGENTS = ("claude", "codex", "gemini")
EVENTS = {
    "session_start": ("SessionStart", "SessionStart", "SessionStart"),
    "prompt": ("UserPromptSubmit", "UserPromptSubmit", "BeforeAgent"),
    "before_write": ("PreToolUse", "PreToolUse", "BeforeTool"),
    "after_write": ("PostToolUse", "PostToolUse", "AfterTool"),
    "before_compact": ("PreCompact", "PreCompact", "PreCompress"),
    "stop": ("Stop", "Stop", "AfterAgent"),
    "session_end": ("SessionEnd", "SessionEnd", "SessionEnd"),
}
MANIFEST = json.dumps(
    {
        "frontmatter_required": {
            "*": {"date": "date", "description": "text", "tags": "list"},
            "incident": {"severity": "text"},
        },
        "infrastructure": ["AGENTS.md", "README.md", "templates/**"],
    }
)
GOOD = '---\ndate: 2026-11-01\ndescription: "What it is."\ntags:\n  - note\n---\n\n# A note\n\nSee [[Home]].\n'


@dataclass
class Answer:
    """What one hook printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out) if self.out else {}

    @property
    def context(self) -> str:
        """The text put before the model."""
        return self.json.get("hookSpecificOutput", {}).get("additionalContext", "")

    @property
    def message(self) -> str:
        """The text shown to the person."""
        return self.json.get("systemMessage", "")

    @property
    def denied(self) -> str:
        """Why the tool call was stopped, "" if it was not."""
        specific = self.json.get("hookSpecificOutput", {})
        if specific.get("permissionDecision") == "deny":
            return specific["permissionDecisionReason"]
        return self.json["reason"] if self.json.get("decision") == "deny" else ""


def hook(
    script: str,
    root: Path,
    agent: str = "claude",
    *,
    raw: bytes | None = None,
    env: dict[str, str] | None = None,
    python: str = sys.executable,
    code: Path = CODE,
    worker: bool = False,
    stdin: int | None = None,
    **fields: Any,
) -> Answer:
    """Run one hook of `code` on a payload for the vault `root`; `fields` override the payload's, None removes one."""
    payload: dict[str, Any] = {
        "session_id": "s1",
        "transcript_path": str(root.parent / "transcript.jsonl"),
        "cwd": str(root),
        "hook_event_name": EVENTS[script][AGENTS.index(agent)],
        **fields,
    }
    payload = {key: value for key, value in payload.items() if value is not None}
    data = json.dumps(payload).encode() if raw is None else raw
    given = {**os.environ, "OM_WORKER": "on" if worker else "off", **(env or {})}
    call = [python, "-I", "-S", str(code / "hooks" / f"{script}.py"), "--agent", agent]
    if stdin is not None:
        done = subprocess.run(call, stdin=stdin, capture_output=True, env=given, timeout=60, cwd=root.parent)
    else:
        done = subprocess.run(call, input=data, capture_output=True, env=given, timeout=60, cwd=root.parent)
    return Answer(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def write(root: Path, rel: str, text: str, agent: str = "claude", **fields: Any) -> Answer:
    """Write a note as a tool would, then run the hook that follows."""
    path = root / rel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    given = {"file_path": str(path), "content": text}
    return hook("after_write", root, agent, tool_name="Write", tool_input=given, **fields)


def scan(root: Path) -> None:
    """Let the worker go through the vault once, here and now."""
    worker = CODE / "src/vaultcore/session/worker.py"
    subprocess.run([sys.executable, "-I", "-S", str(worker), str(root), str(root), "now"], check=True, timeout=60)
