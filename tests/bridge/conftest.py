"""What the tests of the bridge share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bridge import toys
from tests.bridge.wire import Wire
from vaultbridge import surface


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def toy_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's tools are the toys of toys.py."""
    monkeypatch.setattr(surface, "_modules", dict(toys.TOYS))
    toys.entered.clear()


@pytest.fixture
def start() -> Iterator[Callable[..., Wire]]:
    """`start(vault, …)` starts a bridge process that ends with the test."""
    running: list[Wire] = []

    def begin(vault: Path, *words: str, **options: Any) -> Wire:
        running.append(Wire(vault, *words, **options))
        return running[-1]

    yield begin
    for wire in running:
        wire.__exit__()
