"""The platforms of a project, as the project's own note in the vault declares them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from vaultcore.errors import VaultError
from vaultcore.platforms import of

if TYPE_CHECKING:
    from .bridge import Bridge

__all__ = ["lookup", "of"]
log = logging.getLogger("om")


def lookup(bridge: Bridge) -> Callable[[str], list[str]]:
    """For `identity.resolve`: name -> property `platforms` of the note whose file name, else alias, is that name.

    Any note counts, served to callers or not: its owner wrote it. Empty when there is none or the index cannot say;
    then the registration's platforms count.
    """

    def platforms(name: str) -> list[str]:
        import sqlite3

        try:
            if bridge.index.generation < 1:  # the first call of this process, maybe of the vault's life
                bridge.refresh()
            return of(bridge.root, bridge.index.named(name), name, str(bridge.manifest.get("memory_root")))
        except (VaultError, sqlite3.Error, OSError) as error:
            log.debug("platforms of %s unknown: %r", name, error)
            return []

    return platforms
