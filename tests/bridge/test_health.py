"""The `health` tool: everything that is wrong, and of the vault's files only what the caller may read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vaultbridge.bridge import Bridge
from vaultbridge.tools import health
from vaultcore.identity import PERSON, Caller

BROKEN = "---\ntitle: never closed\n# Text\n"
MEMORY = "---\ndate: 2026-01-01\ntags: [memory]\nid: m-one\nscope: project\nprojects: [beta]\n"
FILES = {
    "vault-manifest.json": '{"mcp_exposed_roots": ["brain"], "mcp_never_expose": ["brain/Merger.md"]}',
    "brain/Twice.md": "---\nstatus: a\nstatus: b\n---\n# Twice\n",
    "brain/Diary of X.md": BROKEN,
    "work/Layoffs.md": BROKEN,
    "work/Salaries (conflicted copy 2026-01-01).md": "# Salaries\n",
    "memories/2026/01/2026-01-01 Beta leaks.md": MEMORY + "valid_from: never\n---\n# Beta leaks\n\ntext\n",
    "memories/2026/01/2026-01-01 Beta again.md": MEMORY + "---\n# Beta again\n\ntext\n",
}


@pytest.fixture
def told(vault: Callable[..., Path], tmp_path: Path) -> Callable[[Caller], str]:
    root = vault(FILES)
    (tmp_path / "out.md").write_text("# Out\n")
    (root / "work" / "Lawyer.md").symlink_to(tmp_path / "out.md")
    return lambda caller: health.run(Bridge(str(root)), caller, {})


@pytest.mark.parametrize("secret", ["Diary", "Layoffs", "Salaries", "Lawyer", "Merger", "Beta"])
def test_no_file_is_named_to_a_caller_that_may_not_read_it(told: Callable[[Caller], str], secret: str) -> None:
    stranger = told(Caller("alpha", "/x/alpha", "cwd"))
    assert secret not in stranger
    assert "brain/Twice.md" in stranger
    assert "about files that you may not read -> om doctor" in stranger


def test_the_vault_itself_is_told_everything(told: Callable[[Caller], str]) -> None:
    text = told(PERSON)
    assert all(secret in text for secret in ("Diary", "Salaries", "Lawyer", "Merger", "Beta"))
    assert "you may not read" not in text
