"""The profiles there are: one JSON file each, beside this module."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from vaultbridge.profiles.inventory import HERE, NAME
from vaultcore.errors import VaultError

KINDS = ("folders", "templates", "bases", "commands", "agents")


@dataclass(frozen=True)
class Profile:
    """`keep` names what stays of each kind ("*": all of it); `add` are notes and templates the release does not hold
    for everybody (path -> text); `settings` go to the vault's own manifest.
    """

    name: str
    about: str
    keep: dict[str, list[str]]
    add: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


def available() -> list[str]:
    """The names of all profiles, the default first."""
    names = sorted(name[:-5] for name in os.listdir(HERE) if name.endswith(".json") and name != NAME)
    return sorted(names, key=lambda name: name != "engineer")


def find(name: str) -> Profile:
    """The profile called `name`. Raises VaultError with the names there are, or with what is wrong in its file."""
    if name not in available():
        raise VaultError(f"there is no profile {name!r}: choose one of {', '.join(available())}")
    with open(os.path.join(HERE, f"{name}.json"), encoding="utf-8") as file:
        try:
            data: Any = json.load(file)
        except ValueError as error:
            raise VaultError(f"the profile {name} is not valid JSON: {error}") from error
    return read(name, data)


def read(name: str, data: Any) -> Profile:
    """A profile from its data. Raises VaultError with the key that is wrong."""
    if not isinstance(data, dict) or not isinstance(data.get("about"), str):
        raise VaultError(f"the profile {name} must be an object with an `about` text")
    unknown = sorted(set(data) - {"about", "keep", "add", "settings"})
    if unknown:
        raise VaultError(f"the profile {name} has the unknown key {unknown[0]!r}")
    keep: Any = data.get("keep", {})
    if not isinstance(keep, dict) or set(keep) - set(KINDS):
        raise VaultError(f"the profile {name}: keep must name {', '.join(KINDS)}")
    for kind, names in keep.items():
        if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
            raise VaultError(f"the profile {name}: keep.{kind} must be a list of names")
    add: Any = data.get("add", {})
    if not isinstance(add, dict) or not all(isinstance(lines, list) for lines in add.values()):
        raise VaultError(f"the profile {name}: add must map paths to lists of lines")
    settings: Any = data.get("settings", {})
    if not isinstance(settings, dict):
        raise VaultError(f"the profile {name}: settings must be an object")
    texts = {str(path): "\n".join(map(str, lines)) + "\n" for path, lines in add.items()}
    return Profile(name, data["about"], {kind: keep.get(kind, ["*"]) for kind in KINDS}, texts, settings)
