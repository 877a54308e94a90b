"""The index of a vault: one SQLite file in the user's cache folder, derived from the files and never more than that."""

from __future__ import annotations

import os

from .catalogue import Index
from .rows import LinkRow, MemoryRow, Refresh, Row
from .store import Trouble

__all__ = ["Index", "LinkRow", "MemoryRow", "Refresh", "Row", "Trouble", "open_index"]


def open_index(root: str) -> Index:
    """The index of the vault at `root`. Opening reads nothing; the first `refresh` or question does."""
    from vaultcore import places
    from vaultcore.errors import VaultError

    real = os.path.realpath(root)
    try:
        path = os.path.join(places.cache(real), "index.sqlite")
    except VaultError:
        return Index(real, None)
    return Index(real, path)
