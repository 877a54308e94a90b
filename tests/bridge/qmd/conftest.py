"""An installed qmd that is none, and a vault registered with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bridge.qmd.fake import Fake
from tests.bridge.qmd.scene import MANIFEST, NOTES, download, register
from vaultbridge.bridge import Bridge
from vaultbridge.qmd import program


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """An installed qmd whose index is the vault's."""
    made = Fake(tmp_path / "npm")
    made.install(monkeypatch)
    monkeypatch.setenv("OM_WORKER", "off")
    monkeypatch.setattr(program, "_found", None)
    return made


@pytest.fixture
def world(vault: Callable[..., Path], fake: Fake) -> Iterator[Callable[..., Bridge]]:
    """`world(backend="auto", models=True)` gives a bridge over NOTES with qmd registered."""
    made: list[Bridge] = []

    def build(backend: str = "auto", models: bool = True, registered: bool = True, **files: str) -> Bridge:
        root = vault({"vault-manifest.json": MANIFEST % backend, **NOTES, **files})
        if registered:
            register(root, fake)
        if models:
            download("embeddinggemma-300M-Q8_0.gguf")
        made.append(Bridge(str(root)))
        return made[-1]

    yield build
    for bridge in made:
        bridge.close()
