"""A change on disk is announced; where watching is impossible nothing breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.conftest import write_tree
from vaultbridge import watch
from vaultcore.index import open_index

Vault = Callable[..., Path]


def test_changed_notes_are_announced_marked_and_in_the_next_answer(vault: Vault) -> None:
    root = vault({"notes/a.md": "# One\n", "notes/skip.txt": "x"})
    index = open_index(str(root))
    index.refresh()

    async def scenario() -> list[str]:
        told: list[str] = []
        stop, heard = anyio.Event(), anyio.Event()

        def changed(rels: list[str]) -> None:
            told.extend(rels)
            heard.set()

        async with anyio.create_task_group() as group:
            group.start_soon(watch.watch, str(root), changed, stop, index)
            with anyio.fail_after(30):
                while not index.watched:
                    await anyio.sleep(0.01)
                write_tree(root, {"notes/skip.txt": "y", ".obsidian/x.md": "hidden", "notes/a.md": "# Two, longer\n"})
                await heard.wait()
            stop.set()
        return told

    assert set(asyncio.run(scenario())) == {"notes/a.md"}
    assert not index.watched
    index._swept = float("inf")
    index.refresh()
    assert index.notes()[0].title == "Two, longer"


@pytest.mark.parametrize("error", [OSError("no watches left"), RuntimeError("gone"), ImportError("watchfiles")])
def test_where_watching_is_impossible_it_is_tried_again_and_the_index_sweeps(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    index = open_index(str(vault({"a.md": "a"})))
    tries: list[int] = []

    async def scenario() -> None:
        stop = anyio.Event()

        async def failing(*_: object) -> None:
            tries.append(1)
            if len(tries) == 3:
                stop.set()
            raise error

        monkeypatch.setattr(watch, "_watch", failing)
        monkeypatch.setattr(watch, "PAUSE", 0.0)
        with anyio.fail_after(30):
            await watch.watch("/nowhere", lambda rels: None, stop, index)

    asyncio.run(scenario())
    assert len(tries) == 3 and not index.watched
