"""The way back from an earlier profile: what it left out is found in git's history, by the hash of what was shipped."""

from __future__ import annotations

import os

from vaultbridge.profiles import inventory, shelf
from vaultbridge.profiles.shelf import Profile
from vaultcore import git
from vaultcore import manifest as manifests


def former(root: str, name: str) -> Profile | None:
    """The profile the vault has now, if it is another one than `name`."""
    held = str(manifests.load(root).get("profile"))
    return shelf.find(held) if held != name and held in shelf.available() else None


def shipped_content(root: str, rel: str) -> bytes | None:
    """The file as it was shipped, from git's history; None where that does not hold it."""
    wanted = inventory.shipped().get(rel)
    if wanted == inventory.digest(b""):
        return b""
    for data in git.versions(root, rel):
        if inventory.digest(data) == wanted:
            return data
    return None


def added(root: str, profile: Profile) -> list[str]:
    """The files that the profile brought and nobody has changed."""
    found = []
    for rel, text in profile.add.items():
        try:
            with open(os.path.join(root, rel), "rb") as file:
                if file.read().replace(b"\r\n", b"\n") == text.encode():
                    found.append(rel)
        except OSError:
            continue
    return found
