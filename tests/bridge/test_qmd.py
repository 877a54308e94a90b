"""qmd as a second engine: what it is asked, what of its answers is believed, and that its failures fail no search."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.fake_qmd import Fake
from tests.conftest import write_tree
from vaultbridge import qmd as second
from vaultbridge import search as searching
from vaultbridge.bridge import Bridge
from vaultbridge.qmd import client, keeper, program, queries
from vaultbridge.search import Answer
from vaultcore import qmd

Vault = Callable[..., Path]
MANIFEST = '{"mcp_exposed_roots": ["notes"], "search": {"backend": "%s"}}\n'
NOTES = {
    "notes/alpha.md": "# Alpha\n\nzebra crossing\n",
    "notes/beta.md": "# Beta\n\n## Second\n\nunrelated words\n",
    "notes/deep/gamma.md": "---\ntags: [deep]\n---\n# Gamma\n\nmore\n",
    "notes/hidden.md": "---\nprivate: true\n---\n# Hidden\n\nzebra secret\n",
    "diary/own.md": "# Own\n\nzebra diary\n",
}
MODEL = b"GGUF" + b"\0" * 200_000


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """An installed qmd whose index is the vault's."""
    made = Fake(tmp_path / "npm")
    made.install(monkeypatch)
    monkeypatch.setenv("OM_WORKER", "off")
    monkeypatch.setattr(program, "_found", None)
    return made


@pytest.fixture
def world(vault: Vault, fake: Fake) -> Iterator[Callable[..., Bridge]]:
    """`world(backend="auto", models=True)` gives a bridge over NOTES with qmd registered."""
    made: list[Bridge] = []

    def build(backend: str = "auto", models: bool = True, registered: bool = True, **files: str) -> Bridge:
        root = vault({"vault-manifest.json": MANIFEST % backend, **NOTES, **files})
        if registered:
            register(root, fake)
        if models:
            download("embeddinggemma-300M-Q8_0.gguf")
        made.append(Bridge(str(root)))
        return made[-1]

    yield build
    for bridge in made:
        bridge.close()


def register(root: Path, fake: Fake, name: str = "vault") -> None:
    write_tree(Path(qmd.config_path(name)).parent, {f"{name}.yml": f'collections:\n  {name}:\n    path: "{root}"\n'})
    fake.set(folder=str(root), name=name)


def download(*names: str) -> None:
    for name in names:
        write_tree(Path(qmd.cache_folder()) / "models", {"hf_someone_" + name: MODEL})


def find(bridge: Bridge, query: str = "zebra", limit: int = 10, **options: Any) -> Answer:
    return searching.search(bridge, None, query, limit, **options)


def rels(answer: Answer) -> list[str]:
    return [hit.rel for hit in answer.hits]


# -- when it is asked -----------------------------------------------------------------------------------------------


def test_its_hits_join_those_of_the_words_and_the_reply_says_that_both_answered(
    world: Callable[..., Bridge], fake: Fake
) -> None:
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
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch,
    backend: str, models: bool, registered: bool, installed: bool, lane: str | None,
) -> None:  # fmt: skip
    if not installed:
        monkeypatch.setenv("OM_QMD", "/nowhere/dist/cli/qmd.js")
    answer = find(world(backend, models, registered))
    told = answer.lanes.get("qmd")
    assert told is None if lane is None else told is not None and told.startswith(lane)
    assert bool(fake.queries()) == (lane == "ok")
    assert rels(answer) == ["notes/alpha.md"]


def test_an_index_that_is_another_vaults_is_not_asked(world: Callable[..., Bridge], fake: Fake, tmp_path: Path) -> None:
    bridge = world(registered=False)
    register(tmp_path / "elsewhere", fake)
    assert "qmd" not in find(bridge).lanes
    assert fake.calls == []


def test_without_vectors_it_is_not_asked_until_there_are_some(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch
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
    world: Callable[..., Bridge], fake: Fake, query: str, models: tuple[str, ...], kinds: set[str]
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
def test_a_model_that_is_no_model_counts_as_missing(world: Callable[..., Bridge], content: bytes, there: bool) -> None:
    bridge = world(models=False)
    write_tree(Path(qmd.cache_folder()) / "models", {"embeddinggemma-300M-Q8_0.gguf": content})
    assert (find(bridge).lanes["qmd"] == "ok") == there


def test_models_are_looked_for_where_the_configuration_says(world: Callable[..., Bridge], tmp_path: Path) -> None:
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
    world: Callable[..., Bridge], fake: Fake, results: list[Any], shown: list[str], counts: tuple[int, int]
) -> None:
    bridge = world(**{"notes/with spaces.md": "# Spaces\n"})
    fake.set(results=[(path if path is not None else "", line) for path, line in results])
    answer = find(bridge, "nothingelsematches")
    assert rels(answer) == shown
    assert (answer.withheld, answer.dropped) == counts


def test_a_note_changed_since_its_update_is_shown_as_it_is_now(world: Callable[..., Bridge], fake: Fake) -> None:
    bridge = world()
    fake.set(results=[("notes/beta.md", 5)])
    find(bridge)
    write_tree(Path(bridge.root), {"notes/beta.md": "# Beta\n\nquite new\n"})
    (hit,) = find(bridge, "nothingelsematches").hits
    assert hit.snippet == "# Beta quite new"


def test_places_that_the_policy_empties_are_filled_from_behind(world: Callable[..., Bridge], fake: Fake) -> None:
    bridge = world()
    fake.set(results=[("notes/hidden.md", 1), ("diary/own.md", 1), ("notes/beta.md", 1), ("notes/deep/gamma.md", 1)])
    assert rels(find(bridge, "nothingelsematches", 2)) == ["notes/beta.md", "notes/deep/gamma.md"]
    assert fake.queries()[0]["limit"] >= 50


@pytest.mark.parametrize(
    ("options", "shown"),
    [({"folder": "notes/deep"}, ["notes/deep/gamma.md"]), ({"tag": "deep"}, ["notes/deep/gamma.md"])],
)
def test_a_folder_or_a_tag_filters_what_comes_back_and_stays_out_of_the_query(
    world: Callable[..., Bridge], fake: Fake, options: dict[str, str], shown: list[str]
) -> None:
    bridge = world()
    fake.set(results=[("notes/beta.md", 1), ("notes/deep/gamma.md", 1), ("notes/gone.md", 1)])
    assert rels(find(bridge, "nothingelsematches", **options)) == shown
    assert "deep" not in str(fake.queries())


# -- what it may do wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("dies at once", "it ended"),
        ("dies in a call", "it ended"),
        ("is something else", "'other', not qmd"),
        ("floods", "it printed what is no protocol"),
        ("never greets", "it did not answer within"),
        ("never answers queries", "still loading its models"),
        ("hangs", "still loading its models"),
        ("is an error", "database is locked"),
        ("is a protocol error", "Tool query not found"),
        ("answers in text only", "without structured results"),
        ("answers nonsense", "without structured results"),
    ],
)
def test_whatever_it_does_wrong_the_words_answer_and_the_lanes_say_so(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch, mode: str, reason: str
) -> None:
    monkeypatch.setattr(keeper, "START", 0.8 if mode == "never greets" else 20.0)
    monkeypatch.setattr(keeper, "FIRST", 0.3 if "models" in reason else 20.0)
    bridge = world()
    fake.set(mode=mode, results=[("notes/beta.md", 1)])
    answer = find(bridge)
    assert rels(answer) == ["notes/alpha.md"]
    assert answer.lanes["words"] == "ok"
    assert answer.lanes["qmd"].startswith("failed: ") and reason in answer.lanes["qmd"]


def test_lines_on_its_stdout_that_are_no_protocol_do_no_harm(world: Callable[..., Bridge], fake: Fake) -> None:
    bridge = world()
    fake.set(mode="chatters", results=[("notes/beta.md", 1)])
    assert rels(find(bridge)) == ["notes/alpha.md", "notes/beta.md"]


def test_a_lost_child_is_replaced_after_a_moment_that_grows(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = world()
    fake.set(mode="dies in a call")
    now = [1_000.0]
    monkeypatch.setattr(keeper.time, "monotonic", lambda: now[0])
    for pause in (*keeper.COOL_DOWN, keeper.COOL_DOWN[-1]):
        started = len(fake.starts())
        assert find(bridge).lanes["qmd"].startswith("failed: it ended")
        assert len(fake.starts()) == started + 1
        now[0] += pause - 0.1
        assert find(bridge).lanes["qmd"] == "off for a moment: it ended"
        assert len(fake.starts()) == started + 1, "no new one before its time"
        now[0] += 0.2
    fake.set(mode="", results=[("notes/beta.md", 1)])
    assert rels(find(bridge)) == ["notes/alpha.md", "notes/beta.md"]
    kill(bridge)
    assert "failed" in find(bridge).lanes["qmd"]
    now[0] += keeper.COOL_DOWN[0] + 0.1
    assert find(bridge).lanes["qmd"] == "ok", "an answer in between starts the count anew"


def kill(bridge: Bridge) -> None:
    """Kill the child as the system would, and wait until that is noticed."""
    found = second.keeper_of(bridge).client
    assert found is not None and found._child is not None
    found._child.kill()
    found._thread.join(20)


def test_everyone_who_waits_for_a_child_that_dies_hears_of_it_at_once(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(keeper, "LATER", 600.0)
    bridge = world()
    find(bridge)
    fake.set(mode="waits")
    kept = second.keeper_of(bridge)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(kept.ask, f"zebra {i}") for i in range(4)]
        found = kept.client
        assert found is not None
        while len(found._waiting) < 4:
            pass
        kill(bridge)
        for one in waiting:
            with pytest.raises(client.Lost, match="it ended"):
                one.result(30)


def test_a_first_answer_that_takes_long_is_waited_for_once_and_then_in_the_background(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "FIRST", 0.3)
    bridge = world()
    fake.set(mode="waits", results=[("notes/beta.md", 1)])
    assert "this says nothing about the notes" in find(bridge).lanes["qmd"]
    assert find(bridge).lanes["qmd"].startswith("still loading its models after")
    assert len(fake.queries()) == 1, "it is not asked again while it loads"
    found = second.keeper_of(bridge).client
    assert found is not None and not found.warm, "a question sent is no answer"
    (fake.package / "go").touch()
    while not found.warm:
        pass
    assert rels(find(bridge)) == ["notes/alpha.md", "notes/beta.md"]
    assert len(fake.starts()) == 1


def test_a_first_answer_that_never_comes_ends_the_child(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "FIRST", 0.2)
    bridge = world()
    fake.set(mode="never answers queries")
    find(bridge)
    monkeypatch.setattr(keeper, "COLD", 0.0)
    assert find(bridge).lanes["qmd"] == "off for a moment: its first answer never came"


def test_a_warm_child_that_is_late_twice_is_given_up(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = world()
    assert find(bridge).lanes["qmd"] == "ok"
    monkeypatch.setattr(keeper, "LATER", 0.2)
    fake.set(mode="never answers queries")
    assert find(bridge).lanes["qmd"].startswith("failed: it did not answer within")
    assert find(bridge).lanes["qmd"].startswith("failed: it did not answer within")
    assert find(bridge).lanes["qmd"].startswith("off for a moment: it was slower than")


def test_no_search_waits_for_anothers_start(world: Callable[..., Bridge], fake: Fake) -> None:
    bridge = world()
    kept = second.keeper_of(bridge)
    with kept._starting:
        assert "it is being started" in find(bridge).lanes["qmd"]


def test_a_child_serving_another_folder_under_our_name_is_refused(
    world: Callable[..., Bridge], fake: Fake, tmp_path: Path
) -> None:
    bridge = world()
    fake.set(folder=str(tmp_path), results=[("notes/beta.md", 1)])
    assert "is another folder's" in find(bridge).lanes["qmd"]
    fake.set(name="unknown")


def test_one_child_serves_a_bridge_and_is_asked_once_for_one_search(world: Callable[..., Bridge], fake: Fake) -> None:
    bridge = world()
    fake.set(results=[(f"notes/gone{i}.md", 1) for i in range(60)])
    for query in ("zebra", "crossing", "nothing at all"):
        find(bridge, query)
    assert (len(fake.starts()), len(fake.queries())) == (1, 3)


# -- the process ----------------------------------------------------------------------------------------------------


def test_the_child_is_nodes_own_entry_script_pinned_quiet_and_outside_the_vault(
    world: Callable[..., Bridge], fake: Fake
) -> None:
    bridge = world()
    find(bridge)
    (start,) = [call for call in fake.calls if "argv" in call]
    assert start["argv"] == ["--index", "vault", "mcp"]
    assert start["env"] == {"INDEX_PATH": qmd.store_path("vault"), "GGML_BACKEND_SILENT": "1"}
    assert not start["cwd"].startswith(bridge.root), "a .qmd folder in a cloned vault must not be obeyed"
    assert start["pid"] == start["group"] != os.getpgid(0)


def test_a_store_that_the_user_pinned_for_themselves_is_not_ours(
    world: Callable[..., Bridge], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEX_PATH", "/elsewhere.sqlite")
    find(world())
    assert fake.calls[0]["env"]["INDEX_PATH"] == qmd.store_path("vault")


def test_the_child_ends_with_its_bridge(world: Callable[..., Bridge], fake: Fake) -> None:
    bridge = world()
    find(bridge)
    found = second.keeper_of(bridge).client
    assert found is not None and found._child is not None
    bridge.close()
    assert found._child.poll() is not None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the end of stdin ends it once it is idle")
def test_the_child_ends_even_when_its_bridge_is_killed_in_the_middle_of_a_call(
    world: Callable[..., Bridge], fake: Fake
) -> None:
    bridge = world()
    fake.set(mode="hangs")
    code = (
        "from vaultbridge.bridge import Bridge\n"
        "from vaultbridge import search\n"
        "from vaultbridge.qmd import keeper\n"
        "keeper.FIRST = 600\n"
        f"search.search(Bridge({bridge.root!r}), None, 'zebra', 5)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "src"})
    while not fake.queries():
        assert parent.poll() is None
    (child,) = [call["pid"] for call in fake.calls if "argv" in call]
    parent.kill()
    parent.wait()
    while running(child):
        pass


def running(pid: int) -> bool:
    """Whether a process is there and not only waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


# -- health ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "state", "text"),
    [
        ({}, "ok", "results for the title of a note"),
        ({"mode": "dies in a call"}, "warn", "a query failed: it ended"),
        ({"mode": "answers in text only"}, "warn", "without structured results"),
        ({"mode": "is an error"}, "warn", "database is locked"),
    ],
)
def test_health_asks_what_a_search_would_ask(
    world: Callable[..., Bridge], fake: Fake, plan: dict[str, Any], state: str, text: str
) -> None:
    from vaultbridge.qmd import checks

    bridge = world()
    write_tree(Path(qmd.cache_folder()), {"vault.sqlite": b""})
    bridge.refresh()
    fake.set(results=[("notes/beta.md", 1)], **plan)
    (finding,) = checks.state(bridge)
    assert (finding.state, text in finding.text) == (state, True), finding.text
    assert fake.queries()[0]["rerank"] is False


def test_health_gives_a_cold_child_a_minute_and_a_warm_one_seconds(
    world: Callable[..., Bridge], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultbridge.qmd import checks

    bridge = world()
    bridge.refresh()
    given = []
    real = client.Client.tool

    def tool(self: client.Client, name: str, arguments: dict[str, Any], timeout: float) -> dict[str, Any]:
        if name == "query":
            given.append(timeout)
        return real(self, name, arguments, timeout)

    monkeypatch.setattr(client.Client, "tool", tool)
    list(checks.probe(bridge))
    list(checks.probe(bridge))
    assert given == [60.0, 5.0]


@pytest.mark.parametrize(
    ("version", "least", "sentence"),
    [
        ("2.8.3", "2.0.0", ""), ("2.10.0", "2.9", ""), ("2.8.2", "", "is older than 2.8.3"),
        ("2.9.0", "3.0", "older than 3.0"), ("", "", "of unknown version"),
    ],
)  # fmt: skip
def test_an_old_qmd_is_not_used_and_the_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, least: str, sentence: str
) -> None:
    Fake(tmp_path / "npm", version).install(monkeypatch)
    monkeypatch.setattr(program, "_found", None)
    found = program.find(least)
    assert isinstance(found, program.Program) if not sentence else sentence in str(found)


def test_it_is_found_beside_its_launcher_and_a_stranger_of_that_name_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(tmp_path / "lib")
    write_tree(
        tmp_path / "lib",
        {"node_modules/@tobilu/qmd/bin/qmd": "#!/bin/sh\n", "../some/where/stranger/qmd": "#!/bin/sh\ntouch ran\n"},
    )
    (fake.package / "bin" / "qmd").chmod(0o755)
    stranger = tmp_path / "some" / "where" / "stranger"
    (stranger / "qmd").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "qmd").symlink_to(fake.package / "bin" / "qmd")
    monkeypatch.setenv("OM_NODE", str(fake.node))
    monkeypatch.setattr(program, "_found", None)
    monkeypatch.setenv("PATH", str(stranger))
    monkeypatch.chdir(tmp_path)
    assert program.find() is None
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = program.find()
    assert isinstance(found, program.Program) and found.entry == str(fake.entry)
    assert not (tmp_path / "ran").exists()
