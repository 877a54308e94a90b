"""Where the releases of a vault's template come from."""

from __future__ import annotations

import os
import re

from vaultbridge.updates.releases import GitError, Releases, hidden, run
from vaultcore import git, manifest
from vaultcore.errors import VaultError

HINT = "name the template with --from URL, or set update.source in " + manifest.LOCAL
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@?[\w.-]*:(?![\\/])")


def releases(root: str, given: str | None) -> Releases:
    """The fetched releases: of `given`, of the manifest's `update.source`, else of the first remote that has any.

    VaultError says in one sentence why there are none.
    """
    if given:
        return fetched(root, address(given, os.getcwd(), "--from"))
    held = str(manifest.load(root).get("update.source"))
    if held:
        return fetched(root, address(held, root, "update.source"))
    failures = []
    found = remotes(root)
    for name, url in found:
        try:
            return fetched(root, address(url, root, name))
        except VaultError as error:
            failures.append(str(error))
    if failures:
        raise VaultError(failures[0] if len(failures) == 1 else f"{failures[0]} ({len(failures)} remotes were tried)")
    raise VaultError(f"this vault has no remote to take releases from: {HINT}")


def fetched(root: str, source: str) -> Releases:
    """The releases at `source`, which must have some."""
    found = Releases(root, source)
    try:
        found.fetch()
    except GitError as error:
        raise VaultError(
            f"the releases at {hidden(source)} could not be fetched ({error}): check the network and the address, or "
            + HINT
        ) from error
    if not found.versions():
        raise VaultError(f"{hidden(source)} has no release tags (vX.Y.Z): {HINT}")
    return found


def address(given: str, base: str, what: str) -> str:
    """A URL as it is, a folder as an absolute path (relative ones start at `base`)."""
    path = os.path.normpath(os.path.join(base, os.path.expanduser(given)))
    if os.path.exists(path):
        return os.path.realpath(path)
    if given.startswith("-") or not ADDRESS.match(given):
        raise VaultError(f"{what} names {hidden(given)!r}, which is neither a folder nor a URL: {HINT}")
    return given


def remotes(root: str) -> list[tuple[str, str]]:
    """(name, URL) of the vault's own remotes: `upstream` first, as a person's own copy is `origin` beside it."""
    if git.toplevel(root) != os.path.realpath(root):
        return []
    try:
        lines = run(root, "config", "--get-regexp", r"^remote\..*\.url$").decode("utf-8", "replace").splitlines()
    except GitError:
        return []
    found = [(key[len("remote.") : -len(".url")], url) for key, _, url in (line.partition(" ") for line in lines)]
    first = ["upstream", "origin"]
    return sorted(found, key=lambda pair: first.index(pair[0]) if pair[0] in first else len(first))
