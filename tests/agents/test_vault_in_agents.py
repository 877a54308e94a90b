"""Real Codex and Gemini opened in a clone of the vault: they find the manual, the skills and the agents, and a command
gets as far as its first call of our command line.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.rig import Bench, Run
from tests.conftest import ROOT, write_tree

pytestmark = pytest.mark.agents
MANUAL = "Ask what the thing *is*, then put it there"  # a sentence of AGENTS.md
STEP = "python3 om.py tasks --json"  # the first call that om-standup asks for


@pytest.fixture
def clone(agent: str, tmp_path: Path) -> Bench:
    """The tracked files of this repository where the agent starts, with the environment that set-up would make."""
    bench = Bench(tmp_path / "bench", agent, project="my vault")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for rel in filter(None, listed.split("\0")):
        if (ROOT / rel).exists() and not rel.startswith(("tests/", "bench/", "src/", "hooks/")):
            (bench.project / rel).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / rel, bench.project / rel)
    for code in ("src", "hooks"):
        shutil.copytree(ROOT / code, bench.project / code, ignore=shutil.ignore_patterns("__pycache__"))
    (bench.project / ".venv").symlink_to(sys.prefix)
    (bench.project / "work/active/Kettle.md").write_text(
        "---\ndate: 2026-01-02\ndescription: Kettle\ntags: [work-note]\nstatus: active\n---\n- [ ] descale it\n"
    )
    for arguments in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *arguments], cwd=bench.project, check=True)
    return bench


def shell(agent: str, command: str) -> dict[str, Any]:
    """One step of a script: the model runs a command."""
    if agent == "codex":
        return {"call": "exec_command", "args": {"cmd": command}}
    return {"call": "run_shell_command", "args": {"command": command, "description": "run"}}


def last(run: Run) -> str:
    body = run.turns[-1]
    return json.dumps((body.get("input") or body.get("contents"))[-1], ensure_ascii=False)


def test_the_manual_and_the_skills_are_there_from_the_first_turn(clone: Bench) -> None:
    run = clone.run("hello", script=[{"text": "hi"}])
    assert run.code == 0, run.stdout + run.stderr
    sent = run.sent()
    assert sent.count(MANUAL) == 1
    for name in ("om-standup", "om-recall", "obsidian-bases", "vault-search"):
        assert name in sent, name


def test_a_command_runs_to_its_first_call_of_om(clone: Bench) -> None:
    prompt = "$om-standup" if clone.agent == "codex" else "/om-standup"
    if clone.agent == "gemini":
        # Headless, Gemini writes what a session-start hook says before the prompt and then no longer sees a command.
        settings = clone.project / ".gemini/settings.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "hooksConfig": {"enabled": False}}))
    run = clone.run(prompt, script=[shell(clone.agent, STEP), {"text": "done"}])
    assert run.code == 0, run.stdout + run.stderr
    asked = json.dumps(run.turns[0], ensure_ascii=False)
    assert STEP in asked, "the command's own instructions reached the model"
    assert "descale it" in last(run), "and its first call answered with the vault's tasks"


def test_a_session_leaves_every_tracked_file_as_it_was(clone: Bench) -> None:
    run = clone.run("hello", script=[shell(clone.agent, "python3 om.py check --json"), {"text": "hi"}])
    assert run.code == 0, run.stdout + run.stderr
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone.project, capture_output=True, text=True, check=True
    )
    assert [line for line in status.stdout.splitlines() if not line.endswith(".venv")] == []


def test_codex_offers_the_helper_agents(codex: Bench) -> None:
    shutil.copytree(ROOT / ".codex/agents", codex.dot / "agents")
    run = codex.run("hello", script=[{"text": "hi"}], args=["-c", "features.multi_agent_v2=true"])
    assert run.code == 0, run.stdout + run.stderr
    assert "vault-librarian" in run.sent() and "Examines the vault's structure" in run.sent()


def test_gemini_offers_the_helper_agents_once_a_person_has_accepted_them(gemini: Bench) -> None:
    shutil.copytree(ROOT / ".gemini/agents", gemini.dot / "agents")
    accepted = {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in (gemini.dot / "agents").glob("*.md")
    }
    write_tree(gemini.state, {"acknowledgments/agents.json": json.dumps({str(gemini.project): accepted})})
    run = gemini.run("hello", script=[{"text": "hi"}])
    assert run.code == 0, run.stdout + run.stderr
    assert "Examines the vault's structure" in run.sent()
