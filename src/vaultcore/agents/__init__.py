"""What differs between coding agents. One module per agent; a fourth is one more module and one config file.

A module provides
    EVENTS     our event -> the name the agent gives it (kept when the payload has none)
    CAP        most bytes of text the agent takes into a context before it cuts by itself
    writes(payload)               -> list of Write, relative paths left relative
    prompt(payload)               -> what the person wrote, without what the agent put around it
    context(name, text)           -> the JSON object that puts `text` before the model
    message(text)                 -> the JSON object that shows `text` to the person
    deny(name, reason)            -> the JSON object that stops the tool call
    go_on(name, text)             -> the JSON object that puts `text` before the model at the end of a turn, once more
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

PATH_KEYS = ("file_path", "filePath", "notebook_path", "path", "absolute_path", "filename")


class Write:
    """One file that a tool call touches. `action` is "write" or "delete"; a move is one of each."""

    __slots__ = ("action", "path")

    def __init__(self, path: str, action: str = "write") -> None:
        self.path = path
        self.action = action


class Event:
    """One call of a hook, the same for every agent. Text fields are "" when the payload lacks them."""

    __slots__ = ("agent", "code", "cwd", "kind", "name", "payload", "root", "session")

    def __init__(self, agent: ModuleType, kind: str, payload: dict[str, Any], code: str) -> None:
        self.agent = agent
        self.kind = kind
        self.payload = payload
        self.code = code  # the vault these scripts lie in
        self.name = self.text("hook_event_name") or agent.EVENTS[kind]
        self.session = self.text("session_id")
        self.cwd = self.text("cwd")
        self.root = ""

    @property
    def agent_name(self) -> str:
        return self.agent.__name__.rpartition(".")[2]

    def text(self, key: str) -> str:
        value = self.payload.get(key)
        return value if isinstance(value, str) else ""

    @property
    def prompt(self) -> str:
        """What the person wrote."""
        text: str = self.agent.prompt(self.payload)
        return text

    @property
    def subagent(self) -> bool:
        return bool(self.payload.get("agent_id"))

    @property
    def again(self) -> bool:
        """True when the agent runs on because a stop hook made it."""
        return self.payload.get("stop_hook_active") not in (None, False, "", 0, "false")

    def writes(self) -> list[Write]:
        """What the tool call touches, as absolute paths (links and dots not resolved)."""
        found = self.agent.writes(self.payload)
        base = self.cwd or self.root
        for write in found:
            path = os.path.expanduser(write.path) if write.path.startswith("~") else write.path
            write.path = path if os.path.isabs(path) or path[1:3] == ":\\" else os.path.join(base, path)
        return list(found)

    def context(self, text: str) -> dict[str, Any]:
        reply: dict[str, Any] = self.agent.context(self.name, text)
        return reply

    def message(self, text: str) -> dict[str, Any]:
        reply: dict[str, Any] = self.agent.message(text)
        return reply

    def go_on(self, text: str) -> dict[str, Any]:
        reply: dict[str, Any] = self.agent.go_on(self.name, text)
        return reply

    def deny(self, reason: str) -> dict[str, Any]:
        reply: dict[str, Any] = self.agent.deny(self.name, reason)
        return reply


def names() -> list[str]:
    """Every agent there is a module for."""
    found = [name[:-3] for name in os.listdir(os.path.dirname(os.path.abspath(__file__))) if name.endswith(".py")]
    return sorted(name for name in found if name != "__init__")


def load(name: str) -> ModuleType:
    """The module of one agent; LookupError names the known ones."""
    if name.isidentifier() and not name.startswith("_"):
        try:
            __import__(f"{__name__}.{name}")
            return sys.modules[f"{__name__}.{name}"]
        except ModuleNotFoundError:
            pass
    raise LookupError(f"--agent {name or '(missing)'} is not known here: use one of {', '.join(names())}")


def tool_input(payload: dict[str, Any]) -> dict[str, Any]:
    value = payload.get("tool_input")
    return value if isinstance(value, dict) else {}


def given_prompt(payload: dict[str, Any]) -> str:
    value = payload.get("prompt")
    return value if isinstance(value, str) else ""


def named_file(payload: dict[str, Any]) -> list[Write]:
    """The one file that a write tool names, whatever the tool or the field is called."""
    given = tool_input(payload)
    for key in PATH_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value and "\0" not in value:
            return [Write(value)]
    return []


def patched_files(patch: str) -> list[Write]:
    """Every file that a patch in the `*** Begin Patch` format adds, updates, moves or deletes."""
    found: list[Write] = []
    for line in patch.splitlines():
        if not line.startswith("*** "):
            continue
        verb, _, path = line[4:].partition(": ")
        path = path.strip()
        if not path or "\0" in path:
            continue
        if verb in ("Add File", "Update File"):
            found.append(Write(path))
        elif verb == "Delete File":
            found.append(Write(path, "delete"))
        elif verb == "Move to":
            if found:
                found[-1].action = "delete"
            found.append(Write(path))
    return found


def specific(name: str, **fields: str) -> dict[str, Any]:
    """The envelope that all three agents share."""
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}
