"""Where a work record goes: the folder that was named, the project's own folder, or the inbox. Never a guess."""

from __future__ import annotations

import os
import re

from vaultcore import walk
from vaultcore.memory import declarations, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.exposure import Policy
    from vaultcore.manifest import Manifest

HOMES = ("projects", "work/projects", "work/active")  # folders that hold one folder for each project
NAMED, OWN, INBOX = "the folder you named", "the project's own folder", "the inbox"


class Place:
    """`folder` (vault-relative, "" for the vault itself), why it was chosen, and what the writer should know."""

    __slots__ = ("folder", "notes", "why")

    def __init__(self, folder: str, why: str, notes: list[str]) -> None:
        self.folder, self.why, self.notes = folder, why, notes


def choose(manifest: Manifest, policy: Policy, folder: str, project: str | None) -> Place:
    """The place for a record of `project` (None: nobody knows whose it is); Refusal for a folder that cannot be it."""
    if folder:
        return Place(_named(manifest.root, policy, folder), NAMED, [])
    notes: list[str] = []
    if project:
        found = own(manifest, policy, project)
        if len(found) == 1:
            return Place(found[0], OWN, notes)
        if found:
            notes.append(f"{len(found)} folders bear the project's name ({', '.join(found[:3])}): name one as folder.")
    inbox = str(manifest.get("mcp_inbox"))
    real = _real(manifest.root, inbox)
    if real is None:
        raise declarations.refuse("outside", f"The inbox {inbox} leads outside the vault.", "Name an exposed folder.")
    if not policy.admits(_sample(real)):
        notes.append(f"{inbox} is not exposed (mcp_exposed_roots), so no other session will find this there.")
    return Place(real, INBOX, notes)


def own(manifest: Manifest, policy: Policy, project: str) -> list[str]:
    """The folders that are `project`'s by their exact name, as spelled on disk; never a file, a link, a prefix."""
    found = []
    for home in HOMES:
        path = walk.contained(manifest.root, home)
        try:
            with os.scandir(path or "") as entries:
                names = sorted(e.name for e in entries if path and e.is_dir(follow_symlinks=False))
        except OSError:
            continue
        for name in names:
            if not name.startswith(".") and record.name(name) == project and policy.admits(_sample(f"{home}/{name}")):
                found.append(f"{home}/{name}")
    return found


def _named(root: str, policy: Policy, given: str) -> str:
    shown = record.one_line(given)[:120]
    folder = given.strip("/")
    parts = folder.split("/")
    if (
        not folder
        or "\\" in folder
        or "\0" in folder
        or folder != record.one_line(folder)
        or any(part in ("", ".", "..") or part.startswith(".") for part in parts)
        or re.match(r"[A-Za-z]:", folder)
        or folder.startswith("~")
    ):
        raise declarations.refuse(
            "outside", f"folder {shown!r} is no plain path inside the vault.", "Name one such as work/active."
        )
    if not policy.admits(_sample(folder)):
        raise declarations.refuse("not-exposed", f"folder {shown!r} lies in no exposed root.", _roots(policy))
    real = _real(root, folder)
    if real is None:
        raise declarations.refuse("outside", f"folder {shown!r} leads outside the vault.", "Name a folder inside it.")
    if not policy.admits(_sample(real)):
        raise declarations.refuse("not-exposed", f"folder {shown!r} leads out of the exposed roots.", _roots(policy))
    return real


def _real(root: str, folder: str) -> str | None:
    """`folder` with its links resolved, vault-relative and spelled as on disk as far as it exists; None outside."""
    real = os.path.realpath(root)
    path = os.path.realpath(os.path.join(real, *folder.split("/")))
    inside = walk.relative(real, path)
    if inside is None or any(part.startswith(".") for part in inside.split("/")):
        return None
    upper = path
    while not os.path.lexists(upper):
        upper = os.path.dirname(upper)
    if not os.path.isdir(upper):
        raise declarations.refuse("folder", f"{record.one_line(folder)[:120]!r} is a file.", "Name a folder.")
    known = walk.relative(real, upper) or ""
    rest = inside[len(known) :].strip("/")
    return "/".join(part for part in (walk.spelled(real, known) if known else "", rest) if part)


def _sample(folder: str) -> str:
    return f"{folder}/record.md" if folder else "record.md"


def _roots(policy: Policy) -> str:
    return (
        "Exposed are: "
        + ", ".join(policy.roots[:12])
        + "; without folder it goes to your project's folder or the inbox."
    )
