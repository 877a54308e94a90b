"""Where a write may go: inside the vault, under a name every system can store; and what to say when it may not."""

from __future__ import annotations

import os
import re

from vaultcore import walk
from vaultcore.errors import Refusal, VaultError

_RESERVED = r"(?i)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)"
_FORBIDDEN = r'[<>:"|?*\x00-\x1f\x7f\u2028\u2029]'
_OWN_FOLDERS = (".om", ".cache")


def place(root: str, rel: str, *, follow: bool = False, hidden: bool = False, fresh: bool = True) -> tuple[str, str]:
    """Return the real folder and the name that `rel` means, or refuse.

    `follow`: a link as the last part is followed (inside the vault) instead of being the thing itself.
    `fresh`: parts that do not exist yet must be names that every system can store.
    """
    real = os.path.realpath(root)
    if not os.path.isdir(real):
        raise VaultError(f"The vault {real} is not there: check whether it was moved, renamed or unmounted.")
    if not isinstance(rel, str) or not rel or "\0" in rel:
        raise Refusal("name", "A path inside the vault is needed.", "Give one such as brain/Note.md.")
    try:
        rel.encode()
    except UnicodeEncodeError:
        raise Refusal("name", f"{rel!r} is not valid Unicode.", "Choose another name.") from None
    parts = rel.split("/")
    if rel.startswith(("/", "\\", "~")) or os.path.isabs(rel) or re.match(r"[A-Za-z]:[/\\]", rel) or ".." in parts:
        raise outside(rel)
    if "\\" in rel or "" in parts or "." in parts:
        raise Refusal("name", f"{rel!r} is not a plain path.", "Write folders and the name with single slashes.")
    if not hidden and any(part.startswith(".") for part in parts) and not _own(parts):
        raise outside(rel)
    folder = os.path.realpath(os.path.join(real, *parts[:-1]))
    name = parts[-1]
    if follow and os.path.islink(os.path.join(folder, name)):
        folder, name = os.path.split(os.path.realpath(os.path.join(folder, name)))
    inside = walk.relative(real, os.path.join(folder, name))
    if inside is None:
        raise outside(rel)
    inner = inside.split("/")
    if not hidden and any(part.startswith(".") for part in inner) and not _own(inner):
        raise outside(rel)
    if fresh:
        _check_names(real, inner, rel)
    return folder, name


def _own(parts: list[str]) -> bool:
    return len(parts) > 1 and parts[0] in _OWN_FOLDERS and not any(part.startswith(".") for part in parts[1:])


def _check_names(root: str, parts: list[str], rel: str) -> None:
    path = root
    known = True
    for part in parts:
        path = os.path.join(path, part)
        known = known and os.path.lexists(path)
        if known:
            continue
        why = ""
        size = len(part.encode())
        if size > 255:
            why = f"is {size} bytes long, and most file systems stop at 255"
        elif part[-1] in ". ":
            why = "ends in a dot or blank, which Windows drops"
        elif part[0] == " ":
            why = "starts with a blank"
        elif re.match(_RESERVED, part):
            why = "is a reserved name on Windows"
        elif re.search(_FORBIDDEN, part):
            why = 'holds a character that not every system can store (< > : " | ? * or a control character)'
        if why:
            raise Refusal("name", f"The name {part[:80]!r} {why}.", "Choose another name.", {"path": rel})


def make_folders(root: str, folder: str, rel: str) -> list[str]:
    """Make `folder` and what is missing above it, never the vault itself; return what was made, deepest first."""
    missing: list[str] = []
    path = folder
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    made: list[str] = []
    for path in reversed(missing):
        try:
            os.mkdir(path)
        except FileExistsError:
            if not os.path.isdir(path):
                unmake_folders(made)
                shown = walk.relative(os.path.realpath(root), path) or path
                raise Refusal("exists", f"{shown} is a file, not a folder.", "Choose another folder.") from None
            continue
        except OSError as error:
            unmake_folders(made)
            raise sentence(error, rel, root) from error
        made.insert(0, path)
    return made


def unmake_folders(made: list[str]) -> None:
    for path in made:
        try:
            os.rmdir(path)
        except OSError:
            return  # somebody else has put something there: theirs now


def outside(rel: str) -> Refusal:
    return Refusal("outside", f"{rel!r} is not a place in the vault.", "Give a path inside it, such as brain/Note.md.")


def exists(rel: str) -> Refusal:
    return Refusal("exists", f"{rel} exists already.", "Choose another name.", {"path": rel})


def missing(rel: str) -> Refusal:
    return Refusal("missing", f"{rel} is not there.", "It may have been moved or deleted.", {"path": rel})


def gone(root: str) -> VaultError | None:
    if os.path.isdir(root):
        return None
    return VaultError(f"The vault {root} is not there: check whether it was moved, renamed or unmounted.")


def sentence(error: OSError, rel: str, root: str) -> VaultError:
    import errno

    lost = gone(root)
    if lost is not None:
        return lost
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG):
        return VaultError(f"{rel} was not written: no room is left on the disk. Free some space, then try again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return VaultError(f"{rel} was not written: no permission there. Make the folder writable, then try again.")
    if error.errno == errno.ENAMETOOLONG:
        return Refusal("name", f"The path {rel[:80]!r}… is too long for this file system.", "Choose a shorter one.")
    return VaultError(f"{rel} was not written ({error.strerror or error}). Nothing has changed; try again.")
