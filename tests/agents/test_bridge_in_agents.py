"""Real Codex and Gemini in registered repositories: the tools are there from the first turn, they work, and what one
repository may not see never reaches its model."""

from __future__ import annotations

import itertools
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

NUMBERS = itertools.count(1)
pytestmark = pytest.mark.agents
TOOLS = ("search", "read", "expand", "recall", "remember", "health")
NOTES = {
    "vault-manifest.json": '{"mcp_exposed_roots": ["work"]}',
    "work/Kettle.md": "# Amber kettle\n\nBoil it at 96 degrees: KETTLEFACT. See [[Rope]].\n",
    "work/Rope.md": "---\nprivate: true\n---\n# Rope\n\nROPESECRET amber kettle\n",
    "brain/Diary.md": "# Diary\n\nDIARYSECRET amber kettle\n",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault as `git clone` and `om.py setup` leave it: om.py, the sources, an environment, notes."""
    root = write_tree(tmp_path_factory.mktemp("clone") / "vault", NOTES)
    shutil.copy(ROOT / "om.py", root)
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".venv").symlink_to(sys.prefix)
    return root


def om(clone: Path, bench: Bench, *words: str) -> str:
    """Run the command line of `clone` as the person whose home the bench has made."""
    env = {**os.environ, "HOME": str(bench.home), "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""}
    done = subprocess.run(
        [sys.executable, "om.py", *words], cwd=clone, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def call(bench: Bench, tool: str, **arguments: Any) -> dict[str, Any]:
    """One step of a script: the model calls a tool of the bridge."""
    if bench.agent == "codex":
        return {"call": tool, "namespace": "mcp__om", "args": arguments}
    return {"call": f"mcp_om_{tool}", "args": arguments}


def session(bench: Bench, *steps: dict[str, Any]) -> Run:
    """One headless session in which the model does `steps`."""
    run = bench.run(script=[*steps, {"text": "done"}])
    assert run.code == 0, run.stdout + run.stderr
    assert len(run.turns) > len(steps), "each step's result went back to the model"
    return run


def news(run: Run, turn: int) -> str:
    """The results that were sent to the model at a turn: what answers the step before."""
    body = run.turns[turn]
    return json.dumps((body.get("input") or body.get("contents"))[-1], ensure_ascii=False)


@pytest.fixture
def app(agent: str, tmp_path: Path, clone: Path) -> Bench:
    """A repository of a name nobody else has, registered with its agent in the vault."""
    bench = Bench(tmp_path / "bench", agent, project=f"{agent}-app-{next(NUMBERS)}")
    om(clone, bench, "register", str(bench.project), "--agent", agent)
    return bench


def test_a_session_in_a_registered_repository_has_the_tools_at_once_and_uses_them(clone: Path, app: Bench) -> None:
    lesson = f"The {app.agent} kettle whistles early"
    find = [{"tool_search": "vault notes memories search read recall remember expand health"}]
    run = session(
        app,
        *(find if app.agent == "codex" else []),
        call(app, "search", query="amber kettle"),
        call(app, "read", note="work/Kettle.md"),
        call(
            app, "remember", title=lesson, body="It whistles at 93 degrees: WHISTLEFACT.",
            confidence="verified", verification="Measured with a thermometer in the kitchen, twice.",
        ),
        call(app, "recall", query="kettle whistles"),
    )  # fmt: skip
    first = json.dumps(run.turns[0])
    if app.agent == "codex":  # it names the server, and hands out the tools when the model looks for them
        assert "mcp__om" in first and "the user's own vault" in first
        offered = news(run, 1)
        assert all(f'"name": "{tool}"' in offered for tool in TOOLS), offered
    else:
        assert all(f"mcp_om_{tool}" in first for tool in TOOLS)
    assert "Consult the vault" in first or app.agent == "gemini", "Codex reads AGENTS.md"
    at = len(run.turns) - 4
    assert "work/Kettle.md" in news(run, at)
    assert "96 degrees" in news(run, at + 1)
    assert "WHISTLEFACT" in news(run, at + 3)
    (memory,) = (clone / "memories").rglob(f"*{app.agent}*.md")
    assert f"origin: {app.project.name}\n" in memory.read_text()
    for secret in ("ROPESECRET", "DIARYSECRET"):
        assert secret not in run.sent()


def test_what_another_repository_may_not_see_never_reaches_its_model(clone: Path, app: Bench, tmp_path: Path) -> None:
    told = f"{app.agent} steam valve"
    session(
        app,
        call(
            app, "remember", title=f"The {told} sticks", body="VALVESECRET: turn it left first.", scope="project",
            confidence="verified", verification="It was stuck in this session and came loose that way.",
        ),
        call(app, "recall", query=told),
    )  # fmt: skip
    other = Bench(tmp_path / "other", app.agent, project=f"{app.project.name}-other")
    om(clone, other, "register", str(other.project), "--agent", app.agent)
    run = session(
        other,
        call(other, "recall", query=told, explain=True),
        call(other, "search", query=told),
        call(other, "read", note="brain/Diary.md"),
        call(other, "read", note="work/Rope.md"),
        call(other, "expand", note="work/Kettle.md"),
        call(other, "search", query=f"{app.project.name} VALVESECRET ROPESECRET"),
    )
    results = json.dumps([turn for turn in run.turns[1:]])
    assert other.project.name in results, "the reply names the project it answered"
    assert "turn it left" not in results and "DIARYSECRET amber" not in results and "ROPESECRET amber" not in results
    again = session(app, call(app, "recall", query=told))
    assert "turn it left" in news(again, 1), "its own repository still sees it"


def test_an_unregistered_repository_is_served_by_a_user_level_registration(
    clone: Path, agent: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path / "bench", agent, project=f"{agent} unregistered é")
    om(clone, bench, "register", "--user", "--agent", agent)
    if agent == "codex":  # the rig writes this file anew for every run
        shutil.move(bench.state / "config.toml", bench.state / "extra.toml")
    assert not (bench.project / f".{agent}" / "config.toml").exists()
    (bench.project / "deep").mkdir()
    run = bench.run(script=[call(bench, "health"), {"text": "done"}], cwd=bench.project / "deep")
    assert run.code == 0, run.stderr
    assert f"{agent} unregistered é" in json.dumps(run.turns[1], ensure_ascii=False)


def test_a_portable_registration_finds_the_vault_through_the_environment(
    clone: Path, agent: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path / "bench", agent, project=f"{agent}-portable")
    om(clone, bench, "register", str(bench.project), "--agent", agent, "--portable")
    run = bench.run(script=[call(bench, "search", query="amber kettle")], env={"OM_VAULT": str(clone)})
    assert "work/Kettle.md" in news(run, 1)


def test_two_repositories_of_one_name_do_not_share_what_they_remember(clone: Path, app: Bench, tmp_path: Path) -> None:
    session(
        app,
        call(
            app, "remember", title=f"The {app.agent} tea strainer leaks", body="STRAINERSECRET: hold it upright.",
            confidence="verified", verification="It leaked on the desk in this very session.",
        ),
    )  # fmt: skip
    rival = Bench(tmp_path / "rival", app.agent, project=app.project.name)
    shutil.copytree(app.dot, rival.dot, dirs_exist_ok=True)  # its configuration travelled with a copy
    run = session(rival, call(rival, "recall", query="tea strainer"), call(rival, "health"))
    assert "hold it upright" not in run.sent()
    assert "om register" in news(run, 2), "health says what to do about a contested name"
