"""Taking a vault in: its manifest is the only thing that is added."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.conftest import write_tree

ROOT = Path(__file__).resolve().parents[2]


def om(*words: str) -> subprocess.CompletedProcess[bytes]:
    """A command as om.py starts it, in this interpreter instead of an environment of its own."""
    call = [sys.executable, str(ROOT / "src" / "vaultbridge" / "cli" / "__main__.py"), *words]
    environment = {**os.environ, "OM_PYTHON": sys.executable}
    return subprocess.run(call, capture_output=True, timeout=120, cwd="/", env=environment)


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def test_an_adopted_vault_gets_a_manifest_and_nothing_else(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "Notes", {"Daily/2026-01-01.md": "# Day\n\nkestrel\n", "Idea.md": "[[2026-01-01]]\n"})
    before = tree(root)
    done = om("setup", "--vault", str(root))
    assert done.returncode == 0, done.stdout + done.stderr
    assert tree(root) == sorted([*before, "vault-manifest.json"])
    exposed = json.loads((root / "vault-manifest.json").read_text())["mcp_exposed_roots"]
    assert exposed == ["*.md", "Daily", "inbox"]
    assert b"agents may read" in done.stdout and b"Ready" in done.stdout


def test_looking_at_a_folder_that_is_no_vault_leaves_no_trace(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "plain", {"a.md": "# A\n"})
    om("doctor", "--no-round-trip", "--vault", str(root))
    om("search", "a", "--vault", str(root))
    assert tree(root) == ["a.md"]


def test_a_second_set_up_changes_nothing(vault: Callable[..., Path]) -> None:
    root = vault({"brain/A.md": "# A\n"})
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    done = om("refresh", "--vault", str(root))
    assert done.returncode == 0
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_vault_from_elsewhere_is_adopted_registered_and_searched(tmp_path: Path) -> None:
    """Somebody's published vault, written for no tool of ours."""
    root = tmp_path / "Notes"
    with zipfile.ZipFile(ROOT / "tests" / "vault" / "kepano.zip") as archive:
        archive.extractall(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    repo = write_tree(tmp_path / "my-app", {"README.md": "# My app\n", "src/main.py": "print()\n"})
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    done = om("setup", "--vault", str(root))
    assert done.returncode == 0, done.stdout + done.stderr
    done = om("register", str(repo), "--agent", "claude", "--yes", "--vault", str(root))
    assert done.returncode == 0, done.stdout + done.stderr
    entry = json.loads((repo / ".mcp.json").read_text())["mcpServers"]["om"]
    assert [*entry["args"]].count("serve") == 1 and str(root) in " ".join(entry["args"])
    found = om("search", "meeting", "--json", "--vault", str(root))
    hits = json.loads(found.stdout)["hits"]
    assert hits and all((root / hit["path"]).is_file() for hit in hits)
    assert {path: path.read_bytes() for path in before} == before
