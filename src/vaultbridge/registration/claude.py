"""Claude Code: `.mcp.json` in a project, `~/.claude.json` for a user; it expands `${VARIABLE}`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from vaultbridge.registration.command import Command

COMMANDS = ("claude",)
FORM = "json"
KEY = ("mcpServers", "om")


def project(folder: str) -> str:
    return os.path.join(folder, ".mcp.json")


def user(home: str, env: Mapping[str, str]) -> str:
    return os.path.join(env.get("CLAUDE_CONFIG_DIR") or home, ".claude.json")


def signs(home: str, env: Mapping[str, str]) -> list[str]:
    return [env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"), os.path.join(home, ".claude.json")]


def server(command: Command) -> dict[str, object]:
    program, arguments = command.parts("${OM_VAULT}")
    return {"type": "stdio", "command": program, "args": arguments}
