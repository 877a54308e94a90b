"""Cursor: `mcp.json` in `.cursor`, of a project or of the user. It starts servers in the home folder and has to say
where it works: `--root=${workspaceFolder}`; variables of the environment are `${env:NAME}`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from vaultbridge.registration.command import Command

COMMANDS = ("cursor", "cursor-agent")
FORM = "json"
KEY = ("mcpServers", "om")


def project(folder: str) -> str:
    return os.path.join(folder, ".cursor", "mcp.json")


def user(home: str, env: Mapping[str, str]) -> str:
    return os.path.join(home, ".cursor", "mcp.json")


def signs(home: str, env: Mapping[str, str]) -> list[str]:
    return [os.path.join(home, ".cursor")]


def server(command: Command) -> dict[str, object]:
    program, arguments = command.parts("${env:OM_VAULT}", "--root=${workspaceFolder}")
    return {"type": "stdio", "command": program, "args": arguments}
