"""Claude Code: one absolute path per write, context and verdicts in `hookSpecificOutput`."""

from __future__ import annotations

from vaultcore.agents import Write, given_prompt, named_file, specific

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CAP = 9_900  # characters beyond 10,000 become a file and a 2 kB preview
EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "before-write": "PreToolUse",
    "after-write": "PostToolUse",
    "before-compact": "PreCompact",
    "stop": "Stop",
    "session-end": "SessionEnd",
}


def writes(payload: dict[str, Any]) -> list[Write]:
    return named_file(payload)


def prompt(payload: dict[str, Any]) -> str:
    return given_prompt(payload)


def context(name: str, text: str) -> dict[str, Any]:
    return specific(name, additionalContext=text)


def message(text: str) -> dict[str, Any]:
    return {"systemMessage": text}


def go_on(name: str, text: str) -> dict[str, Any]:
    return specific(name, additionalContext=text)


def deny(name: str, reason: str) -> dict[str, Any]:
    return specific(name, permissionDecision="deny", permissionDecisionReason=reason)
