"""Indexes that are brought up to the files behind a search's back: qmd's, and the vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge


def written(bridge: Bridge) -> None:
    """Say that notes changed: the vault's one worker does the rest when the writing stops. Nothing is started where
    there is nothing to bring up."""
    from vaultbridge import qmd, vectors

    if vectors.wanted(bridge) or qmd.used(bridge):
        from vaultbridge.bridge import CODE
        from vaultcore.session import refresh

        refresh.mark(bridge.root)
        refresh.start(bridge.root, CODE)


def catch_up(bridge: Bridge, say: Callable[[str], None]) -> None:
    """Do it, for some minutes; the index must be fresh. What is left then is the worker's next round. `say` hears what
    was done. Raises VaultError when something cannot be done."""
    from vaultbridge import vectors

    if vectors.wanted(bridge):
        from vaultbridge.vectors import building

        def progress(now: building.Progress) -> None:
            say(f"vectors: {now.every - now.left:,} of {now.every:,} pieces")

        done = building.build(bridge, say=progress)
        if done.left and done.made:
            from vaultcore.session import refresh

            refresh.mark(bridge.root)
    from vaultbridge.qmd import upkeep

    for line in upkeep.refresh(bridge):
        say(f"qmd: {line}")
