"""qmd as a second engine: when it is asked, what it is asked, and what of its answers is believed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.qmd.fake import Fake
from tests.bridge.qmd.scene import MANIFEST, MODEL, NOTES, World, download, find, register, rels
from tests.conftest import write_tree
from vaultbridge import qmd as second
from vaultbridge.qmd import program, queries
from vaultcore import qmd

Vault = Callable[..., Path]


# -- when it is asked -----------------------------------------------------------------------------------------------


def test_its_hits_join_those_of_the_words_and_the_reply_says_that_both_answered(world: World, fake: Fake) -> None:
    bridge = world()
    fake.set(results=[("notes/beta.md", 5), ("notes/alpha.md", 1)])
    answer = find(bridge)
    assert rels(answer) == ["notes/alpha.md", "notes/beta.md"]
    assert (answer.lanes["words"], answer.lanes["qmd"]) == ("ok", "ok")
    assert [hit.lane for hit in answer.hits] == ["words+qmd", "qmd"]
    assert (answer.hits[1].heading, answer.hits[1].snippet) == ("Second", "## Second unrelated words")


@pytest.mark.parametrize(
    ("backend", "models", "registered", "installed", "lane"),
    [
        ("auto", True, True, True, "ok"),
        ("auto", False, True, True, "not asked: its models are not here"),
        ("auto", True, False, True, None),
        ("auto", True, True, False, None),
        ("embedded", True, True, True, None),
        ("qmd", False, True, True, "ok"),
        ("qmd", True, False, True, "off: this vault has no qmd index: run `om qmd setup`"),
        ("qmd", True, True, False, "off: qmd is not installed"),
    ],
)
def test_the_manifest_the_models_and_the_index_decide_whether_it_is_asked(
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch,
    backend: str, models: bool, registered: bool, installed: bool, lane: str | None,
) -> None:  # fmt: skip
    if not installed:
        monkeypatch.setenv("OM_QMD", "/nowhere/dist/cli/qmd.js")
    answer = find(world(backend, models, registered))
    told = answer.lanes.get("qmd")
    assert told is None if lane is None else told is not None and told.startswith(lane)
    assert bool(fake.queries()) == (lane == "ok")
    assert rels(answer) == ["notes/alpha.md"]


def test_an_index_that_is_another_vaults_is_not_asked(world: World, fake: Fake, tmp_path: Path) -> None:
    bridge = world(registered=False)
    register(tmp_path / "elsewhere", fake)
    assert "qmd" not in find(bridge).lanes
    assert fake.calls == []


def test_without_vectors_it_is_not_asked_until_there_are_some(
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = world()
    fake.set(vectors=False, results=[("notes/beta.md", 1)])
    assert "no vectors yet" in find(bridge).lanes["qmd"]
    assert "not asked: it has no vectors yet" in find(bridge).lanes["qmd"]
    assert fake.queries() == []
    fake.set(vectors=True)
    second.keeper_of(bridge).look_again()
    assert find(bridge).lanes["qmd"] == "ok"


def test_a_vault_that_does_not_use_qmd_pays_nothing_for_it(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault({"vault-manifest.json": MANIFEST % "auto", **NOTES})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(program, "_found", None)
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen = None\n"
        "from vaultbridge.bridge import Bridge\n"
        "from vaultbridge import search\n"
        f"answer = search.search(Bridge({str(root)!r}), None, 'zebra', 5)\n"
        "print(sorted(answer.lanes), [m for m in sys.modules if m in ('mcp', 'yaml', 'vaultbridge.qmd.client.x')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "src"}, capture_output=True)
    assert done.stdout.decode() == "['names', 'words'] []\n", done.stderr.decode()


# -- what it is asked -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["zebra", "how do we sign session tokens?", '-x "unbalanced', "line\nbreak", "設計"])
@pytest.mark.parametrize(
    ("models", "kinds"),
    [
        ((), {"lex"}),
        (("qwen3-reranker-0.6b-q8_0.gguf", "qmd-query-expansion-1.7B-q4_k_m.gguf"), {"lex"}),
        (("embeddinggemma-300M-Q8_0.gguf",), {"lex", "vec", "hyde"}),
    ],
)
def test_nothing_that_needs_a_missing_model_is_ever_sent(
    world: World, fake: Fake, query: str, models: tuple[str, ...], kinds: set[str]
) -> None:
    bridge = world("qmd", models=False)
    download(*models)
    assert find(bridge, query).lanes["qmd"] == "ok"
    for asked in fake.queries():
        assert "query" not in asked, "its own expansion needs the largest model"
        assert asked["rerank"] is False, "left out, it means true"
        assert {one["type"] for one in asked["searches"]} <= kinds
        assert asked["collections"] == ["vault"]
        assert 1 <= len(asked["searches"]) <= queries.MOST_LISTS
        assert all(one["query"] == queries.plain(one["query"]) != "" for one in asked["searches"])


@pytest.mark.parametrize(
    ("content", "there"),
    [(MODEL, True), (MODEL[:50], False), (b"<html>not found" + MODEL, False), (b"", False)],
)
def test_a_model_that_is_no_model_counts_as_missing(world: World, content: bytes, there: bool) -> None:
    bridge = world(models=False)
    write_tree(Path(qmd.cache_folder()) / "models", {"embeddinggemma-300M-Q8_0.gguf": content})
    assert (find(bridge).lanes["qmd"] == "ok") == there


def test_models_are_looked_for_where_the_configuration_says(world: World, tmp_path: Path) -> None:
    bridge = world(models=False)
    write_tree(tmp_path, {"own.gguf": MODEL})
    with open(qmd.config_path("vault"), "a") as file:
        file.write(f'models:\n  embed: "{tmp_path}/own.gguf"\n')
    assert find(bridge).lanes["qmd"] == "ok"


def test_several_lists_keep_a_question_from_coming_back_empty() -> None:
    found = [one["query"] for one in queries.lists("How did we choose the session token format?", False)]
    assert found[0] == "choose session token format"
    assert {"choose session", "session token", "token", "session", "format"} <= set(found)
    assert len(found) == len(set(found)) <= 10


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("session token format", ["lex", "vec"]),
        ("why JWT?", ["lex", "vec"]),
        ("how are session tokens signed", ["lex", "vec", "hyde"]),
        ("the team decided on four words?", ["lex", "vec", "hyde"]),
        ("the team decided on four words", ["lex", "vec"]),
        ("🚀", ["vec"]),
        ("", []),
    ],
)
def test_an_imagined_answer_is_looked_for_only_for_real_questions(query: str, kinds: list[str]) -> None:
    assert [one["type"] for one in queries.lists(query, True)] == kinds


# -- what of its answers is believed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("results", "shown", "counts"),
    [
        ([("notes/hidden.md", 1)], [], (1, 0)),
        ([("diary/own.md", 1)], [], (1, 0)),
        ([("notes/gone.md", 1)], [], (0, 1)),
        ([("../outside.md", 1)], [], (1, 0)),
        ([("/etc/passwd", 1)], [], (0, 0)),
        ([("qmd://other/notes/beta.md", 1)], [], (0, 0)),
        ([("memories/2026/x.md", 1)], [], (0, 0)),
        ([("qmd://vault/notes/beta.md", 1)], ["notes/beta.md"], (0, 0)),
        ([("notes\\beta.md", 1)], ["notes/beta.md"], (0, 0)),
        ([("notes/beta.md", -3), ("notes/beta.md", 9_999)], ["notes/beta.md"], (0, 0)),
        ([("notes/beta.md", "x"), (None, 1), ("x" * 9_000, 1)], ["notes/beta.md"], (0, 0)),
        ([("Notes/With-Spaces.md", 1)], ["notes/with spaces.md"], (0, 0)),
        ([("other/with-spaces.md", 1)], [], (1, 0)),
    ],
)  # fmt: skip
def test_a_result_is_a_pointer_that_policy_and_live_file_judge(
    world: World, fake: Fake, results: list[Any], shown: list[str], counts: tuple[int, int]
) -> None:
    bridge = world(**{"notes/with spaces.md": "# Spaces\n"})
    fake.set(results=[(path if path is not None else "", line) for path, line in results])
    answer = find(bridge, "nothingelsematches")
    assert rels(answer) == shown
    assert (answer.withheld, answer.dropped) == counts


def test_a_note_changed_since_its_update_is_shown_as_it_is_now(world: World, fake: Fake) -> None:
    bridge = world()
    fake.set(results=[("notes/beta.md", 5)])
    find(bridge)
    write_tree(Path(bridge.root), {"notes/beta.md": "# Beta\n\nquite new\n"})
    (hit,) = find(bridge, "nothingelsematches").hits
    assert hit.snippet == "# Beta quite new"


def test_places_that_the_policy_empties_are_filled_from_behind(world: World, fake: Fake) -> None:
    bridge = world()
    fake.set(results=[("notes/hidden.md", 1), ("diary/own.md", 1), ("notes/beta.md", 1), ("notes/deep/gamma.md", 1)])
    assert rels(find(bridge, "nothingelsematches", 2)) == ["notes/beta.md", "notes/deep/gamma.md"]
    assert fake.queries()[0]["limit"] >= 50


@pytest.mark.parametrize(
    ("options", "shown"),
    [({"folder": "notes/deep"}, ["notes/deep/gamma.md"]), ({"tag": "deep"}, ["notes/deep/gamma.md"])],
)
def test_a_folder_or_a_tag_filters_what_comes_back_and_stays_out_of_the_query(
    world: World, fake: Fake, options: dict[str, str], shown: list[str]
) -> None:
    bridge = world()
    fake.set(results=[("notes/beta.md", 1), ("notes/deep/gamma.md", 1), ("notes/gone.md", 1)])
    assert rels(find(bridge, "nothingelsematches", **options)) == shown
    assert "deep" not in str(fake.queries())
