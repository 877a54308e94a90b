"""Codex CLI: `config.toml` in `.codex`, of a trusted project or of the user. It expands nothing and hands few variables
on, so the portable form names the one it needs and lets a shell put it in."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from vaultbridge.registration.command import VARIABLE, Command

COMMANDS = ("codex",)
FORM = "toml"
KEY = ("mcp_servers", "om")
_STARTUP_S = 30  # its default of 10 is short for a machine that is busy or has no byte code yet
_TOOL_S = 120


def project(folder: str) -> str:
    return os.path.join(folder, ".codex", "config.toml")


def user(home: str, env: Mapping[str, str]) -> str:
    return os.path.join(env.get("CODEX_HOME") or os.path.join(home, ".codex"), "config.toml")


def signs(home: str, env: Mapping[str, str]) -> list[str]:
    return [env.get("CODEX_HOME") or os.path.join(home, ".codex")]


def server(command: Command) -> dict[str, object]:
    found: dict[str, object] = {}
    if command.portable:
        found["command"] = "sh"
        found["args"] = ["-c", f'exec {command.program} "${VARIABLE}/om.py" serve']
        found["env_vars"] = [VARIABLE]
    else:
        found["command"], found["args"] = command.parts("")
    return {**found, "startup_timeout_sec": _STARTUP_S, "tool_timeout_sec": _TOOL_S}


def lines(entry: dict[str, object]) -> list[str]:
    """The entry as lines of a TOML table; JSON's strings and lists are TOML's."""
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
