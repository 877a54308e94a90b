"""Which paths an update may touch at all, what lies there now, and what the vault's profile leaves out."""

from __future__ import annotations

import json
import os
from typing import Any

from vaultbridge.profiles import Profile, choice, inventory, shelf
from vaultbridge.updates.releases import Blob, Releases
from vaultcore import manifest
from vaultcore.errors import VaultError
from vaultcore.patterns import Roots, fold

NEVER = frozenset((".git", ".om", ".cache", ".venv", ".trash", fold(manifest.LOCAL)))
LIMIT = 50_000_000


class Claims:
    """What belongs to the template, by the manifest of the target release and by that the vault was made with; and
    what is the user's, by the target's manifest and by the vault's own, settings included.
    """

    def __init__(
        self, root: str, source: Releases, tree: dict[str, Blob], theirs: dict[str, Any], former: dict[str, Any]
    ) -> None:
        self.root = os.path.realpath(root)
        self.tree = {fold(rel) for rel in tree}
        own = manifest.load(root)
        if "user_content_roots" in own.lost:
            problem = own.problems[0].sentence() if own.problems else manifest.LOCAL
            raise VaultError(f"what is yours can't be told from the manifest, so nothing was updated: {problem}")
        self.infrastructure = Roots(strings(theirs.get("infrastructure")))
        self.former = Roots(strings(former.get("infrastructure")))
        self.scaffold = set(strings(theirs.get("scaffold")))
        self.notes = Roots(
            [
                *strings(theirs.get("user_content_roots")), *strings(own.get("user_content_roots")),
                *strings(former.get("scaffold")), *strings(own.get("scaffold")),
                str(own.get("memory_root")), str(own.get("mcp_inbox")),
            ]
        )  # fmt: skip
        self.present = frozenset(tree)
        self.profile = profile(str(own.get("profile")), source, tree)

    def kind(self, rel: str) -> str:
        """`infrastructure`, `scaffold`, or nothing for what an update leaves alone."""
        if fold(rel.split("/", 1)[0]) in NEVER or ".git" in fold(rel).split("/"):
            return ""
        if rel in self.scaffold:
            return "scaffold"
        if self.notes.match(rel):
            return ""
        ours = self.infrastructure.match(rel) or (rel not in self.present and self.former.match(rel))
        return "infrastructure" if ours else ""

    def mine(self, rel: str) -> tuple[bytes | None, str]:
        """(the file's content, or None if there is none; why nothing can be written there, or nothing)."""
        path = os.path.join(self.root, *rel.split("/"))
        if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
            return None, "a link here"
        folder = os.path.dirname(path)
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        if not os.path.isdir(folder):
            return None, f"{os.path.relpath(folder, self.root)} is a file here"
        if not os.path.lexists(path):
            return None, ""
        if not os.path.isfile(path):
            return None, "no plain file here"
        try:
            with open(path, "rb") as file:
                data = file.read(LIMIT + 1)
        except OSError as error:
            return None, f"it can't be read here ({error.strerror})"
        return (None, "larger than 50 MB here") if len(data) > LIMIT else (data, "")

    def behind(self, rel: str) -> str:
        """Where the path leads inside the vault when links are followed: itself, if there are none on the way."""
        path = os.path.realpath(os.path.join(self.root, *rel.split("/")))
        return os.path.relpath(path, self.root).replace(os.sep, "/") if path.startswith(self.root + os.sep) else ""

    def renamed(self, rel: str) -> bool:
        """Whether the release has the file under a name that the disk takes for the same (another case)."""
        return fold(rel) in self.tree

    def wanted(self, rel: str) -> bool:
        """Whether the profile wants a file that is new."""
        listed = rel in inventory.SINGLE or rel.startswith(tuple(place + "/" for place in inventory.PLACES))
        return not listed or self.profile is None or choice.kept(self.profile, rel)


def strings(value: Any) -> list[str]:
    """The texts of a list, or the keys of an object; a manifest of another release may hold anything."""
    return [str(item) for item in value] if isinstance(value, (list, dict)) else []


def profile(name: str, source: Releases, tree: dict[str, Blob]) -> Profile | None:
    """The vault's profile as the target release has it, else as this one has."""
    if not name:
        return None
    blob = tree.get(f"src/vaultbridge/profiles/{name}.json")
    try:
        if blob:
            return shelf.read(name, json.loads(source.read([blob.sha])[blob.sha]))
        return shelf.find(name)
    except (VaultError, ValueError):
        return None
