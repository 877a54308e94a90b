"""Watching the vault's folders in a running bridge, so that a change is known before the next call. Only ever a
hint.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import anyio

    from vaultcore.index import Index

SETTLE = 100  # milliseconds in which changes are gathered
STEP = 50
PAUSE = 30.0  # seconds before watching is tried again after it failed


async def watch(
    root: str, changed: Callable[[list[str]], None], stop: anyio.Event | None = None, index: Index | None = None
) -> None:
    """Call `changed` with the notes that changed on disk, until `stop` is set or the task is cancelled.

    With `index`, the files are marked for its next refresh, and `index.watched` is true while watching works. Never
    raises for the state of the disk: where watching is impossible (too many folders, no such folder, no watchfiles) it
    tries again every PAUSE seconds and the index goes on sweeping.
    """
    import anyio

    while stop is None or not stop.is_set():
        try:
            await _watch(root, changed, stop, index)
        except (OSError, RuntimeError, ImportError):
            pass
        finally:
            if index is not None:
                index.watched = False
        with anyio.move_on_after(PAUSE):
            if stop is not None:
                await stop.wait()
            else:
                await anyio.sleep_forever()


async def _watch(
    root: str, changed: Callable[[list[str]], None], stop: anyio.Event | None, index: Index | None
) -> None:
    from watchfiles import awatch

    from vaultcore import walk

    real = os.path.realpath(root)

    def wanted(_: object, path: str) -> bool:
        rel = walk.relative(real, path)
        return rel is not None and walk.is_note(rel) and not walk.hidden(rel)

    started = awatch(
        real, watch_filter=wanted, debounce=SETTLE, step=STEP, stop_event=stop, recursive=True, rust_timeout=1000,
        yield_on_timeout=True, ignore_permission_denied=True,
    )  # fmt: skip
    async for changes in started:
        if index is not None:
            index.watched = True
        rels = sorted({rel for _, path in changes if (rel := walk.relative(real, path))})
        if rels:
            if index is not None:
                index.mark_dirty(rels)
            changed(rels)
        elif not os.path.isdir(real):
            return
