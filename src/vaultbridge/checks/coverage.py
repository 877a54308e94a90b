"""The manifest: readable, and every file of the vault belongs to somebody (the template, a scaffold, the user)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from vaultbridge.checks.finding import Finding
from vaultcore import git
from vaultcore import manifest as manifests

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot

TEMPLATE = "om-vault"  # only its updates ask whose a file is: an adopted vault belongs to its owner altogether
OWN = re.compile(r"(?:.*/)?(?:\.git|\.cache|\.venv|\.trash|\.om|node_modules|__pycache__|\.DS_Store)(?:/.*)?")
MOST = 20_000


def check(vault: Snapshot) -> Iterator[Finding]:
    """What is wrong with the manifest, and which files it leaves without an owner."""
    for problem in vault.manifest.problems:
        yield Finding(problem.path, problem.line, "manifest", problem.message, problem.fix, "error", problem.column)
    if vault.manifest.get("template") != TEMPLATE or not vault.manifest.get("user_content_roots"):
        return
    homeless = uncovered(vault.manifest, files(vault.root))
    seen: set[str] = set()
    for rel in homeless:
        top = rel.split("/")[0]
        if top in seen or top in (manifests.LOCAL,):
            continue
        seen.add(top)
        what = f"the folder {top}/" if "/" in rel else "this file"
        message = f"the manifest does not say whose {what} is, so no update spares it and no repository sees it"
        fix = f"add it to user_content_roots in {manifests.LOCAL}"
        yield Finding(rel, 0, "manifest-coverage", message, fix, "note")


def uncovered(manifest: manifests.Manifest, rels: Iterable[str]) -> list[str]:
    """Those of `rels` that neither infrastructure, nor scaffold, nor a user's root names."""
    patterns = [pattern(str(entry)) for key in ("infrastructure", "user_content_roots") for entry in manifest.get(key)]
    scaffold: Any = manifest.get("scaffold")
    known = {str(name) for name in scaffold}
    own = (manifests.LOCAL,)
    return [rel for rel in rels if rel not in known and rel not in own and not any(p.fullmatch(rel) for p in patterns)]


def pattern(glob: str) -> re.Pattern[str]:
    """A manifest's glob: `**` crosses folders, `*` does not, a plain folder means everything in it."""
    glob = glob.strip().removeprefix("./")
    if glob.endswith("/"):
        glob += "**"
    parts = re.split(r"(\*\*/?|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    text = "".join(meaning.get(part, re.escape(part)) for part in parts)
    return re.compile(text + ("" if re.search(r"[*?]", glob) else "(?:/.*)?"), re.DOTALL)


def files(root: str) -> list[str]:
    """The vault's files as git sees them; without git all but what no vault owns. At most 20,000."""
    listed = git.files(root)
    if listed is not None:
        return [rel for rel in listed if not OWN.fullmatch(rel)][:MOST]
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        prefix = os.path.relpath(folder, root).replace(os.sep, "/") + "/"
        prefix = "" if prefix == "./" else prefix
        folders[:] = sorted(name for name in folders if not OWN.fullmatch(prefix + name))
        found.extend(prefix + name for name in names if not OWN.fullmatch(prefix + name))
        if len(found) > MOST:
            break
    return sorted(found)[:MOST]
