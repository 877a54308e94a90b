"""Choose a profile: leave out what it does not keep, add what is its own, remember the choice.

Only files that are byte for byte what was shipped are removed or shortened; what a person has touched stays.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from vaultbridge.profiles import inventory, pruning, shelf
from vaultbridge.profiles.shelf import Profile
from vaultcore import manifest as manifests
from vaultcore import write as writer
from vaultcore.errors import Refusal, VaultError
from vaultcore.links import Resolver

MIRRORS = {
    ".agents/skills": "commands", ".claude/skills": "commands", ".gemini/commands": "commands",
    ".claude/agents": "agents", ".codex/agents": "agents", ".gemini/agents": "agents",
    "templates": "templates", "bases": "bases",
}  # fmt: skip


@dataclass
class Plan:
    """What choosing the profile does: `remove` and `shorten` unchanged shipped files, `add` new ones, `keep` files
    that the profile leaves out and a person has changed, `missing` files of the profile that are not in the vault.
    """

    profile: Profile
    remove: list[str] = field(default_factory=list)
    shorten: dict[str, bytes] = field(default_factory=dict)
    add: dict[str, bytes] = field(default_factory=dict)
    keep: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What is done, for a person."""
        said = [f"{self.profile.name}: {self.profile.about}"]
        if self.remove:
            said.append(f"leaves out {len(self.remove)} shipped files that nobody has changed")
        if self.shorten:
            said.append(f"takes links to them out of {', '.join(sorted(self.shorten))}")
        if self.add:
            said.append(f"adds {', '.join(sorted(self.add))}")
        if self.keep:
            said.append(f"keeps what you have changed: {', '.join(self.keep)}")
        if self.missing:
            shown = ", ".join(self.missing[:5]) + (" …" if len(self.missing) > 5 else "")
            said.append(f"belongs to it and is not here: {shown}; take it from your git history or a release")
        return said


def plan(root: str, name: str) -> Plan:
    """What `apply` would do. Raises VaultError for an unknown profile or a broken local manifest."""
    profile = shelf.find(name)
    made = Plan(profile)
    all_shipped = inventory.shipped()
    out = {rel for rel in all_shipped if not kept(profile, rel)}
    for rel in sorted(out):
        state = inventory.unchanged(root, rel)
        if state:
            made.remove.append(rel)
        elif state is False:
            made.keep.append(rel)
    for rel in sorted(set(all_shipped) - out):
        state = inventory.unchanged(root, rel)
        if state is None and rel.rsplit("/", 1)[-1] != ".gitkeep":
            made.missing.append(rel)
    gone = set(made.remove)
    left = folders(set(all_shipped) - out) | folders(set(profile.add))
    lost = folders(out) - left
    before = Resolver(list(all_shipped))
    for rel in sorted(set(all_shipped) - out):
        if rel.endswith(".md") and not rel.startswith(".") and inventory.unchanged(root, rel):
            with open(os.path.join(root, rel), encoding="utf-8") as file:
                text = file.read()
            shorter = pruning.prune(text, rel, before, gone, {folder + "/" for folder in lost})
            if shorter != text:
                made.shorten[rel] = shorter.encode()
    for rel, text in profile.add.items():
        if not os.path.lexists(os.path.join(root, rel)):
            made.add[rel] = text.encode()
    made.settings = {"profile": name, **profile.settings}
    return made


def apply(root: str, name: str) -> list[str]:
    """Choose the profile; the lines say what was done. Nothing that a person has changed is touched."""
    made = plan(root, name)
    remember(root, made.settings)
    for rel, data in made.add.items():
        try:
            writer.create(root, rel, data)
        except Refusal as refusal:
            if refusal.code != "exists":
                raise
    for rel, data in made.shorten.items():
        with open(os.path.join(root, rel), "rb") as file:
            seen = writer.revision(file.read())
        writer.replace(root, rel, data, seen)
    for rel in made.remove:
        writer.remove(root, rel, hidden=True)
    for rel in made.remove:
        empty(root, os.path.dirname(rel))
    return made.lines()


def kept(profile: Profile, rel: str) -> bool:
    """Whether the profile keeps the shipped file `rel`."""
    for place, kind in MIRRORS.items():
        if rel.startswith(place + "/"):
            name = rel[len(place) + 1 :].split("/")[0]
            name = name.rsplit(".", 1)[0] if "." in name else name
            if kind == "commands" and not name.startswith("om-"):
                return True  # skills that teach are for everybody
            return "*" in profile.keep[kind] or name in profile.keep[kind]
    folder = os.path.dirname(rel)
    if not folder or "*" in profile.keep["folders"]:
        return True
    wanted = [name.strip("/") for name in profile.keep["folders"]]
    inside = any(folder == name or folder.startswith(name + "/") for name in wanted)
    above = any(name.startswith(folder + "/") for name in wanted)
    return inside or above


def folders(rels: set[str]) -> set[str]:
    """Every folder that holds one of `rels`, at any depth."""
    found: set[str] = set()
    for rel in rels:
        folder = os.path.dirname(rel)
        while folder:
            found.add(folder)
            folder = os.path.dirname(folder)
    return found


def empty(root: str, folder: str) -> None:
    """Remove a folder that nothing is left in, and those above it."""
    while folder:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:
            return
        folder = os.path.dirname(folder)


def remember(root: str, settings: dict[str, Any]) -> None:
    """Put the settings into the vault's own manifest, every other key as it was."""
    path = os.path.join(root, manifests.LOCAL)
    before: bytes | None = None
    data: Any = {}
    if os.path.exists(path):
        with open(path, "rb") as file:
            before = file.read()
        try:
            data = json.loads(before.decode("utf-8-sig"))
        except ValueError as error:
            raise VaultError(f"{manifests.LOCAL} is not valid JSON ({error}): mend it, then choose again") from error
        if not isinstance(data, dict):
            raise VaultError(f"{manifests.LOCAL} must hold an object: mend it, then choose again")
    wanted = {**data, **settings}
    if wanted == data:
        return
    text = (json.dumps(wanted, indent=2, ensure_ascii=False) + "\n").encode()
    if before is None:
        writer.create(root, manifests.LOCAL, text)
    else:
        writer.replace(root, manifests.LOCAL, text, writer.revision(before))
