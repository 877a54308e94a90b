"""The entry for qmd in the vault's own `.mcp.json`: written when a person sets qmd up, never shipped."""

from __future__ import annotations

import os

from vaultbridge.registration import files, jsonc
from vaultcore.errors import VaultError

NAME = ".mcp.json"


def put(root: str, code: str) -> bool:
    """Add or correct the entry; every other byte stays. True when the file was changed. VaultError for a file that is
    no JSON."""
    path = os.path.join(root, NAME)
    before = files.read(path)
    text = "" if before is None else before.decode("utf-8", "replace")
    # A relative path, so that the entry can be committed: a client starts its servers in the project's folder.
    door = "om.py" if os.path.realpath(code) == os.path.realpath(root) else os.path.join(code, "om.py")
    words = [door, *([] if door == "om.py" else ["--vault", root]), "qmd", "mcp"]
    try:
        held = jsonc.get(text, ("mcpServers", "qmd"))
        entry = {"command": _python(), "args": words}
        if isinstance(held, dict) and held.get("args") == words:
            return False
        after = jsonc.put(text, ("mcpServers", "qmd"), entry)
    except jsonc.Malformed as error:
        raise VaultError(f"{path} is not valid JSON ({error}): mend it and run `om qmd setup` again") from None
    files.install(path, before, after.encode())
    return True


def drop(root: str) -> bool:
    """Take the entry out again. True when there was one; a file that holds nothing else is removed."""
    path = os.path.join(root, NAME)
    before = files.read(path)
    if before is None:
        return False
    text = before.decode("utf-8", "replace")
    try:
        held = jsonc.get(text, ("mcpServers", "qmd"))
        if not isinstance(held, dict) or held.get("args", [])[-2:] != ["qmd", "mcp"]:
            return False
        after = jsonc.remove(text, ("mcpServers", "qmd"))
        alone = jsonc.get(after, ()) in ({}, {"mcpServers": {}})
    except jsonc.Malformed as error:
        raise VaultError(f"{path} is not valid JSON ({error}): mend it and run this again") from None
    files.install(path, before, None if alone else after.encode())
    return True


def _python() -> str:
    return "python" if os.name == "nt" else "python3"
