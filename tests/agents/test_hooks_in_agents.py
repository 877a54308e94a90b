"""The shipped hooks in the real Codex and Gemini: a session in a clone of the vault, offline."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.codex_hooks import list_hooks
from tests.agents.rig import Bench, Run

pytestmark = pytest.mark.agents
CODE = Path(__file__).resolve().parents[2]
BARE = "no properties, but [[a link to nowhere]]\n"


def clone(bench: Bench) -> None:
    """Fill the project with the vault as git has it: notes, hooks, what they import, the agent's wiring."""
    tracked = subprocess.run(
        ["git", "-C", str(CODE), "ls-files", "-z"], check=True, capture_output=True
    ).stdout.decode()
    for rel in filter(None, tracked.split("\0")):
        if rel.startswith(("tests/", "bench/", "src/vaultbridge/", "om.py")) or not (CODE / rel).is_file():
            continue
        (bench.project / rel).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CODE / rel, bench.project / rel)
    star = "---\ndate: 2026-11-01\n---\n# North Star\n\n## Current Focus\n\n- MARK-goal, see [[Home]]\n"
    (bench.project / "brain/North Star.md").write_text(star)


def talk(bench: Bench, prompt: str, script: list[dict], **how: object) -> Run:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = bench.run(prompt, script=script, env={"PATH": path, "OM_WORKER": "off"}, **how)  # type: ignore[arg-type]
    assert run.code == 0, run.stderr
    return run


def writing(bench: Bench, path: str, text: str) -> dict:
    """One step of the model: write a file with the agent's own tool."""
    if bench.agent == "codex":
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        return {"custom": "apply_patch", "input": f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"}
    return {"call": "write_file", "args": {"file_path": path, "content": text}}


def test_briefing_hint_and_warning_reach_the_model_and_the_stop_message_the_person(bench: Bench) -> None:
    clone(bench)
    run = talk(bench, "We decided to wait.", [writing(bench, "org/A.md", BARE), {"text": "all done"}])
    sent = run.sent()
    for part in ("This is the om vault in the folder proj.", "MARK-goal", "(om briefing: "):
        assert part in sent
    assert "om: this message may hold something for the vault" in sent and "- Decision: " in sent
    assert "org/A.md:" in sent and "no properties: the note must start with" in sent
    assert (bench.project / "org/A.md").read_text() == BARE
    if bench.agent == "gemini":
        assert "Hook system message: om: before you go" in run.stderr and "- org/A.md: line 1" in run.stderr
    said = [
        json.loads(line)
        for path in (bench.project / ".cache/session").glob(f"{bench.agent}-*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert [key for record in said for key in record.get("said", []) if key.startswith("stop org/A.md")]


def test_the_model_sees_the_stop_message_in_no_later_request(bench: Bench) -> None:
    clone(bench)
    run = talk(bench, "write it", [writing(bench, "org/A.md", BARE), {"text": "all done"}])
    assert "before you go" not in run.sent()
    assert len(run.turns) == 2  # the stop hook made nobody go on


def test_a_write_into_private_memory_is_denied_and_the_model_told_where_to_write(bench: Bench) -> None:
    clone(bench)
    target = bench.project / f".{bench.agent}/memories/lesson.md"
    run = talk(
        bench, "remember it", [writing(bench, str(target.relative_to(bench.project)), "a lesson\n"), {"text": "ok"}]
    )
    assert not target.exists()
    assert "private memory" in run.sent() and "brain/Gotchas.md" in run.sent()


def test_a_ruling_that_is_a_persons_is_denied(bench: Bench) -> None:
    clone(bench)
    run = talk(bench, "accept all", [writing(bench, "memories/Review.md", "- [x] accept\n"), {"text": "ok"}])
    assert not (bench.project / "memories/Review.md").exists() and "om.py review" in run.sent()


def test_codex_finds_nothing_to_complain_about_in_the_shipped_file(codex: Bench) -> None:
    clone(codex)
    seen = list_hooks(codex)
    assert seen["warnings"] == [] and seen.get("errors", []) == []
    assert len(seen["hooks"]) == 7


def test_codex_runs_no_hook_that_nobody_reviewed(codex: Bench) -> None:
    clone(codex)
    run = talk(codex, "We decided to wait.", [{"text": "hi"}], hook_trust=False)
    assert "om vault" not in run.sent()


def test_codex_in_a_subfolder_of_the_vault_gets_the_same_briefing(codex: Bench) -> None:
    clone(codex)
    run = talk(codex, "hello", [{"text": "hi"}], cwd=codex.project / "brain")
    assert "MARK-goal" in run.sent()


def test_codex_takes_every_answer_of_every_hook_as_valid(codex: Bench) -> None:
    clone(codex)
    plain = ["exec", "-s", "workspace-write", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "We decided"]
    run = talk(codex, "", [writing(codex, "org/A.md", BARE), {"text": "all done"}], raw_args=plain)
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        assert f"hook: {event} Completed" in run.stderr
    assert "Failed" not in run.stderr
