"""One vault as the tools and the commands see it: its manifest, its policy, its index, its audit log."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from vaultcore import exposure, manifest
from vaultcore.errors import VaultError

from .audit import Audit

if TYPE_CHECKING:
    from vaultcore.index import Index, Refresh
    from vaultcore.manifest import Manifest

CODE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Bridge:
    """Everything a tool needs besides its caller and its arguments. Cheap to make; safe to use from several threads.

    `root` is the vault's real path. The manifest and the policy are read anew when their files change.
    """

    def __init__(self, root: str, channel: str = "agent", whole: bool = False) -> None:
        """`whole`: for the vault's own sessions, which work on every note and not only on what others may read."""
        self.root = os.path.realpath(root)
        self.whole = whole
        self.audit = Audit(self.root, channel)
        self.listeners: list[Callable[[list[str]], None]] = []
        self.extras: dict[str, Any] = {}  # what a tool keeps for the life of the process, under its own name
        self._index: Index | None = None
        self._lock = threading.Lock()

    @property
    def manifest(self) -> manifest.Manifest:
        return manifest.load(self.root)

    @property
    def policy(self) -> exposure.Policy:
        return everything(self.manifest) if self.whole else exposure.policy(self.manifest)

    @property
    def index(self) -> Index:
        """The vault's index, opened at first use."""
        with self._lock:
            if self._index is None:
                from vaultcore.index import open_index

                self._index = open_index(self.root)
            return self._index

    def check(self) -> None:
        """Raise VaultError when the vault is not there (renamed, unmounted, deleted)."""
        if not os.path.isdir(self.root):
            raise VaultError(
                f"the vault {os.path.basename(self.root)} is not available: "
                "its folder was moved or unmounted; put it back, or register again from its new place, then retry"
            )

    def refresh(self) -> Refresh:
        """Bring the index up to the files, as every call does first."""
        self.check()
        return self.index.refresh()

    def written(self, rels: Iterable[str]) -> None:
        """Say that this process wrote `rels`: the index knows at once and listeners are told."""
        changed = list(rels)
        for rel in changed:
            self.index.note_written(rel)
        from .search import followers

        followers.written(self)
        self.announce(changed)

    def announce(self, rels: list[str]) -> None:
        """Tell everyone who listens that these files changed."""
        for listener in list(self.listeners):
            listener(rels)

    def close(self) -> None:
        for name in ("reasoning", "qmd"):
            kept = self.extras.pop(name, None)
            if kept is not None:
                kept.close()
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None


def everything(manifest: Manifest) -> exposure.Policy:
    """What the vault's own sessions may find: all its notes, without the template's files and the memories."""
    from fnmatch import fnmatchcase

    patterns = [str(entry) for entry in manifest.get("infrastructure")]
    try:
        names = sorted(os.listdir(manifest.root))
    except OSError:
        names = []
    tops = [
        name
        for name in names
        if not name.startswith(".")
        and not any(pattern.startswith(name + "/") or fnmatchcase(name, pattern) for pattern in patterns)
    ]
    return exposure.Policy(tops, "whole", [], str(manifest.get("memory_root")))
