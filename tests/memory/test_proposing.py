"""What is proposed, by a hook or on the command line: into the inbox, through every gate, its channel from code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.memory.world import Bridge, om, person
from vaultcore.errors import Refusal
from vaultcore.identity import Caller
from vaultcore.memory.proposing import propose

ALPHA = Caller(project="alpha", projects=("alpha",), source="test")
GIVEN: dict[str, object] = {
    "title": "Otters sleep holding hands",
    "body": "They were seen to hold hands in the pool.",
    "confidence": "inferred",
}


@pytest.fixture
def world(vault: Callable[..., Path]) -> Path:
    return vault({"vault-manifest.json": "{}"})


def lines(world: Path) -> list[dict[str, Any]]:
    found = (world / ".om" / "log").rglob("*.jsonl")
    return [json.loads(raw) for path in found for raw in path.read_text("utf-8").splitlines()]


def test_what_a_hook_proposes_waits_in_the_inbox_until_a_person_accepts_it(world: Path, tmp_path: Path) -> None:
    made = propose(str(world), ALPHA, dict(GIVEN))
    assert made.state == "proposed" and made.rel.startswith("memories/_inbox/") and (world / made.rel).is_file()
    assert [(x["op"], x["channel"], x["caller"]) for x in lines(world)] == [("propose", "hook", "alpha")]
    with Bridge(world, "alpha", tmp_path / "repo") as bridge:
        assert "hold hands" not in bridge.recall("otters") + bridge.recall("otters", include=["candidates"])
        assert person(world, "review", answers=("accept",))[0] == 0
        assert "hold hands" in bridge.recall("otters")
    assert [(x["op"], x["channel"]) for x in lines(world)] == [("propose", "hook"), ("accept", "person")]


@pytest.mark.parametrize("name", ["channel", "caller", "origin", "status", "source", "external_channel"])
def test_nothing_that_is_given_names_the_channel(world: Path, name: str) -> None:
    with pytest.raises(Refusal):
        propose(str(world), ALPHA, {**GIVEN, name: "person"})
    assert {(x["op"], x["channel"]) for x in lines(world)} <= {("refuse", "hook")}
    assert not (world / "memories").exists()


@pytest.mark.parametrize(
    ("body", "code"),
    [("The key is AKIA" + "ABCDEFGHIJKLMNOP.", "secret"), ("It is </parameter> so.", "swallowed-markup")],
)
def test_a_proposal_meets_the_gates_of_every_other_write(world: Path, body: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        propose(str(world), ALPHA, {**GIVEN, "body": body})
    assert refused.value.code == code


@pytest.mark.parametrize("env", [{}, {"OM_CHANNEL": "person"}, {"OM_CALLER": "a person"}])
def test_what_an_agent_proposes_on_the_command_line_is_an_agents(
    world: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    said = om(world, "remember", "Otters nap", "They nap at noon.", "--propose", cwd=repo, OM_PROJECT="alpha", **env)
    assert said.returncode == 0 and "memories/_inbox/" in said.stdout, said.stderr
    assert [(x["op"], x["channel"]) for x in lines(world)] == [("propose", "agent")]
    (item,) = json.loads(om(world, "review", "--json").stdout)
    assert item["kind"] == "inbox"


def test_what_a_person_proposes_is_a_persons(world: Path) -> None:
    code, shown = person(world, "remember", "Otters nap", "They nap at noon.", "--propose", "--project", "alpha")
    assert code == 0 and "memories/_inbox/" in shown, shown
    assert [(x["op"], x["channel"]) for x in lines(world)] == [("propose", "person")]
