"""What every test about memories works with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vaultcore.memory.memories import Memories, Settings, Writer
from vaultcore.memory.reach import PERSON, Reader


@pytest.fixture
def memories(vault: Callable[..., Path]) -> Memories:
    """The memories of an empty vault."""
    return Memories(str(vault()), Settings())


@pytest.fixture
def alpha() -> Writer:
    return writer("alpha")


def writer(project: str, *platforms: str) -> Writer:
    """An agent in `project`."""
    return Writer(project, project, (project,), Reader((project,), platforms))


def a_person() -> Writer:
    return Writer("a person", "", (), PERSON, "person")
