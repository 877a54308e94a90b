"""Whatever qmd does wrong, the embedded engine answers, and its process never outlives the bridge."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.qmd.fake import Fake
from tests.bridge.qmd.scene import World, find, rels
from tests.conftest import write_tree
from vaultbridge import qmd as second
from vaultbridge.bridge import Bridge
from vaultbridge.qmd import client, keeper, program
from vaultcore import qmd

Vault = Callable[..., Path]


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
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch, mode: str, reason: str
) -> None:
    monkeypatch.setattr(keeper, "START", 0.8 if mode == "never greets" else 20.0)
    monkeypatch.setattr(keeper, "FIRST", 0.3 if "models" in reason else 20.0)
    bridge = world()
    fake.set(mode=mode, results=[("notes/beta.md", 1)])
    answer = find(bridge)
    assert rels(answer) == ["notes/alpha.md"]
    assert answer.lanes["words"] == "ok"
    assert answer.lanes["qmd"].startswith(reason if "models" in reason else "failed: ")
    assert reason in answer.lanes["qmd"]


def test_lines_on_its_stdout_that_are_no_protocol_do_no_harm(world: World, fake: Fake) -> None:
    bridge = world()
    fake.set(mode="chatters", results=[("notes/beta.md", 1)])
    assert rels(find(bridge)) == ["notes/alpha.md", "notes/beta.md"]


def test_a_lost_child_is_replaced_after_a_moment_that_grows(
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch
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
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch
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
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch
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
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "FIRST", 0.2)
    bridge = world()
    fake.set(mode="never answers queries")
    find(bridge)
    monkeypatch.setattr(keeper, "COLD", 0.0)
    assert find(bridge).lanes["qmd"] == "off for a moment: its first answer never came"


def test_a_warm_child_that_is_late_twice_is_given_up(world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    bridge = world()
    assert find(bridge).lanes["qmd"] == "ok"
    monkeypatch.setattr(keeper, "LATER", 0.2)
    fake.set(mode="never answers queries")
    assert find(bridge).lanes["qmd"].startswith("failed: it did not answer within")
    assert find(bridge).lanes["qmd"].startswith("failed: it did not answer within")
    assert find(bridge).lanes["qmd"].startswith("off for a moment: it was slower than")


def test_no_search_waits_for_anothers_start(world: World, fake: Fake) -> None:
    bridge = world()
    kept = second.keeper_of(bridge)
    with kept._starting:
        assert find(bridge).lanes["qmd"].startswith("it is being started")


def test_a_child_serving_another_folder_under_our_name_is_refused(world: World, fake: Fake, tmp_path: Path) -> None:
    bridge = world()
    fake.set(folder=str(tmp_path), results=[("notes/beta.md", 1)])
    assert "is another folder's" in find(bridge).lanes["qmd"]
    fake.set(name="unknown")


def test_one_child_serves_a_bridge_and_is_asked_once_for_one_search(world: World, fake: Fake) -> None:
    bridge = world()
    fake.set(results=[(f"notes/gone{i}.md", 1) for i in range(60)])
    for query in ("zebra", "crossing", "nothing at all"):
        find(bridge, query)
    assert (len(fake.starts()), len(fake.queries())) == (1, 3)


# -- the process ----------------------------------------------------------------------------------------------------


def test_the_child_is_nodes_own_entry_script_pinned_quiet_and_outside_the_vault(world: World, fake: Fake) -> None:
    bridge = world()
    find(bridge)
    (start,) = [call for call in fake.calls if "argv" in call]
    assert start["argv"] == ["--index", "vault", "mcp"]
    assert start["env"] == {"INDEX_PATH": qmd.store_path("vault"), "GGML_BACKEND_SILENT": "1"}
    assert not start["cwd"].startswith(bridge.root), "a .qmd folder in a cloned vault must not be obeyed"
    assert start["pid"] == start["group"] != os.getpgid(0)


def test_a_store_that_the_user_pinned_for_themselves_is_not_ours(
    world: World, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEX_PATH", "/elsewhere.sqlite")
    find(world())
    assert fake.calls[0]["env"]["INDEX_PATH"] == qmd.store_path("vault")


def test_the_child_ends_with_its_bridge(world: World, fake: Fake) -> None:
    bridge = world()
    find(bridge)
    found = second.keeper_of(bridge).client
    assert found is not None and found._child is not None
    bridge.close()
    assert found._child.poll() is not None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the end of stdin ends it once it is idle")
def test_the_child_ends_even_when_its_bridge_is_killed_in_the_middle_of_a_call(world: World, fake: Fake) -> None:
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
    world: World, fake: Fake, plan: dict[str, Any], state: str, text: str
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
    world: World, monkeypatch: pytest.MonkeyPatch
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
