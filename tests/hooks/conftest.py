"""A vault for hooks: small, tidy, with a manifest that asks for properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.hooks.running import GOOD, MANIFEST

STAR = "---\ndate: 2026-11-01\n---\n# North Star\n\n## Current Focus\n\n- Ship it, see [[Home]]\n"
Vault = Callable[..., Path]


@pytest.fixture
def room(vault: Vault) -> Callable[..., Path]:
    """`room({path: text})` makes a vault that holds Home, a goal and what is given, and no fault."""

    def build(files: Mapping[str, str | bytes] | None = None, name: str = "vault") -> Path:
        usual = {
            "vault-manifest.json": MANIFEST,
            "Home.md": GOOD,
            "brain/North Star.md": STAR,
        }
        return vault({**usual, **(files or {})}, name=name)

    return build
