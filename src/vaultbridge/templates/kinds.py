"""The types of note that `om new` can make: those the manifest names, and every other template in the folder."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any

from vaultcore import manifest as manifests
from vaultcore.errors import VaultError


@dataclass(frozen=True)
class Kind:
    """`template` is the template's path; `folder` may hold {year} and {month}; `dated` puts the date before the name;
    `index` is the note that lists such notes, with `#Heading` where they go ("" for none).
    """

    name: str
    template: str
    folder: str
    dated: bool = False
    index: str = ""


def settings(root: str) -> tuple[str, dict[str, str]]:
    """Obsidian's template folder, and its formats for {{date}} and {{time}} where it has any."""
    try:
        with open(os.path.join(root, ".obsidian", "templates.json"), encoding="utf-8-sig") as file:
            data: Any = json.load(file)
    except (OSError, ValueError):
        data = {}
    data = data if isinstance(data, dict) else {}
    folder = data.get("folder")
    folder = folder.strip("/") if isinstance(folder, str) and folder.strip("/") else "templates"
    pairs = (("date", data.get("dateFormat")), ("time", data.get("timeFormat")))
    return folder, {name: value for name, value in pairs if isinstance(value, str) and value}


def types(root: str) -> list[Kind]:
    """Every type whose template exists, by name."""
    folder, _ = settings(root)
    manifest = manifests.load(root)
    inbox = manifest.get("mcp_inbox")
    try:
        names = sorted(name[:-3] for name in os.listdir(os.path.join(root, folder)) if name.lower().endswith(".md"))
    except OSError:
        names = []
    found: dict[str, Kind] = {}
    taken: set[str] = set()
    declared: Any = manifest.get("note_types")
    for name, entry in declared.items():
        template = str(entry.get("template", name)) if isinstance(entry, dict) else ""
        if template in names:
            where, index = str(entry.get("folder") or inbox).strip("/"), str(entry.get("index") or "")
            found[name] = Kind(name, f"{folder}/{template}.md", where, bool(entry.get("dated")), index)
            taken.add(template)
    for template in names:
        name = re.sub(r"[^\w]+", "-", template.lower()).strip("-")
        if template not in taken and name and name not in found:
            found[name] = Kind(name, f"{folder}/{template}.md", inbox)
    return [found[name] for name in sorted(found)]


def find(root: str, name: str) -> Kind:
    """The type called `name`, also by its template's name. Raises VaultError with the types there are."""
    from difflib import get_close_matches

    kinds = types(root)
    wanted = name.strip().lower()
    for kind in kinds:
        template = kind.template.rsplit("/", 1)[-1][:-3].lower()
        if wanted in (kind.name, template, template.replace(" ", "-")):
            return kind
    if not kinds:
        raise VaultError("this vault has no templates: add one to the folder that .obsidian/templates.json names")
    near = get_close_matches(wanted, [kind.name for kind in kinds], 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise VaultError(f"there is no note type {name!r}: {hint}there are {', '.join(kind.name for kind in kinds)}")
