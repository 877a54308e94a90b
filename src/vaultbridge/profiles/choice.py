"""Choose a profile: leave out what it does not keep, add what is its own, remember the choice.

Only files that are byte for byte what was shipped are removed or shortened; what a person has touched stays.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from vaultbridge.profiles import inventory, past, pruning, shelf
from vaultbridge.profiles.shelf import Profile
from vaultcore import manifest as manifests
from vaultcore import write as writer
from vaultcore.errors import Refusal, VaultError
from vaultcore.links import Resolver
from vaultcore.numerals import counted

MIRRORS = {
    ".agents/skills": "commands", ".claude/skills": "commands", ".gemini/commands": "commands",
    ".claude/agents": "agents", ".codex/agents": "agents", ".gemini/agents": "agents",
    "templates": "templates", "bases": "bases",
}  # fmt: skip


@dataclass
class Plan:
    """What choosing the profile does: `remove` and `shorten` unchanged shipped files, `add` new ones, `keep` files
    that the profile leaves out and a person has changed, `restore` what the profile before had left out, `missing`
    files of the profile that are not in the vault and could not be found again.
    """

    profile: Profile
    remove: list[str] = field(default_factory=list)
    shorten: dict[str, bytes] = field(default_factory=dict)
    add: dict[str, bytes] = field(default_factory=dict)
    restore: dict[str, bytes] = field(default_factory=dict)
    keep: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    former: Profile | None = None

    def lines(self) -> list[str]:
        """What is done, for a person."""
        said = [f"{self.profile.name}: {self.profile.about}"]
        if self.remove:
            said.append(f"leaves out {counted(len(self.remove), 'file')} that nobody has changed")
        if self.restore:
            said.append(
                f"brings back {counted(len(self.restore), 'file')} that the profile {self.former_name()} had left out"
            )
        if self.shorten:
            said.append(f"makes the links fit in {', '.join(sorted(self.shorten))}")
        if self.add:
            said.append(f"adds {', '.join(sorted(self.add))}")
        if self.keep:
            said.append(f"keeps what you have changed: {', '.join(self.keep)}")
        if self.missing:
            shown = ", ".join(self.missing[:5]) + (" …" if len(self.missing) > 5 else "")
            said.append(f"belongs to it and is not here: {shown}; take it from your git history or a release")
        return said

    def former_name(self) -> str:
        return self.former.name if self.former else ""


def plan(root: str, name: str) -> Plan:
    """What `apply` would do. Raises VaultError for an unknown profile or a broken local manifest."""
    profile = shelf.find(name)
    before = past.former(root, name)
    made = Plan(profile, former=before, settings={"profile": name, **profile.settings})
    states = {rel: inventory.unchanged(root, rel) for rel in inventory.shipped()}
    for rel, state in sorted(states.items()):
        if not kept(profile, rel):
            if state is not None:
                (made.remove if state else made.keep).append(rel)
        elif state is None:
            data = past.shipped_content(root, rel) if before and not kept(before, rel) else None
            if data is not None:
                made.restore[rel] = data
            elif rel.rsplit("/", 1)[-1] != ".gitkeep":
                made.missing.append(rel)
    for rel, state in sorted(states.items()):
        if kept(profile, rel) and state is not None and rel.endswith(".md") and not rel.startswith("."):
            fitted = fit(root, rel, state, profile, before, states)
            if fitted is not None:
                made.shorten[rel] = fitted
    for rel, data in list(made.restore.items()):
        if rel.endswith(".md") and not rel.startswith("."):
            made.restore[rel] = pruned(profile, data.decode(), rel, states).encode()
    if before:
        made.remove += [rel for rel in past.added(root, before) if rel not in profile.add]
    made.add = {rel: text.encode() for rel, text in profile.add.items() if not os.path.lexists(os.path.join(root, rel))}
    return made


def fit(
    root: str, rel: str, unchanged: bool, profile: Profile, before: Profile | None, states: dict[str, bool | None]
) -> bytes | None:
    """The note with the links that fit the profile; None when it is right already, or somebody has changed it."""
    with open(os.path.join(root, rel), "rb") as file:
        now = file.read()
    shipped = now if unchanged else past.shipped_content(root, rel) if before else None
    if shipped is None:
        return None
    text = shipped.decode("utf-8").replace("\r\n", "\n")
    if not unchanged and before and pruned(before, text, rel, states).encode() != now.replace(b"\r\n", b"\n"):
        return None
    wanted = pruned(profile, text, rel, states)
    return None if wanted.encode() == now.replace(b"\r\n", b"\n") else wanted.encode()


def pruned(profile: Profile, text: str, rel: str, states: dict[str, bool | None]) -> str:
    """A shipped note without what leads to the parts that the profile leaves out; what a person has changed stays."""
    out = {other for other in states if not kept(profile, other)}
    gone = {other for other in out if states[other] is not False}
    left = folders(set(states) - out) | folders(set(profile.add))
    lost = {folder + "/" for folder in folders(out) - left}
    return pruning.prune(text, rel, Resolver(list(states)), gone, lost)


def apply(root: str, name: str) -> list[str]:
    """Choose the profile; the lines say what was done. Nothing that a person has changed is touched."""
    made = plan(root, name)
    remember(root, made.settings, made.former.settings if made.former else {})
    for rel, data in {**made.restore, **made.add}.items():
        try:
            writer.create(root, rel, data, hidden=True)
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


def remember(root: str, settings: dict[str, Any], former: dict[str, Any]) -> None:
    """Put the settings into the vault's own manifest, in place of the former profile's; other keys as they were."""
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
    wanted = {key: value for key, value in data.items() if key not in former or value != former[key]}
    wanted.update(settings)
    if wanted == data:
        return
    text = (json.dumps(wanted, indent=2, ensure_ascii=False) + "\n").encode()
    if before is None:
        writer.create(root, manifests.LOCAL, text)
    else:
        writer.replace(root, manifests.LOCAL, text, writer.revision(before))
