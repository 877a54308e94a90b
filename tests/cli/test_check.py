"""The commands of the mechanical half as a person or an agent runs them: real processes, JSON, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

TEMPLATE = '---\ndate: "{{date}}"\ntags: [x]\n---\n[[Index]]\n'


def om(root: Path, *arguments: str, code: int = 0, cwd: Path | None = None) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    call = [sys.executable, "-m", "vaultbridge.cli", "--vault", str(root), *arguments]
    done = subprocess.run(call, capture_output=True, text=True, env=environment, timeout=60, cwd=cwd or root)
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 or done.stdout else done.stderr


def data(root: Path, *arguments: str, code: int = 0) -> Any:
    return json.loads(om(root, *arguments, "--json", code=code))


@pytest.fixture
def root(vault: Callable[..., Path]) -> Path:
    return vault(
        {
            "Index.md": "[[Plan]] [[work/active/Old]]\n- [ ] first by 2020-01-02\n- [x] over\n",
            "Plan.md": "[[Index]] [[Indx]]\n## Next\n1. [ ] second\n```\n- [ ] code\n```\n",
            "work/active/Old.md": "---\nstatus: done\n---\n[[Index]]\n",
            "templates/Thing.md": TEMPLATE,
        }
    )


def test_check_speaks_json_and_text_and_fails_only_on_errors(root: Path) -> None:
    found = data(root, "check")
    assert found["checked"] == 4 and [f["rule"] for f in found["findings"]] == ["link-broken"]
    assert "did you mean [[Index]]" in om(root, "check", "Plan.md")
    assert data(root, "check", "--level", "error")["findings"] == []
    (root / "x.base").write_text("filters: empty(x)")
    assert data(root, "check", code=1)["counts"]["error"] == 1
    assert "is not in the vault" in om(root, "check", "nope.md", code=1)


def test_links_shows_both_directions_and_what_is_broken(root: Path) -> None:
    found = data(root, "links", "Plan")
    assert [(link["written"], link["path"]) for link in found["links"]] == [("Index", "Index.md"), ("Indx", None)]
    assert found["broken"] == 1 and found["backlinks"] == [
        {"path": "Index.md", "line": 1, "text": "[[Plan]] [[work/active/Old]]"}
    ]
    assert "did you mean" in om(root, "links", "Plann", code=1)


def test_tasks_lists_open_ones_with_what_is_due_first(root: Path) -> None:
    found = data(root, "tasks")
    assert [(t["path"], t["line"], t["due"], t["heading"]) for t in found["tasks"]] == [
        ("Index.md", 2, "2020-01-02", ""),
        ("Plan.md", 3, None, "Next"),
    ]
    assert [t["text"] for t in data(root, "tasks", "--overdue")["tasks"]] == ["first by 2020-01-02"]
    assert len(data(root, "tasks", "--done")["tasks"]) == 3
    assert data(root, "tasks", "--limit", "1")["more"] == 1
    assert [t["path"] for t in data(root, "tasks", "Plan.md")["tasks"]] == ["Plan.md"]


def test_tidy_plans_then_moves(root: Path) -> None:
    planned = data(root, "tidy")
    assert (
        not planned["applied"]
        and planned["links_changed_in"] == ["Index.md"]
        and (root / "work/active/Old.md").exists()
    )
    done = data(root, "tidy", "--apply")
    assert done["applied"] and (root / done["moves"][0]["to"]).exists() and "[[Old]]" in (root / "Index.md").read_text()
    assert om(root, "tidy").strip() == "nothing to move"


def test_new_makes_a_note_and_says_where(root: Path) -> None:
    assert data(root, "new", "--list")["types"][0]["type"] == "thing"
    dry = data(root, "new", "thing", "A thing", "--dry-run")
    assert not dry["written"] and not (root / dry["path"]).exists()
    made = data(
        root, "new", "thing", "A thing", "--index", "Index", "--set", "status=open: yes", "--date", "2026-01-02"
    )
    text = (root / made["path"]).read_text()
    assert "date: " in text and "2026-01-02" in text and "- [[A thing]]" in (root / "Index.md").read_text()
    assert "exists already" in om(root, "new", "thing", "A thing", code=1)
    assert "no note type" in om(root, "new", "nothing", "x", code=1)


def test_build_says_what_differs(root: Path) -> None:
    skill = root / ".agents/skills/om-x/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: om-x\ndescription: x\n---\nDo.\n")
    assert ".claude/skills/om-x/SKILL.md" in data(root, "build", "--check", code=1)["files"]
    assert data(root, "build")["written"] and data(root, "build", "--check")["files"] == []


@pytest.mark.parametrize("words", [["check"], ["links", "Plan"], ["tasks"], ["tidy"], ["new", "thing", "x"]])
def test_an_agent_in_another_repository_gets_no_view_of_the_whole_vault(
    root: Path, tmp_path: Path, words: list[str]
) -> None:
    elsewhere = tmp_path / "app"
    (elsewhere / ".git").mkdir(parents=True)
    assert "in the vault's own folder" in om(root, *words, code=1, cwd=elsewhere)


def test_search_and_read_see_all_notes_in_the_vault_and_the_exposed_ones_elsewhere(root: Path, tmp_path: Path) -> None:
    (root / "vault-manifest.json").write_text('{"mcp_exposed_roots": ["work"]}')
    memory = root / "memories/2026/01/2026-01-02 Kumquats.md"
    memory.parent.mkdir(parents=True)
    memory.write_text(
        "---\ndate: 2026-01-02\ntags: [memory]\nsource: hand-filed\nscope: general\n---\n# Kumquats\n\nSour.\n"
    )
    (root / "People.md").write_text("Ada likes kumquats.")
    (root / "work/Order.md").write_text("Ten kumquats.")
    elsewhere = tmp_path / "app"
    (elsewhere / ".git").mkdir(parents=True)
    home = {hit["path"] for hit in data(root, "search", "kumquats")["hits"]}
    assert home == {"People.md", "work/Order.md", "memories/2026/01/2026-01-02 Kumquats.md"}
    assert {
        hit["path"] for hit in json.loads(om(root, "search", "kumquats", "--json", cwd=elsewhere))["hits"]
    } <= home - {"People.md"}
    assert "Ada" in om(root, "read", "People")
    assert "no note" in om(root, "read", "People", code=1, cwd=elsewhere)


def test_the_session_of_oms_own_vault_reads_another_vault_and_writes_nothing_there(root: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    here = ROOT / "thinking"
    assert json.loads(om(root, "check", "--json", cwd=here))["checked"] == 4
    assert "second" in om(root, "tasks", cwd=here) and "Indx" in om(root, "links", "Plan", cwd=here)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
    for words, cwd in (("check",), tmp_path), (("tidy",), here), (("new", "thinking-note", "x"), here):
        assert "works on the whole vault" in om(root, *words, cwd=cwd, code=1)
