"""qmd beside the embedded engine: found, registered, asked, kept up to date. Where it is missing nothing of it is
loaded but this."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge

    from .keeper import Keeper
    from .lane import Lane


def keeper_of(bridge: Bridge) -> Keeper:
    """The keeper of the bridge's qmd process, made at first use; it ends with the bridge."""
    held = bridge.extras.get("qmd")
    if held is None:
        from .keeper import Keeper

        held = bridge.extras.setdefault("qmd", Keeper(bridge))
    return held  # type: ignore[no-any-return]


def engine(bridge: Bridge) -> Lane | None:
    """qmd's lane for one search; None when the manifest rules it out, and under `auto` where this vault has no index in
    it, so that nobody who does not use qmd hears of it."""
    if bridge.manifest.get("search.backend") == "embedded":
        return None
    kept = keeper_of(bridge)
    if kept.setting() is None and not kept.demanded:
        return None
    from .lane import Lane

    return Lane(kept)


def used(bridge: Bridge) -> bool:
    """Whether there is a qmd index of this vault to keep up to date."""
    if bridge.manifest.get("search.backend") == "embedded":
        return False
    setting = keeper_of(bridge).setting()
    return setting is not None and not isinstance(setting, str)


def account(bridge: Bridge) -> dict[str, str | list[str]]:
    """What there is of qmd, in words: program, index, collection, configuration, store, models."""
    from vaultcore import qmd

    from . import models, program

    found = program.find(str(bridge.manifest.get("qmd_min_version")))
    index = qmd.resolve(bridge.root, bridge.manifest)
    held = models.present(index)
    version = found.version if isinstance(found, program.Program) else found or "not installed"
    missing = models.missing(held)
    note = f" (taken by {index.taken})" if index.taken else " (not set up)"
    return {
        "qmd": version,
        "index": index.name + ("" if index.registered else note),
        "collection": index.collection,
        "config": index.config,
        "store": index.store,
        "models": sorted(held) or ["none"],
        "missing": missing or ["none"],
    }
