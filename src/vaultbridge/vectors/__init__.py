"""Search by meaning without a server: an extra that is off until its packages are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge

    from .lane import Lane


def wanted(bridge: Bridge) -> bool:
    """Whether this vault has vectors: the packages are installed and the manifest does not say no."""
    from . import model

    return bool(bridge.manifest.get("search.vectors")) and model.installed()


def engine(bridge: Bridge) -> Lane | None:
    """The lane of a bridge, None where there are no vectors."""
    if not wanted(bridge):
        return None
    held = bridge.extras.get("vectors")
    if held is None:
        from .lane import Lane

        held = bridge.extras.setdefault("vectors", Lane(bridge))
    return held  # type: ignore[no-any-return]
