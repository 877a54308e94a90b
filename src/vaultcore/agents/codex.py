"""Codex CLI: writes are patches over many files; one unknown key voids the whole answer."""

from __future__ import annotations

from vaultcore.agents import Write, given_prompt, named_file, patched_files, specific, tool_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CAP = 9_900  # 2,500 tokens, which Codex reckons at four bytes each
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
    command = tool_input(payload).get("command")
    if isinstance(command, list):  # a program and its arguments
        command = "\n".join(map(str, command))
    if isinstance(command, str) and "*** Begin Patch" in command:  # also a patch that goes through the shell
        return patched_files(command[command.index("*** Begin Patch") :])
    return named_file(payload)


def prompt(payload: dict[str, Any]) -> str:
    return given_prompt(payload)


def context(name: str, text: str) -> dict[str, Any]:
    return specific(name, additionalContext=text)


def message(text: str) -> dict[str, Any]:
    return {"systemMessage": text}


def go_on(name: str, text: str) -> dict[str, Any]:
    return {"decision": "block", "reason": text}


def deny(name: str, reason: str) -> dict[str, Any]:
    return specific(name, permissionDecision="deny", permissionDecisionReason=reason)
