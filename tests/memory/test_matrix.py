"""The mutation check over the leak matrix: on each surface, each filter taken out lets through what it kept back."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_tree
from tests.memory.test_marks import FILTERS, STATES, lay_out
from tests.memory.world import Bridge as Stdio
from tests.memory.world import memory, om
from tests.repositories import repo
from tests.visit.running import index
from vaultbridge import prompts, resources
from vaultbridge.bridge import Bridge
from vaultbridge.tools import context, expand, read, recall, record_work, remember, search, timeline
from vaultcore.errors import Refusal
from vaultcore.identity import Caller

Ask = Callable[[Path, Path], str]
MANIFEST = json.dumps({"mcp_exposed_roots": ["brain", "work", "inbox"], "mcp_never_expose": ["brain/Never.md"]})
ALPHA = Caller(project="alpha", projects=("alpha",), source="test")
MUTANTS: dict[str, Any] = {
    "sees": lambda r, reader: True,
    "state_of": lambda *_: "current",
    "standing": lambda *_: ({}, set()),
    "INBOX": "_elsewhere",
}
NAMES = {token: token.removesuffix("token") for _, _, token in FILTERS} | {"inboxtoken": "proposed"}


def reply(tool: Any, vault: Path, **arguments: Any) -> str:
    try:
        return str(tool.run(Bridge(str(vault)), ALPHA, arguments))
    except Refusal as refusal:
        return f"{refusal} {refusal.details}"


def about_to_edit(vault: Path, where: Path) -> str:
    from vaultcore import agents
    from vaultcore.visit import advice, guest

    payload = {
        "session_id": str(where.stat().st_ino), "cwd": str(where), "hook_event_name": "PreToolUse",
        "tool_name": "Edit", "tool_input": {"file_path": str(where / "src/a.py")},
    }  # fmt: skip
    event = agents.Event(agents.load("claude"), "edit", payload, str(vault))
    visit = guest.arrive(event)
    assert visit is not None
    visit.session.path = ""  # nothing is told twice: forget that it was
    return advice.on(event, visit)


# what each surface says of the memories; the needle is the token, or the title where a surface shows titles
MEMORIES: dict[str, Ask] = {
    "recall": lambda v, _: reply(recall, v, query="quokka", limit=50),
    "search": lambda v, _: reply(search, v, query="quokka", limit=50),
    "prompt": lambda v, _: prompts.gather(Bridge(str(v)), ALPHA, "recall_topic", "quokka"),
    "path context": lambda v, _: reply(context, v, paths=["src/a.py"]),
    "before an edit": about_to_edit,
}


@pytest.fixture
def world(vault: Callable[..., Path]) -> Path:
    held = vault({
        "vault-manifest.json": MANIFEST,
        "brain/Live.md": "---\ndate: 2026-01-01\ntags: [wombat]\n---\n# Live\n\nwombat shown\n",
        "brain/Never.md": "---\ndate: 2026-01-01\ntags: [nevertag]\n---\n# Never told\n\nwombat nevertoken\n",
        "brain/Private.md": "---\ndate: 2026-01-01\nprivate: true\n---\n# Private one\n\nwombat privatetoken\n",
        "diary/Outside.md": "---\ndate: 2026-01-01\n---\n# Outside one\n\nwombat outsidetoken\n",
    })  # fmt: skip
    lay_out(held)
    for path in (held / "memories" / "_inbox").iterdir():
        path.write_text(path.read_text("utf-8").replace("scope: general", "scope: general\npaths: [src/a.py]"))
    return held


@pytest.fixture
def alpha(tmp_path: Path) -> Path:
    return write_tree(repo(tmp_path / "alpha"), {"src/a.py": "a\n"})


@pytest.mark.parametrize("surface", MEMORIES)
@pytest.mark.parametrize(("module", "name", "token"), FILTERS)
def test_without_its_filter_each_surface_lets_the_memory_through(
    world: Path, alpha: Path, surface: str, module: str, name: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultbridge import memories as hits
    from vaultcore.memory import anchors, covering
    from vaultcore.visit import advice

    index(world)
    for place, most in ((hits, "MOST_HITS"), (advice, "MOST"), (advice, "MOST_MEMORIES"), (advice, "BYTES")):
        monkeypatch.setattr(place, most, 50_000 if most == "BYTES" else 50, raising=False)
    if surface == "prompt":
        monkeypatch.setattr(prompts, "gather", _wide(prompts.gather))

    def leaks() -> bool:
        said = MEMORIES[surface](world, alpha)
        return token in said or f'title="{NAMES[token]}"' in said or f"{NAMES[token]}.md" in said

    said = MEMORIES[surface](world, alpha)
    assert "livetoken" in said or '"live"' in said, "the control"
    assert not leaks()
    monkeypatch.setattr(importlib.import_module(module), name, MUTANTS[name])
    if name == "sees":  # whose repository the paths are asked of is a filter of its own
        monkeypatch.setattr(covering, "of_memory", lambda r, reader, wanted: anchors.matching(r.paths, wanted))
    assert leaks()


def _wide(gather: Any) -> Any:
    """The first look of a prompt shows five; the matrix needs all."""

    def call(bridge: Bridge, caller: Caller, name: str, value: str) -> str:
        run = recall.run
        try:
            recall.run = lambda b, c, given: run(b, c, {**given, "limit": 50})  # type: ignore[assignment]
            return str(gather(bridge, caller, name, value))
        finally:
            recall.run = run

    return call


REFUSALS: dict[str, Ask] = {
    "history": lambda v, _: reply(timeline, v, id="foreign"),
    "duplicate": lambda v, _: reply(
        remember, v, title="foreign", body="quokka foreigntoken", confidence="inferred",
        scope="project", projects=["alpha", "beta"], dry_run=True,
    ),
    "superseding": lambda v, _: reply(
        remember, v, title="Another", body="quokka foreigntoken", confidence="inferred", supersedes=["foreign"],
        scope="project", projects=["alpha", "beta"], dry_run=True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("surface", REFUSALS)
def test_without_reach_a_refusal_tells_of_another_projects_memory(
    world: Path, alpha: Path, surface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tells() -> bool:
        said = REFUSALS[surface](world, alpha)
        return any(w in said for w in ("2026/03/foreign.md", "quokka foreigntoken", "recorded as foreign", "(foreign)"))

    assert not tells()
    monkeypatch.setattr("vaultcore.memory.reach.sees", MUTANTS["sees"])
    assert tells()


NOTES: dict[str, Ask] = {
    "search": lambda v, _: reply(search, v, query="wombat", limit=50),
    "resources": lambda v, _: json.dumps(resources.page(Bridge(str(v)), None)),
    "completion": lambda v, _: " ".join(resources.paths(Bridge(str(v)), "e")),
    "prompt completion": lambda v, _: " ".join(prompts.topics(Bridge(str(v)), "topic", "e")),
    "read": lambda v, _: "".join(reply(read, v, note=n) for n in ("brain/Live.md", "brain/Never.md")),
    "expand": lambda v, _: "".join(reply(expand, v, note=n) for n in ("brain/Live.md", "brain/Never.md")),
    "resource": lambda v, _: "".join(map(resource(v), ("brain/Live.md", "brain/Never.md"))),
}


def resource(vault: Path) -> Callable[[str], str]:
    def text(rel: str) -> str:
        try:
            return json.dumps(resources.read(Bridge(str(vault)), resources.uri(rel)))
        except resources.UnknownResource:
            return ""

    return text


@pytest.mark.parametrize("surface", NOTES)
def test_without_the_policy_each_surface_tells_of_a_note_that_is_never_exposed(
    world: Path, alpha: Path, surface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultcore import exposure

    def tells() -> bool:
        said = NOTES[surface](world, alpha)
        assert "Live" in said or "wombat" in said, "the control"
        return any(w in said for w in ("nevertoken", "Never told", "nevertag", 'name="brain/Never', 'brain/Never.md",'))

    def all_of_it(manifest: Any, policy: Any, rel: str) -> exposure.Decision:
        return exposure.Decision("ok", rel, "")

    index(world)
    assert not tells()
    monkeypatch.setattr(exposure.Policy, "admits", lambda self, rel: True)
    monkeypatch.setattr(exposure, "readable", all_of_it)
    assert tells() or (surface == "completion" and "Never" in NOTES[surface](world, alpha))


def test_without_its_filter_a_refused_record_tells_of_a_note_that_is_never_exposed(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultcore import exposure

    given = {"title": "The gateway answers late", "summary": "The gateway answers late after each deployment.",
             "project": "alpha"}  # fmt: skip
    given = {k: v for k, v in given.items() if k in record_work.TOOL["inputSchema"]["properties"]}
    assert "Recorded" in reply(record_work, world, **given)
    (made,) = [p for p in (world / "inbox").rglob("*.md") if "gateway" in p.name]
    again = {**given, "summary": given["summary"] + " It really does."}
    assert made.name in reply(record_work, world, **again), "the control: what may be read is named"
    never = {"mcp_exposed_roots": ["brain", "work", "inbox"], "mcp_never_expose": [made.relative_to(world).as_posix()]}
    (world / "vault-manifest.json").write_text(json.dumps(never), encoding="utf-8")
    assert made.name not in reply(record_work, world, **again, dry_run=True).replace("(2)", "")
    monkeypatch.setattr(exposure, "readable", lambda m, p, rel: exposure.Decision("ok", rel, ""))
    assert made.name in reply(record_work, world, **again, dry_run=True)


def test_a_contested_name_is_served_general_memories_only_on_every_surface(
    world: Path, alpha: Path, tmp_path: Path
) -> None:
    from tests.memory.test_marks import HIDDEN, surfaces

    memory(world, "everybody", "quokka generaltoken", scope="general", paths=["src/a.py"])
    assert om(world, "register", str(alpha), "--agent", "claude").returncode == 0
    rival = write_tree(repo(tmp_path / "elsewhere" / "alpha", commit="other"), {"src/a.py": "a\n"})
    for folder, mine in ((alpha, True), (rival, False)):
        with Stdio(world, "alpha", folder) as bridge:
            found = surfaces(bridge, folder)
        assert "generaltoken" in found["recall"], "the control"
        assert ("livetoken" in found["recall"]) is mine
        for surface, text in found.items():
            hidden = [*HIDDEN, *([] if mine else ["livetoken"])]
            assert [token for token in hidden if token in text] == [], (surface, mine)


def test_without_its_filter_a_contested_name_is_served_what_is_the_others(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutation check: the name that is claimed taken for the name that is held."""
    from vaultbridge import memories
    from vaultcore.memory.reach import Reader

    contested = Caller(project=None, claimed="alpha", contested=True, source="test")

    def ask() -> str:
        return str(recall.run(Bridge(str(world)), contested, {"query": "quokka", "limit": 50}))

    assert "livetoken" not in ask()
    monkeypatch.setattr(memories, "reader", lambda caller: Reader((caller.claimed,)))
    assert "livetoken" in ask()


def test_without_its_filter_the_session_start_lists_what_is_never_exposed(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultcore import agents
    from vaultcore.session import briefing

    (world / "guides").mkdir()
    (world / "guides" / "Sealed one.md").write_text("---\ndate: 2026-01-01\n---\n# Sealed\n", encoding="utf-8")
    (world / "reference").mkdir()
    (world / "reference" / "Open one.md").write_text("---\ndate: 2026-01-01\n---\n# Open\n", encoding="utf-8")
    (world / "vault-manifest.json").write_text(json.dumps({"mcp_never_expose": ["guides/*"]}), encoding="utf-8")

    def told() -> str:
        payload = {"session_id": "s", "cwd": str(world), "source": "startup"}
        event = agents.Event(agents.load("claude"), "session-start", payload, str(world))
        event.root = str(world)
        return briefing.compose(event)

    assert "Open one" in told(), "the control"
    assert "Sealed one" not in told()
    monkeypatch.setattr(briefing, "kept_back", lambda rel, patterns: False)
    assert "Sealed one" in told()


def test_every_state_of_the_matrix_has_its_filter() -> None:
    assert {"rejected", "superseded"} <= set(STATES) and {name for _, name, _ in FILTERS} == set(MUTANTS)
