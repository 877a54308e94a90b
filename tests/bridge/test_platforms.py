"""A project's platforms come from its own note, whichever folder and spelling it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vaultbridge import platforms
from vaultbridge.bridge import Bridge


@pytest.mark.parametrize(
    ("files", "name", "found"),
    [
        ({"work/Atlas.md": "---\nplatforms: [Linux, ROS2]\n---\n"}, "atlas", ["Linux", "ROS2"]),
        ({"org/My Proj É.md": "---\nplatforms: iOS\n---\n"}, "my proj é", ["iOS"]),
        ({"deep/er/x.md": "---\naliases: [Atlas]\nplatforms: [qt]\n---\n"}, "atlas", ["qt"]),
        (
            {"a/x.md": "---\naliases: atlas\nplatforms: [alias]\n---\n", "z/atlas.md": "---\nplatforms: [file]\n---\n"},
            "atlas",
            ["file"],
        ),
        ({"work/Atlas.md": "# Atlas\n"}, "atlas", []),
        ({"work/Atlas notes.md": "---\nplatforms: [linux]\n---\n"}, "atlas", []),
        ({"memories/2026/01/atlas.md": "---\nplatforms: [linux]\n---\n"}, "atlas", []),
        ({"work/Atlas.md": "---\nprivate: true\nplatforms: [linux]\n---\n"}, "atlas", ["linux"]),
        ({"work/Atlas.md": "---\nplatforms: {a: b}\n---\n"}, "atlas", []),
        ({"work/Atlas.md": "x" * 3000 + "\n"}, "atlas", []),
        ({}, "atlas", []),
    ],
)
def test_the_note_of_that_name_declares_them(
    vault: Callable[..., Path], files: dict[str, str], name: str, found: list[str]
) -> None:
    bridge = Bridge(str(vault({"vault-manifest.json": '{"memory_root": "memories"}', **files})))
    try:
        assert platforms.lookup(bridge)(name) == found
    finally:
        bridge.close()


def test_a_vault_that_is_gone_declares_none(tmp_path: Path) -> None:
    assert platforms.lookup(Bridge(str(tmp_path / "gone")))("atlas") == []
