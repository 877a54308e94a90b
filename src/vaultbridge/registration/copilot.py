"""Copilot CLI: `.mcp.json` in a project (Claude Code reads that one too), `~/.copilot/mcp-config.json` for a user."""

from __future__ import annotations

import os
from collections.abc import Mapping

from vaultbridge.registration import claude
from vaultbridge.registration.command import Command

COMMANDS = ("copilot",)
FORM = "json"
KEY = ("mcpServers", "om")
project = claude.project


def user(home: str, env: Mapping[str, str]) -> str:
    return os.path.join(env.get("COPILOT_HOME") or os.path.join(home, ".copilot"), "mcp-config.json")


def signs(home: str, env: Mapping[str, str]) -> list[str]:
    return [env.get("COPILOT_HOME") or os.path.join(home, ".copilot")]


def server(command: Command) -> dict[str, object]:
    return {**claude.server(command), "tools": ["*"]}
