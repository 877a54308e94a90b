"""What an update does to each path: what a person changed stays or is merged, the rest follows the release."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from vaultbridge.updates import merging, releases, sources
from vaultbridge.updates.claims import Claims
from vaultbridge.updates.origin import Origin, fingerprinted
from vaultbridge.updates.releases import Blob, Releases
from vaultcore import manifest, write
from vaultcore.errors import VaultError

WRITES = ("create", "replace", "merge", "remove")
ASIDE = ".cache/update"


@dataclass
class Step:
    """One path. `action`: create, replace, merge, remove; conflict (both changed: the vault's own stays, `copy` holds
    what to look at); kept (the release no longer has it, but it was edited); away (deleted here, and it stays so).

    `data` is what is written, to the path or to `copy`; `seen` the revision the plan is about, None for no file.
    """

    path: str
    action: str
    why: str
    data: bytes = b""
    seen: str | None = None
    copy: str = ""
    executable: bool = False


@dataclass
class Plan:
    """From one version to another. `news` are the paths that differ between the two releases, changed here or not."""

    root: str
    source: str
    before: str
    after: str
    steps: list[Step] = field(default_factory=list)
    news: list[str] = field(default_factory=list)

    def of(self, *actions: str) -> list[Step]:
        return [step for step in self.steps if step.action in actions]


def plan(root: str, given: str | None = None, wanted: str | None = None) -> Plan:
    """Compare the vault with the release `wanted` (default: the newest) at `given` (default: where it came from).

    Fetches the release tags into the cache and writes nothing else. VaultError: one sentence why it can't be done.
    """
    mine = own_manifest(root)
    source = sources.releases(root, given)
    version = releases.parse(str(mine.get("version", "")))
    target = choose(source, wanted, version)
    name = releases.text(target)
    tree = source.tree("v" + name)
    theirs = its_manifest(source, tree, name)
    if str(theirs.get("template")) != str(mine.get("template")):
        raise VaultError(
            f"{releases.hidden(source.source)} holds the template {theirs.get('template')!r} and this vault is made"
            f" from {mine.get('template')!r}: {sources.HINT}"
        )
    if version is None:
        version = fingerprinted(root, theirs.get("version_fingerprints"))
    origin = Origin(root, source, version)
    contents = source.read([manifest_blob.sha] if (manifest_blob := origin.blob(manifest.NAME)) else [])
    former = merging.parsed(contents[manifest_blob.sha]) if manifest_blob else {}
    made = Plan(root, source.source, releases.text(version) if version else "an unknown version", name)
    Comparison(made, source, origin, tree, Claims(root, source, tree, theirs, former)).run()
    return made


def own_manifest(root: str) -> dict[str, Any]:
    """The vault's manifest as it lies there. VaultError when it is missing, broken, or of a vault that was adopted."""
    from vaultbridge.bridge import CODE

    path = os.path.join(root, manifest.NAME)
    try:
        with open(path, "rb") as file:
            found = merging.parsed(file.read())
    except FileNotFoundError:
        raise VaultError(f"{root} is no vault: it has no {manifest.NAME}, so there is nothing to update") from None
    except OSError as error:
        raise VaultError(f"{path} can't be read ({error.strerror}): make it readable, then try again") from error
    except ValueError as error:
        raise VaultError(f"{path} is not valid JSON ({error}): mend it, then update") from error
    if found.get("template") in (None, "", "adopted"):
        door = os.path.join(CODE, "om.py")
        raise VaultError(
            f"{root} was not made from a template, so an update has nothing to change in it: to update om itself, run"
            f" `python3 {door} update --vault {CODE}`"
        )
    return found


def its_manifest(source: Releases, tree: dict[str, Blob], name: str) -> dict[str, Any]:
    blob = tree.get(manifest.NAME)
    try:
        return merging.parsed(source.read([blob.sha])[blob.sha] if blob else b"")
    except ValueError as error:
        raise VaultError(
            f"the release {name} at {releases.hidden(source.source)} has no usable {manifest.NAME}: {sources.HINT}"
        ) from error


def choose(source: Releases, wanted: str | None, version: tuple[int, int, int] | None) -> tuple[int, int, int]:
    """The release to go to. VaultError for one that is not there, and for a way back that nobody asked for."""
    every = source.versions()
    if wanted is None:
        newest = every[-1]
        if version and newest < version:
            raise VaultError(
                f"the newest release at {releases.hidden(source.source)} is {releases.text(newest)} and this vault is"
                f" {releases.text(version)} already: go back with --to {releases.text(newest)} if you mean it"
            )
        return newest
    target = releases.parse(wanted)
    if target not in every or target is None:
        shown = ", ".join(releases.text(one) for one in every[-8:])
        raise VaultError(f"there is no release {wanted!r} at {releases.hidden(source.source)}: choose one of {shown}")
    return target


class Comparison:
    """Mine, base and theirs of every path, and the steps that follow from them."""

    def __init__(self, made: Plan, source: Releases, origin: Origin, tree: dict[str, Blob], claims: Claims) -> None:
        self.plan = made
        self.origin = origin
        self.tree = tree
        self.claims = claims
        paths = sorted(rel for rel in {*tree, *origin.had} if claims.kind(rel) and rel != manifest.NAME)
        # Without a certain base even a file that both releases have alike may be an older one here.
        self.paths = [rel for rel in paths if not (origin.ref and self.unmoved(rel))]
        self.plan.news = [rel for rel in paths if not self.unmoved(rel)]
        wanted = [manifest.NAME, *self.paths]
        blobs = [tree[rel] for rel in wanted if rel in tree and tree[rel].plain]
        blobs += [blob for rel in wanted for blob in (*origin.blobs(rel), origin.blob(rel)) if blob]
        self.contents = source.read([blob.sha for blob in blobs])

    def unmoved(self, rel: str) -> bool:
        """Whether the release has the file exactly as this vault got it: whatever a person did to it is right."""
        before, after = self.origin.blob(rel), self.tree.get(rel)
        return before is not None and after is not None and before.sha == after.sha

    def run(self) -> None:
        for rel in self.paths:
            self.path(rel)
        self.settings()

    def add(self, rel: str, action: str, why: str, data: bytes = b"", mine: bytes | None = None) -> None:
        step = Step(rel, action, why, data, None if mine is None else write.revision(mine))
        step.executable = action in WRITES and rel in self.tree and self.tree[rel].mode == "100755"
        if action == "conflict":
            step.copy = f"{ASIDE}/{self.plan.after}/{rel}"
        self.plan.steps.append(step)

    def path(self, rel: str) -> None:
        scaffold = self.claims.kind(rel) == "scaffold"
        mine, obstacle = self.claims.mine(rel)
        if rel not in self.tree:
            self.dropped(rel, mine, bool(obstacle), scaffold)
            return
        if not self.tree[rel].plain:
            self.add(
                rel, "kept", "the release has a link there, or a file over 50 MB, which an update does not carry over"
            )
            return
        theirs = self.contents[self.tree[rel].sha]
        if obstacle:
            if not scaffold and not self.mirrored(rel):
                self.add(rel, "conflict", obstacle, theirs)
        elif mine is None:
            self.absent(rel, theirs)
        elif merging.same(mine, theirs):
            return
        elif self.origin.untouched(rel, mine, self.contents):
            self.add(rel, "replace", "nobody has changed it", theirs, mine)
        elif not scaffold:  # a scaffold note that somebody has written in is theirs altogether
            self.both(rel, mine, theirs)

    def mirrored(self, rel: str) -> bool:
        """Whether the path is a link to one that the release has with the same content: that one is updated."""
        other = self.tree.get(self.claims.behind(rel))
        return other is not None and other.sha == self.tree[rel].sha

    def dropped(self, rel: str, mine: bytes | None, obstacle: bool, scaffold: bool) -> None:
        """The release no longer has the file."""
        if scaffold or (mine is None and not obstacle):
            return
        if obstacle and self.claims.behind(rel) != rel:
            return  # behind a link: what lies there has a path of its own
        if mine is not None and self.origin.untouched(rel, mine, self.contents):
            if not self.claims.renamed(rel):
                self.add(rel, "remove", "the release no longer has it, and nobody has changed it", mine=mine)
        else:
            self.add(rel, "kept", "the release no longer has it, and it was changed here: yours now")

    def absent(self, rel: str, theirs: bytes) -> None:
        if rel in self.origin.had:
            self.add(rel, "away", "deleted here")
        elif self.claims.wanted(rel):
            self.add(rel, "create", "new", theirs)
        else:
            self.add(rel, "away", "the profile leaves it out")

    def both(self, rel: str, mine: bytes, theirs: bytes) -> None:
        """Changed here and in the release."""
        blob = self.origin.blob(rel)
        if blob is None:
            self.add(rel, "conflict", "here and in the release, with nothing in common to merge from", theirs, mine)
            return
        base = self.contents[blob.sha]
        if merging.is_binary(mine, base, theirs):
            self.add(rel, "conflict", "changed here and in the release, and no text", theirs, mine)
            return
        names = ("yours", self.plan.before, self.plan.after)
        merged, clean = merging.texts(mine, base, theirs, names)
        if not clean:
            self.add(rel, "conflict", "the same lines were changed here and in the release", merged, mine)
        elif merged == mine:
            return
        elif merging.broken(rel, merged) and not merging.broken(rel, mine):
            self.add(rel, "conflict", "the changes of both together can't be read by a program", merged, mine)
        else:
            self.add(rel, "merge", "changed here and in the release, in different lines", merged, mine)

    def settings(self) -> None:
        """The manifest, key by key, and last of all: while it names the old version, the update can be run again."""
        rel = manifest.NAME
        mine, obstacle = self.claims.mine(rel)
        if not self.tree[rel].plain:
            raise VaultError(f"the release {self.plan.after} has no usable {rel}: {sources.HINT}")
        theirs = self.contents[self.tree[rel].sha]
        if mine is None or obstacle:
            raise VaultError(f"{rel} can't be replaced ({obstacle or 'it is gone'}): make it a plain file again")
        blob = self.origin.blob(rel)
        base = self.contents[blob.sha] if blob else None
        if self.origin.untouched(rel, mine, self.contents):
            base = mine
        merged, wrong = merging.manifests(mine, base, theirs)
        if wrong:
            keys = ", ".join(wrong)
            self.add(rel, "conflict", f"changed here and in the release, yours was kept: {keys}", theirs, mine)
        if not merging.same(mine, merged):
            action = "replace" if merging.same(merged, theirs) else "merge"
            self.add(rel, action, "the version, and what the release declares", merged, mine)
