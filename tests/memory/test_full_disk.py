"""A disk that fills up in the middle of a correction: an error, nothing half written, and the next opening mends it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.memory.conftest import writer
from vaultcore import write
from vaultcore.errors import VaultError
from vaultcore.memory import intents
from vaultcore.memory.memories import Memories, Settings
from vaultcore.memory.recording import remember


def lesson(title: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "body": f"{title}, as seen on the build host.", "confidence": "inferred", **more}


def files(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (root / "memories").rglob("*.md")}


@pytest.mark.parametrize("room_for_undo", [True, False], ids=["room to undo", "no room to undo"])
def test_a_correction_that_finds_the_disk_full_leaves_the_old_state(
    vault: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, room_for_undo: bool
) -> None:
    root = vault()
    memories = Memories(str(root), Settings("memories", "key"))
    remember(memories, lesson("The build host is Fern"), writer("alpha"))
    before = files(root)
    full = False
    extend, replace = memories.journal.extend, write.replace

    def no_room(*args: Any, **options: Any) -> Any:
        nonlocal full
        full = True
        raise OSError(errno.ENOSPC, "No space left on device")

    def write_back(*args: Any, **options: Any) -> Any:
        if full and not room_for_undo:
            raise VaultError("the disk is full: make room, then retry")
        return replace(*args, **options)

    with monkeypatch.context() as disk:
        disk.setattr(memories.journal, "extend", no_room)
        disk.setattr(write, "replace", write_back)
        with pytest.raises((VaultError, OSError)):
            remember(memories, lesson("The build host is Moss", supersedes=["The build host is Fern"]), writer("alpha"))
    assert memories.journal.extend == extend
    Memories(str(root), Settings("memories", "key")).open()
    assert files(root) == before
    assert intents.pending(str(root)) == []
