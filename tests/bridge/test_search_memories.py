"""Memories among the hits of a search: found by the next call of any process, and never shown as they no longer are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultbridge.bridge import Bridge
from vaultbridge.tools import remember, search
from vaultcore.identity import Caller

ATLAS = Caller("atlas", source="roots", projects=("atlas",))
LESSON = {
    "title": "The kestrel queue drains before a cutover",
    "body": "Without that the backfill replays under a lock, and the deploy of the evening waits for it.",
    "confidence": "verified",
    "verification": "Seen twice in staging.",
    "scope": "project",
}


@pytest.fixture
def bridges(vault: Callable[..., Path]) -> tuple[Path, Bridge, Bridge]:
    root = vault({"brain/A.md": "# A\n"})
    return root, Bridge(str(root)), Bridge(str(root))


def test_what_one_bridge_wrote_is_among_the_next_hits_of_another(bridges: tuple[Path, Bridge, Bridge]) -> None:
    _, one, other = bridges
    assert "kestrel queue drains" not in search.run(other, ATLAS, {"query": "kestrel"})
    remember.run(one, ATLAS, dict(LESSON))
    assert "kestrel queue drains" in search.run(other, ATLAS, {"query": "kestrel"})


@pytest.mark.parametrize(
    ("before", "after"),
    [("scope: project", "scope: project\nstatus: rejected"), ("projects:\n  - atlas", "projects:\n  - other")],
)
def test_a_memory_edited_in_place_is_not_shown_as_it_was(
    bridges: tuple[Path, Bridge, Bridge], before: str, after: str
) -> None:
    root, one, other = bridges
    remember.run(one, ATLAS, dict(LESSON))
    (path,) = [path for path in (root / "memories").rglob("*.md") if "kestrel" in path.name]
    old = path.stat().st_mtime_ns - 60 * 10**9  # a folder listed long after its last change is relied on
    for place in (path, *path.parents[:3]):
        os.utime(place, ns=(old, old))
    assert "kestrel queue drains" in search.run(other, ATLAS, {"query": "kestrel"})
    text = path.read_text(encoding="utf-8")
    assert before in text
    with open(path, "r+", encoding="utf-8") as file:  # in place: the folder does not change
        file.write(text.replace(before, after))
        file.truncate()
    assert "backfill" not in search.run(other, ATLAS, {"query": "kestrel"})
