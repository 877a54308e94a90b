"""Gemini CLI: `settings.json` in `.gemini`, of a project or of the user; it expands `${VARIABLE}`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from vaultbridge.registration.command import Command

COMMANDS = ("gemini",)
FORM = "json"
KEY = ("mcpServers", "om")
_TIMEOUT_MS = 300_000  # of one call; its own default is ten minutes


def project(folder: str) -> str:
    return os.path.join(folder, ".gemini", "settings.json")


def user(home: str, env: Mapping[str, str]) -> str:
    return os.path.join(home, ".gemini", "settings.json")


def signs(home: str, env: Mapping[str, str]) -> list[str]:
    return [os.path.join(home, ".gemini")]


def server(command: Command) -> dict[str, object]:
    program, arguments = command.parts("${OM_VAULT}")
    return {"command": program, "args": arguments, "timeout": _TIMEOUT_MS}
