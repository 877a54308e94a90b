"""What a vault's files were before a person changed them: the state of the template that the vault was made from."""

from __future__ import annotations

import json
import os
from typing import Any

from vaultbridge.profiles import inventory
from vaultbridge.updates import merging, releases
from vaultbridge.updates.releases import Blob, Releases
from vaultcore import manifest

CODE = os.path.join(".cache", "update", "code")
"""Where a copy of the code lies while an update replaces it; om.py goes on with it after a crash."""


class Origin:
    """The base of the comparison.

    `ref` is the commit or tag the vault was made from, None when no history holds it: then a file counts as
    untouched while it is what any release shipped under its name, or has the hash in shipped.json.
    """

    def __init__(self, root: str, source: Releases, version: tuple[int, int, int] | None) -> None:
        self.source = source
        self.ref = find(root, source, version)
        self.hashes: dict[str, str] = {} if self.ref else shipped(root)
        every = source.versions()
        earlier = [one for one in every if version is None or one <= version]
        self.others = [] if self.ref else [source.tree("v" + releases.text(one)) for one in every]
        # An older release is a fair base for a merge by lines: both sides come from it.
        nearest = self.ref or ("v" + releases.text(earlier[-1]) if earlier and version else None)
        self.files: dict[str, Blob] = source.tree(nearest) if nearest else {}
        self.had: set[str] = set(self.files) | set(self.hashes)
        for one, tree in zip(every, self.others, strict=False):
            if one in earlier:
                self.had |= set(tree)

    def blob(self, rel: str) -> Blob | None:
        """The file as the vault got it; None where that is not known, or there was none."""
        found = self.files.get(rel)
        return found if found and found.plain else None

    def blobs(self, rel: str) -> list[Blob]:
        """All contents of which a file counts as untouched."""
        if self.ref:
            found = self.blob(rel)
            return [found] if found else []
        return list({tree[rel].sha: tree[rel] for tree in self.others if rel in tree and tree[rel].plain}.values())

    def untouched(self, rel: str, data: bytes, contents: dict[str, bytes]) -> bool:
        """Whether nobody has changed the file; `contents` holds those of `blobs`."""
        if rel in self.hashes and inventory.digest(data) == self.hashes[rel]:
            return True
        return any(merging.same(data, contents[blob.sha]) for blob in self.blobs(rel))


def find(root: str, source: Releases, version: tuple[int, int, int] | None) -> str | None:
    """The newest state of the template in the vault's own history if that is its version or later, else its tag."""
    tag = "v" + releases.text(version) if version else None
    tagged = version in source.versions()
    commit = source.known(releases.history(root))
    if commit:
        if tagged and tag and source.follows(commit, tag):
            return commit
        if not tagged and version_at(source, commit) == version:
            return commit
    return tag if tagged else None


def version_at(source: Releases, ref: str) -> tuple[int, int, int] | None:
    """The version that the manifest of a state of the template names."""
    tree = source.tree(ref)
    if manifest.NAME not in tree:
        return None
    sha = tree[manifest.NAME].sha
    try:
        return releases.parse(str(merging.parsed(source.read([sha])[sha]).get("version", "")))
    except ValueError:
        return None


def shipped(root: str) -> dict[str, str]:
    """Path -> hash of what the vault's release shipped, by its own inventory; that of the copy after a crash."""
    for place in (os.path.join(CODE, "src"), "src"):
        path = os.path.join(root, place, "vaultbridge", "profiles", inventory.NAME)
        try:
            with open(path, encoding="utf-8") as file:
                found: Any = json.load(file)
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            return {str(rel): str(digest) for rel, digest in found.items()}
    return {}


def fingerprinted(root: str, known: Any) -> tuple[int, int, int] | None:
    """The newest version whose fingerprint fits the vault: files that exist, and files that are missing in it."""
    fitting = []
    for name, marks in known.items() if isinstance(known, dict) else ():
        version = releases.parse(str(name))
        if version is None or not isinstance(marks, dict):
            continue
        there, gone = ([str(rel) for rel in marks.get(key) or []] for key in ("exists", "missing"))
        present = [os.path.lexists(os.path.join(root, rel)) for rel in there]
        if present and all(present) and not any(os.path.lexists(os.path.join(root, rel)) for rel in gone):
            fitting.append(version)
    return max(fitting, default=None)
