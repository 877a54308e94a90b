"""The platforms of a project, as the project's own note in the vault declares them."""

from __future__ import annotations

import os


def of(root: str, rels: list[str], name: str, memory_root: str) -> list[str]:
    """The platforms that the note of project `name` (a canonical name) among `rels` declares: the note whose file name,
    else alias, is that name. VaultError when one cannot be read."""
    from vaultcore import notes, properties
    from vaultcore.identity import canonical

    by_alias: list[str] = []
    for rel in rels:
        if rel.casefold().startswith(memory_root.casefold().strip("/") + "/"):
            continue
        note = notes.read(root, rel)
        value = note.properties.values.get("platforms")
        declared = properties.as_list(value) if isinstance(value, (str, list)) else []
        if canonical(os.path.splitext(os.path.basename(rel))[0]) == name:
            return declared
        if not by_alias and any(canonical(alias) == name for alias in note.aliases):
            by_alias = declared
    return by_alias
