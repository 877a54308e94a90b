"""Gemini CLI: other event names, paths as the model wrote them, verdicts at the top level."""

from __future__ import annotations

import os

from vaultcore.agents import Write, given_prompt, named_file, specific

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CAP = 30_000  # no limit of its own was found; this is ours
EVENTS = {
    "session-start": "SessionStart",
    "prompt": "BeforeAgent",
    "before-write": "BeforeTool",
    "after-write": "AfterTool",
    "before-compact": "PreCompress",
    "stop": "AfterAgent",
    "session-end": "SessionEnd",
}


def writes(payload: dict[str, Any]) -> list[Write]:
    if payload.get("tool_name") == "save_memory":  # names no file: it always appends to this one
        return [Write(os.path.join("~", ".gemini", "memory", "save_memory"))]
    return named_file(payload)


def prompt(payload: dict[str, Any]) -> str:
    """The first prompt of a session comes with the briefing in front of it; tags inside that are escaped."""
    text = given_prompt(payload)
    while "<hook_context>" in text:
        before, _, rest = text.partition("<hook_context>")
        text = before + rest.partition("</hook_context>")[2]
    return text


def context(name: str, text: str) -> dict[str, Any]:
    return specific(name, additionalContext=text)


def message(text: str) -> dict[str, Any]:
    return {"systemMessage": text}


def go_on(name: str, text: str) -> dict[str, Any]:
    return {"decision": "block", "reason": text}


def deny(name: str, reason: str) -> dict[str, Any]:
    return {"decision": "deny", "reason": reason}
