"""VS Code: `.vscode/mcp.json` in a project, `mcp.json` in the user's profile; JSON with comments, key `servers`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from vaultbridge.registration import cursor

COMMANDS = ("code",)
FORM = "json"
KEY = ("servers", "om")
server = cursor.server


def project(folder: str) -> str:
    return os.path.join(folder, ".vscode", "mcp.json")


def user(home: str, env: Mapping[str, str]) -> str:
    return os.path.join(_profile(home, env), "mcp.json")


def signs(home: str, env: Mapping[str, str]) -> list[str]:
    return [_profile(home, env)]


def _profile(home: str, env: Mapping[str, str]) -> str:
    if sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    elif os.name == "nt":
        base = env.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    else:
        base = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(base, "Code", "User")
