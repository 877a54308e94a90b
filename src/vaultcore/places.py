"""Where derived things lie: one private folder per vault, outside the vault whenever there is a home."""

from __future__ import annotations

import os
import re
import sys

from vaultcore.errors import VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Path segments that sync tools put between the disk and a vault; compared without case.
_SYNCED = (
    r"(?i)/(?:mobile documents|cloudstorage|icloud ?drive|dropbox(?: \([^/]*\))?|onedrive(?: ?- ?[^/]*)?|google ?drive|"
    r"my drive|nextcloud|owncloud|pcloud ?drive|seafile|resilio sync|syncthing|box(?: sync)?|proton ?drive)(?:/|$)"
)
_MARKERS = (".stfolder", ".dropbox", ".dropbox.cache", ".owncloudsync.log", ".sync_folder")


def cache(root: str) -> str:
    """Return the folder for what can be rebuilt from the vault at `root`: indexes, locks, session state.

    Created with mode 0700 when missing; the same folder whichever way a vault is reached (links are resolved).
    Order: $OM_CACHE, the user's cache folder, `<root>/.cache/om`, the temporary folder. VaultError if none can
    be written.
    """
    real = os.path.realpath(root)
    name = _name(real)
    for folder in _candidates(real, name):
        if _usable(folder, real):
            return folder
    raise VaultError(
        f"No folder can be written for the cache of {real}: set OM_CACHE to a folder that you can write to."
    )


def is_synced(root: str) -> bool:
    """Tell whether the vault lies in a folder that a sync tool copies to other machines."""
    real = os.path.realpath(root).replace("\\", "/")
    if re.search(_SYNCED, real):
        return True
    folder = real
    while True:
        if any(os.path.lexists(os.path.join(folder, marker)) for marker in _MARKERS):
            return True
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent


def home() -> str | None:
    """Return the user's home folder, or None where there is none."""
    found = os.path.expanduser("~")
    return found if os.path.isabs(found) and found != os.sep else None


def _candidates(real: str, name: str) -> Iterator[str]:
    chosen = os.environ.get("OM_CACHE", "")
    if chosen:
        yield os.path.join(os.path.abspath(chosen), name)
    base = _user_cache()
    if base:
        yield os.path.join(base, "om-vault", name)
    if os.path.isdir(real):
        yield os.path.join(real, ".cache", "om")
    owner = str(os.getuid()) if hasattr(os, "getuid") else "user"
    for temp in (os.environ.get("TMPDIR"), os.environ.get("TEMP"), "/tmp", "/var/tmp"):
        if temp and os.path.isabs(temp):
            yield os.path.join(temp, f"om-vault-{owner}", name)


def _user_cache() -> str | None:
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if chosen and os.path.isabs(chosen):
        return chosen
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return local if os.path.isabs(local) else None
    base = home()
    if base is None:
        return None
    return os.path.join(base, "Library", "Caches") if sys.platform == "darwin" else os.path.join(base, ".cache")


def _usable(folder: str, real: str) -> bool:
    """Make `folder` and say whether it is ours and can be written."""
    try:
        parent = os.path.dirname(folder)
        if not os.path.isdir(folder):
            # A vault that has gone away must not come back as an empty folder of ours.
            if folder.startswith(real + os.sep) and not os.path.isdir(real):
                return False
            os.makedirs(os.path.dirname(parent), exist_ok=True)
            for path in (parent, folder):
                try:
                    os.mkdir(path, 0o700)
                except FileExistsError:
                    pass  # there already, or another process was as quick
        state = os.lstat(folder)
        if hasattr(os, "getuid"):
            # In a shared temporary folder another user could have laid this path out for us.
            if state.st_uid != os.getuid() or (state.st_mode & 0o170000) != 0o040000:
                return False
            if os.stat(parent).st_uid not in (os.getuid(), 0):
                return False
            if state.st_mode & 0o077:
                os.chmod(folder, 0o700)
        return os.access(folder, os.W_OK | os.X_OK)
    except (OSError, ValueError):
        return False


def _name(real: str) -> str:
    """`<slug>-<identity>`: readable, stable between processes."""
    slug = re.sub(r"[^a-z0-9]+", "-", os.path.basename(real).lower()).strip("-")[:40]
    return f"{slug or 'vault'}-{identity(real)}"


def identity(real: str) -> str:
    """16 hexadecimal digits for a real path: its 64-bit FNV-1a, so that no hash library is imported."""
    digest = 0xCBF29CE484222325
    for byte in os.fsencode(os.path.normcase(real)):
        digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{digest:016x}"
