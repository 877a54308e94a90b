"""Take an existing vault in: its manifest is the only file that is added."""

from __future__ import annotations

import json
import os

from vaultcore import walk, write

from . import __version__

NAME = "vault-manifest.json"
NOT_NOTES = {"templates", "template", "attachments", "assets", "files", "archive", "memories"}


def roots(root: str) -> list[str]:
    """What of an existing vault is worth exposing: notes at its top, and every top folder that holds notes.

    Folders that hold templates or attachments by their name are left out; a person widens or narrows the list.
    """
    found: dict[str, None] = {}
    for entry in walk.walk(root):
        top, _, rest = entry.rel.partition("/")
        if not rest:
            found["*.md"] = None
        elif top.casefold() not in NOT_NOTES:
            found[top] = None
    return sorted(found)


def manifest_for(root: str) -> dict[str, object]:
    """The manifest of a vault that had none: what is the person's own, and what may be served."""
    served = sorted({*roots(root), "inbox"})  # what agents file must be found again
    return {
        "template": "adopted",
        "version": __version__,
        "user_content_roots": roots(root),
        "mcp_exposed_roots": served,
        "mcp_never_expose": [],
        "memory_root": "memories",
        "mcp_inbox": "inbox",
        "frontmatter_required": {},
    }


def adopt(root: str) -> dict[str, object] | None:
    """Add a manifest to the vault at `root`; None when it has one already."""
    if os.path.lexists(os.path.join(root, NAME)):
        return None
    made = manifest_for(root)
    write.create(root, NAME, (json.dumps(made, indent=2, ensure_ascii=False) + "\n").encode())
    return made
