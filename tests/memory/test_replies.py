"""What the verbs answer: that following the advice works, and that every reply says what is so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.memory.world import FRAME, Bridge, ident, memory
from vaultcore import exposure, manifest
from vaultcore.memory import promotion, selection
from vaultcore.memory.memories import Memories, Writer
from vaultcore.memory.reach import PERSON, Reader
from vaultcore.memory.recording import remember

Vault = Callable[..., Path]
EXPOSED = json.dumps({"mcp_exposed_roots": ["brain"]})
MONDAY, TUESDAY = "Mondays at nine, when traffic is low.", "Tuesdays after lunch, with two people on call."


@pytest.mark.parametrize(
    ("more", "reason"),
    [({}, "same title and scope"), ({"about": "deploy/window"}, "same key deploy/window")],
)
def test_the_advice_about_what_was_retired_unasked_leaves_both_current(
    vault: Vault, tmp_path: Path, more: dict[str, Any], reason: str
) -> None:
    with Bridge(vault(), "alpha", tmp_path / "repo") as bridge:
        old = ident(bridge.remember("Deploy window", MONDAY, **more)[0])
        reply, error = bridge.remember("Deploy window", TUESDAY, **more)
        assert not error and f"Retired unasked, {reason}: 'Deploy window' ({old})" in reply
        assert "supersedes" not in reply and "under another title" in reply and f"om restore {old}" in reply
        assert ("without about" in reply) == bool(more)
        reply, error = bridge.remember("Deploy window of the shop", MONDAY)
        assert not error and "Retired" not in reply, reply
        told = bridge.recall()
        assert MONDAY in told and TUESDAY in told and "SUPERSEDED" not in told


@pytest.mark.parametrize(
    ("held", "new", "retired"),
    [
        ("verified", "verified", True),
        ("inferred", "verified", True),
        ("unverified", "inferred", True),
        ("verified", "inferred", False),
        ("verified", "unverified", False),
        ("inferred", "unverified", False),
    ],
)
def test_a_weaker_word_never_retires_a_stronger_one_unasked(
    memories: Memories, alpha: Writer, held: str, new: str, retired: bool
) -> None:
    for body, confidence in ((MONDAY, held), (TUESDAY, new)):
        given: dict[str, object] = {"title": "Deploy window", "body": body, "confidence": confidence}
        if confidence == "verified":
            given["verification"] = "seen in the calendar"
        outcome = remember(memories, given, alpha)
    assert [r.body.split("\n")[0] for r in outcome.retired] == ([MONDAY] if retired else [])
    assert len(outcome.disputed) == (0 if retired else 1)
    states = {e.state for e in selection.select(memories.open(), Reader(("alpha",))).entries}
    assert states == ({"current"} if retired else {"disputed"})


def test_a_dispute_with_a_stronger_one_says_why_it_was_not_replaced(vault: Vault, tmp_path: Path) -> None:
    with Bridge(vault(), "alpha", tmp_path / "repo") as bridge:
        old = ident(bridge.remember("Deploy window", MONDAY)[0])
        reply, _ = bridge.remember("Deploy window", TUESDAY, confidence="unverified", verification="hearsay")
        assert f"({old})" in reply and "is verified and this is unverified" in reply and "DISPUTED" in reply


def test_a_correction_of_a_general_memory_says_where_the_old_one_still_holds(vault: Vault, tmp_path: Path) -> None:
    root = vault()
    with Bridge(root, "alpha", tmp_path / "alpha") as bridge:
        old = ident(bridge.remember("Retry three times", "So it is.", scope="general", generality="everywhere so")[0])
    with Bridge(root, "beta", tmp_path / "beta") as bridge:
        reply, _ = bridge.remember("Beta retries once", "One is enough here.", supersedes=[old])
        assert f"Supersedes 'Retry three times' ({old}) for beta; elsewhere the old one still holds." in reply
    entries = {e.record.title: e for e in selection.select(Memories(str(root)).open(), PERSON).entries}
    assert entries["Retry three times"].state == "current", "the owner still sees what holds everywhere else"
    from vaultcore.memory.facets import facets

    told = " · ".join(facets(entries["Retry three times"]))
    assert "superseded for beta only, by 'Beta retries once'" in told


def test_a_project_that_nobody_knows_is_named_beside_the_known_ones(vault: Vault, tmp_path: Path) -> None:
    root = vault()
    for name in ("ghost", "harbour"):
        with Bridge(root, name, tmp_path / name) as bridge:
            assert not bridge.remember(f"A thing of {name}", f"Something that only {name} does.")[1]
    with Bridge(root, "alpha", tmp_path / "alpha") as bridge:
        reply, error = bridge.remember("For the others", "Something for them.", projects=["ghsot", "harbour"])
        assert not error and "ghsot is no project the vault knows" in reply
        assert "known: ghost, alpha, harbour" in reply or "known: ghost, harbour, alpha" in reply
        assert "harbour is no project" not in reply
        assert "no project the vault" not in bridge.remember("For harbour", "One more.", projects=["harbour"])[0]


def test_context_tells_of_a_memory_what_recall_tells(vault: Vault, tmp_path: Path) -> None:
    with Bridge(vault(), "alpha", tmp_path / "repo") as bridge:
        bridge.remember("Keep the parser pure", "It has no state.", confidence="inferred", paths=["src/p.py"])
        ((_, about, _),) = FRAME.findall(bridge.call("context", paths=["src/p.py"])[0])
        for facet in ("inferred", "project: alpha", "from alpha", "as of "):
            assert facet in about, about
        text = bridge.call("context", paths=["docs/x.md"])[0]
        assert text.startswith("The vault knows nothing about docs/x.md. 1 memory or note that reaches you names files")


def test_context_without_any_paths_is_plain_english(vault: Vault, tmp_path: Path) -> None:
    with Bridge(vault(), "alpha", tmp_path / "repo") as bridge:
        text = bridge.call("context", paths=["docs/x.md"])[0]
        assert text == "The vault knows nothing about docs/x.md. No memory or note that reaches you names any file."


def test_reading_a_memory_leads_to_recall_only_for_whom_it_reaches(vault: Vault, tmp_path: Path) -> None:
    root = vault()
    path = memory(root, "Pure", "The parser is pure.", title="The parser stays pure", id="m-000000000abc")
    rel = path.relative_to(root).as_posix()
    names = (rel, rel.removesuffix(".md"), "m-000000000abc", f"[[{rel}]]")
    with Bridge(root, "alpha", tmp_path / "alpha") as bridge:
        for name in names:
            for tool in ("read", "expand"):
                text, error = bridge.call(tool, note=name)
                assert error and "is a memory" in text and "timeline" in text and "m-000000000abc" in text, text
    with Bridge(root, "beta", tmp_path / "beta") as bridge:
        for name in names:
            text, error = bridge.call("read", note=name)
            missing, _ = bridge.call("read", note="memories/2026/03/Nothing.md")
            assert error and "is a memory" not in text
            assert text.split("'")[0] == missing.split("'")[0], "it is answered as one that does not exist"


def test_a_prompt_shows_each_memory_once(vault: Vault, tmp_path: Path) -> None:
    root = vault({"vault-manifest.json": EXPOSED, "brain/Parser.md": "# Parser\n\nThe parser note.\n"})
    with Bridge(root, "alpha", tmp_path / "alpha") as bridge:
        made = ident(bridge.remember("The parser stays pure", "The parser has no state.")[0])
        answer = bridge.ask("prompts/get", name="recall_topic", arguments={"topic": "parser"})
        text = answer["result"]["messages"][0]["content"]["text"]
        assert text.count(made) == 1 and "brain/Parser.md" in text


NOTE = "# Whole note\n\n## Ports\n\n- use 8080 ^port\n\n## Hosts\n\n- fern ^host\n"


@pytest.mark.parametrize(
    "marker", ["Missing#^x", "brain/Missing#^x", "work/Secret#^x", "work/NotThere#^x", "brain/Private#^x", "../x#^x"]
)
def test_a_note_that_cannot_be_served_is_answered_alike_whether_or_not_it_exists(vault: Vault, marker: str) -> None:
    root = vault(
        {
            "vault-manifest.json": EXPOSED,
            "brain/Rules.md": NOTE,
            "brain/Private.md": "---\nprivate: true\n---\nhidden ^x\n",
            "work/Secret.md": "hidden ^x\n",
        }
    )
    held = manifest.load(str(root))
    served = promotion.serve(marker, held, exposure.policy(held))
    name = marker.partition("#")[0]
    assert served.label == f"STALE: promoted into {name!r}, which is not there or not exposed"
