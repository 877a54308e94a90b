"""The vault's hooks in another repository's own agents: at session start, before an edit, at the end of a turn."""

from __future__ import annotations

import os
import shlex
from typing import Any

from vaultbridge.registration import jsonc, jsonlist
from vaultbridge.registration.clients import Unsuitable
from vaultbridge.registration.command import VARIABLE, Command

AGENTS = ("claude", "codex", "gemini")
_SCRIPTS = ("visit_start", "visit_edit", "visit_stop")
_SECONDS = {"visit_start": 20, "visit_edit": 10, "visit_stop": 10}
_EVENTS = {
    "claude": ("SessionStart", "PreToolUse", "Stop"),
    "codex": ("SessionStart", "PreToolUse", "Stop"),
    # it takes no context before a tool runs: reading a file is the last event before the edit of it
    "gemini": ("SessionStart", "AfterTool", "AfterAgent"),
}
_EDITS = {
    "claude": "Write|Edit|MultiEdit|NotebookEdit",
    "codex": "apply_patch|Bash",
    "gemini": "^(read_file|replace|write_file)$",
}
REMARKS = {
    "codex": "Codex runs these hooks only after you have reviewed them once: /hooks",
    "gemini": "Gemini takes no text before an edit: it is told about a file when it reads it, or right after",
}


def paths(agent: str, folder: str) -> list[str]:
    """The files that may hold our hooks: for one machine first, then the one that can be committed."""
    if agent == "claude":
        return [os.path.join(folder, ".claude", name) for name in ("settings.local.json", "settings.json")]
    return [
        os.path.join(folder, ".codex", "hooks.json")
        if agent == "codex"
        else os.path.join(folder, ".gemini", "settings.json")
    ]


def path(agent: str, folder: str, command: Command) -> str:
    """The file that gets our hooks."""
    return paths(agent, folder)[-1 if command.portable else 0]


def groups(agent: str, command: Command) -> dict[str, dict[str, Any]]:
    """Event -> the group with our handler."""
    found: dict[str, dict[str, Any]] = {}
    for script, event in zip(_SCRIPTS, _EVENTS[agent], strict=True):
        handler: dict[str, Any] = {"type": "command"}
        if agent == "gemini":
            handler["name"] = "om-" + script.replace("_", "-")
        handler["command"] = line(agent, script, command)
        handler["timeout"] = _SECONDS[script] * (1000 if agent == "gemini" else 1)
        matcher = {"matcher": _EDITS[agent]} if script == "visit_edit" else {}
        found[event] = {**matcher, "hooks": [handler]}
    return found


def line(agent: str, script: str, command: Command) -> str:
    """The command of one hook. It always ends well: an agent takes a script that is not there for a refusal."""
    base = os.path.dirname(command.arguments[0])
    if command.portable:
        words = [command.program, "-I", "-S", f'"${VARIABLE}/hooks/{script}.py"']
    else:
        words = [_quoted(command.program), "-I", "-S", _quoted(os.path.join(base, "hooks", f"{script}.py"))]
    words += ["--agent", agent]
    if "--vault" in command.arguments:
        words += ["--vault", _quoted(command.arguments[command.arguments.index("--vault") + 1])]
    return " ".join(words) + "; exit 0"


def put(text: str, agent: str, command: Command) -> str:
    """`text` with our hooks at the end of each event's list. Raises Unsuitable."""
    try:
        wanted = groups(agent, command)
        if all(group in _list(text, event) for event, group in wanted.items()):
            return text
        text = _without(text)
        for event, group in wanted.items():
            text = jsonlist.append(text, ("hooks", event), group)
        return text
    except jsonc.Malformed as error:
        raise Unsuitable(str(error)) from error


def remove(text: str) -> str:
    """`text` without our hooks and the lists that held nothing else. Raises Unsuitable."""
    try:
        return _without(text)
    except jsonc.Malformed as error:
        raise Unsuitable(str(error)) from error


def registered(text: str) -> bool:
    """Whether `text` has a hook of ours."""
    try:
        return bool(_ours(text))
    except jsonc.Malformed:
        return False


def snippet(agent: str, command: Command) -> str:
    """Our hooks for a person to put in by hand."""
    import json

    return json.dumps(
        {"hooks": {event: [group] for event, group in groups(agent, command).items()}}, indent=2, ensure_ascii=False
    )


def _without(text: str) -> str:
    if not _ours(text):
        return text
    while found := _ours(text):
        event, index = found[-1]
        text = jsonlist.drop(text, ("hooks", event), index)
    return jsonc.remove(text, ("hooks",)) if jsonc.get(text, ("hooks",)) == {} else text


def _ours(text: str) -> list[tuple[str, int]]:
    """(event, index) of every group all of whose handlers start one of our scripts."""
    hooks = jsonc.get(text, ("hooks",))
    found = []
    for event, listed in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(listed) if isinstance(listed, list) else ():
            handlers = group.get("hooks") if isinstance(group, dict) else None
            if isinstance(handlers, list) and handlers and all(map(_is_ours, handlers)):
                found.append((str(event), index))
    return found


def _is_ours(handler: object) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    if not isinstance(command, str) or " -I -S " not in command or " --agent " not in command:
        return False
    return any(f"hooks{sep}{name}.py" in command for sep in "/\\" for name in _SCRIPTS)


def _list(text: str, event: str) -> list[object]:
    found = jsonc.get(text, ("hooks", event))
    return found if isinstance(found, list) else []


def _quoted(path: str) -> str:
    return f'"{path}"' if os.name == "nt" else shlex.quote(path)
