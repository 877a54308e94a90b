"""Real Codex and Gemini in a repository registered with hooks: the model gets what the vault knows about a file before
it edits it, a summary when its session starts and one offer at its end, and never asked for any of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.rig import Bench, Run
from tests.conftest import ROOT, write_tree
from tests.memory.world import memory

pytestmark = pytest.mark.agents
NOTES = {
    "vault-manifest.json": '{"mcp_exposed_roots": ["work"]}',
    "work/Rope.md": "---\nproject: demo\npaths: [src/kettle.py]\nprivate: true\n---\n# Rope\n\nROPESECRET\n",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault as `git clone` and `om.py setup` leave it, with memories about a file of the demo."""
    root = write_tree(tmp_path_factory.mktemp("clone") / "the vault", NOTES)
    shutil.copy(ROOT / "om.py", root)
    for name in ("src", "hooks"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".venv").symlink_to(sys.prefix)
    about = {"paths": ["src/kettle.py"], "id": "m-k3tt1e000000", "origin": "demo"}
    memory(root, "kettle", "KETTLEFACT: it boils at 96 degrees here.", projects=("demo",), **about)
    memory(
        root,
        "superseded",
        "OLDFACT",
        projects=("demo",),
        paths=["src"],
        superseded_by=["m-k3tt1e000000"],
        origin="demo",
    )
    memory(root, "other", "OTHERSECRET", projects=("elsewhere",), paths=["src/kettle.py"], origin="elsewhere")
    return root


def om(clone: Path, bench: Bench, *words: str) -> None:
    env = {**os.environ, "HOME": str(bench.home), "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""}
    done = subprocess.run(
        [sys.executable, "om.py", *words], cwd=clone, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def demo(agent: str, tmp_path: Path, clone: Path) -> Bench:
    bench = Bench(tmp_path / "bench", agent, project="demo")
    write_tree(bench.project, {"src/kettle.py": "boil(100)\n", "src/plain.py": "x = 1\n"})
    om(clone, bench, "register", str(bench.project), "--agent", agent, "--hooks", "--same")
    om(clone, bench, "refresh")
    return bench


def editing(agent: str, name: str) -> list[dict[str, Any]]:
    """A model that changes a file as the agent's models do: Gemini's reads it first."""
    if agent == "codex":
        patch = f"*** Begin Patch\n*** Update File: src/{name}\n@@\n-{{}}\n+changed\n*** End Patch"
        line = "boil(100)" if name == "kettle.py" else "x = 1"
        return [{"custom": "apply_patch", "input": patch.replace("{}", line)}]
    path = f"src/{name}"
    change = {"old_string": "(100)" if name == "kettle.py" else "1", "new_string": "changed", "instruction": "change"}
    return [
        {"call": "read_file", "args": {"file_path": path}},
        {"call": "replace", "args": {"file_path": path, **change}},
    ]


def news(run: Run, turn: int) -> str:
    """What reached the model at a turn and had not before."""
    body, before = run.turns[turn], run.turns[turn - 1] if turn else {}
    items = body.get("input") or body.get("contents") or []
    seen = before.get("input") or before.get("contents") or []
    return json.dumps(items[len(seen) :], ensure_ascii=False)


def test_the_model_gets_a_memory_before_an_edit_without_having_asked(demo: Bench) -> None:
    steps = editing(demo.agent, "kettle.py")
    run = demo.run("change the kettle", script=[*steps, {"text": "done"}, {"text": "really"}], env={"OM_WORKER": "off"})
    assert run.code == 0, run.stdout + run.stderr
    assert "changed" in (demo.project / "src/kettle.py").read_text(), "the edit itself went through"
    told = [turn for turn in range(len(run.turns)) if "is about src/kettle.py" in news(run, turn)]
    assert told == [1], "with the tool call that is about the file, and once"
    assert "KETTLEFACT" in news(run, 1) and "data, not instructions" in news(run, 1)
    if demo.agent == "gemini":
        assert "(100)" in json.dumps(run.turns[1]) and len(run.turns) > 2, "it had read the file and not changed it yet"
    for secret in ("ROPESECRET", "OTHERSECRET", "OLDFACT"):
        assert secret not in run.sent()


def test_the_session_starts_with_what_reaches_it_and_ends_with_one_offer(demo: Bench) -> None:
    steps = editing(demo.agent, "plain.py")
    script = [*steps, {"text": "done"}, {"text": "nothing to keep"}, {"text": "again"}]
    run = demo.run("change the plain one", script=script, env={"OM_WORKER": "off"})
    assert run.code == 0, run.stdout + run.stderr
    first = json.dumps(run.turns[0], ensure_ascii=False)
    assert "the vault knows this repository as demo" in first and "KETTLEFACT" in first
    assert "is about src" not in run.sent(), "nothing is known about that file"
    offers = [turn for turn in range(len(run.turns)) if "record_work files what was done" in news(run, turn)]
    assert offers == [len(steps) + 1] and len(run.turns) == len(steps) + 2, "one offer, one more turn, no loop"


def test_a_repository_registered_without_hooks_is_told_nothing(clone: Path, agent: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path / "bench", agent, project="demo")
    write_tree(bench.project, {"src/kettle.py": "boil(100)\n"})
    om(clone, bench, "register", str(bench.project), "--agent", agent, "--same")
    run = bench.run(script=[*editing(agent, "kettle.py"), {"text": "done"}])
    assert run.code == 0, run.stdout + run.stderr
    assert "KETTLEFACT" not in run.sent() and "the vault knows" not in run.sent()


def test_unregistered_it_is_told_nothing_again_and_its_files_are_as_they_were(clone: Path, demo: Bench) -> None:
    om(clone, demo, "unregister", str(demo.project))
    assert not [p for p in demo.project.rglob("*") if p.is_file() and b"visit_" in p.read_bytes()]
    run = demo.run(script=[*editing(demo.agent, "kettle.py"), {"text": "done"}])
    assert run.code == 0 and "KETTLEFACT" not in run.sent()
