"""The wire of a real process: signals, ends, junk, size, purity, cancellation."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.wire import ENVELOPE, INITIALIZED, PATIENCE, TOYS, Wire, call, initialize
from vaultbridge import frames
from vaultbridge.transport import Parent

Start = Callable[..., Wire]
Vault = Callable[..., Path]


def warm(wire: Wire) -> Wire:
    wire.shake_hands()
    assert wire.text("warm", "echo", text="up") == "up"
    return wire


@pytest.fixture
def toys(vault: Vault, start: Start) -> Wire:
    """A bridge with the toy tools, past the handshake and the import."""
    return warm(start(vault(), script=TOYS))


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One such bridge for everything that must not end it."""
    root = tmp_path_factory.mktemp("vault")
    (root / "vault-manifest.json").write_text("{}")
    with warm(Wire(root, script=TOYS, HOME=str(root), XDG_CACHE_HOME=str(root / ".cache"))) as wire:
        yield wire


def holding(wire: Wire, identifier: Any, until: Path) -> None:
    """Start a call that stays until the file `until` exists, and wait until it is running."""
    message = call(identifier, "hold", until=str(until))
    message["params"]["_meta"] = {"progressToken": identifier}
    wire.send(message)
    while wire.next().get("method") != "notifications/progress":
        pass


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_ends_the_bridge_quietly(name: str, busy: bool, toys: Wire, tmp_path: Path) -> None:
    if busy:
        holding(toys, 1, tmp_path / "never")
    toys.process.send_signal(getattr(signal, name))
    assert toys.wait() == 0 and toys.stderr == b""


def test_the_end_of_input_ends_the_bridge_even_with_a_call_running(toys: Wire, tmp_path: Path) -> None:
    holding(toys, 1, tmp_path / "never")
    assert toys.hang_up() == 0 and toys.stderr == b""


def test_what_was_asked_before_the_end_of_input_is_answered(vault: Vault, start: Start) -> None:
    wire = start(vault(), script=TOYS)
    wire.send(initialize(), INITIALIZED, call(2, "echo", text="last words"))
    assert wire.hang_up() == 0
    frames_seen = [json.loads(line) for line in wire.rest()]
    assert [frame["id"] for frame in frames_seen] == [1, 2]
    assert frames_seen[1]["result"]["content"][0]["text"] == "last words"


def test_a_client_that_stops_reading_ends_the_bridge_quietly(vault: Vault) -> None:
    process = subprocess.Popen(
        [sys.executable, str(TOYS), "--vault", str(vault())],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **initialize()}).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    frames_sent = [INITIALIZED, call(2, "echo", text="x")]
    process.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n" for frame in frames_sent))
    process.stdin.flush()
    assert process.wait(PATIENCE) == 0  # although its input is still open
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


def test_a_killed_client_takes_its_bridge_with_it(vault: Vault) -> None:
    root, (alive, held) = vault(), os.pipe()
    client = f"""
import json, subprocess, sys
words = [sys.executable, {str(TOYS)!r}, "--vault", {str(root)!r}]
bridge = subprocess.Popen(words, stdin=-1, stdout=-1, pass_fds=[{held}])
def send(frame):
    bridge.stdin.write(json.dumps(dict(jsonrpc="2.0", **frame)).encode() + b"\\n"); bridge.stdin.flush()
send({initialize()!r}); bridge.stdout.readline(); send({INITIALIZED!r})
send({call(2, "hold", until="/nowhere/never")!r})
print("ready", flush=True); sys.stdin.read()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", client], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[held]
    )
    os.close(held)
    assert process.stdin and process.stdout
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.wait()
    os.set_blocking(alive, True)
    assert os.read(alive, 1) == b""  # nobody holds the other end any more: the bridge has ended
    os.close(alive)
    process.stdin.close()
    process.stdout.close()


def test_a_new_bridge_serves_at_once_after_one_was_killed_in_a_call(vault: Vault, start: Start, tmp_path: Path) -> None:
    root = vault()
    wire = start(root, script=TOYS)
    wire.shake_hands()
    holding(wire, 1, tmp_path / "never")
    wire.process.kill()
    other = start(root, script=TOYS)
    other.shake_hands()
    assert other.text(2, "echo", text="here") == "here"


@pytest.mark.parametrize(
    "junk",
    [
        b"not json",
        b"",
        b"   ",
        b"[1,2]",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 200_000,
        b'{"jsonrpc":"2.0"}',
        b'"x"',
        b"{" * 50,
    ],
)
def test_junk_never_ends_the_connection(junk: bytes, lasting: Wire) -> None:
    lasting.send(junk)
    assert lasting.ask({"id": 2, "method": "ping"})["result"] == {}


def test_junk_before_the_handshake_never_ends_the_connection(vault: Vault, start: Start) -> None:
    wire = start(vault(), script=TOYS)
    wire.send(b"\x00garbage", b"[]", b"{}")
    wire.shake_hands()
    assert wire.text(2, "echo", text="fine") == "fine"


def test_a_request_that_is_no_json_rpc_is_answered_with_its_id(lasting: Wire) -> None:
    lasting.send(b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}')
    assert lasting.answer(7)["error"]["code"] == -32600


def test_carriage_returns_and_unicode_line_ends_do_not_split_frames(lasting: Wire) -> None:
    lasting.send(
        json.dumps({"jsonrpc": "2.0", **call(2, "echo", text="a\u2028b\u0085")}, ensure_ascii=False).encode() + b"\r"
    )
    assert lasting.answer(2)["result"]["content"][0]["text"] == "a\u2028b"


def test_lone_surrogates_and_control_characters_do_no_harm(lasting: Wire) -> None:
    raw = json.dumps({"jsonrpc": "2.0", **call(2, "echo", text="TEXT")})
    lasting.send(raw.replace("TEXT", "\\ud83d amber \\u0000 \\u001b[31mred").encode())
    assert lasting.answer(2)["result"]["content"][0]["text"] == "\ufffd amber  red"


def test_a_frame_over_the_bound_is_refused_and_the_next_one_served(lasting: Wire) -> None:
    lasting.send(call(2, "echo", text="x" * (frames.LARGEST + 1)))
    error = lasting.answer(2)["error"]
    assert error["code"] == -32600 and "8,000,000 bytes" in error["message"]
    assert lasting.text(3, "echo", text="still here") == "still here"


def test_an_argument_of_megabytes_is_refused_in_a_sentence(lasting: Wire) -> None:
    result = lasting.ask(call(2, "echo", text="é" * 1_200_000))["result"]
    assert result["isError"] and result["content"][0]["text"].startswith("too-long: ")
    assert len(result["content"][0]["text"]) < 400


@pytest.mark.parametrize("env", [{}, {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}])
def test_nothing_but_frames_reaches_stdout(env: dict[str, str], vault: Vault, start: Start) -> None:
    wire = start(vault(), script=TOYS, **env)
    wire.shake_hands()
    assert wire.text(2, "shout") == "said"
    assert wire.hang_up() == 0
    assert wire.rest() == []
    assert all(word in wire.stderr for word in (b"STRAY", b"CHILD", b"RAW"))


def test_a_cancelled_call_is_never_answered_and_the_next_one_is(toys: Wire, tmp_path: Path) -> None:
    holding(toys, 1, tmp_path / "never")
    toys.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    assert toys.text(2, "echo", text="on") == "on"
    assert toys.hang_up() == 0
    assert not [line for line in toys.rest() if json.loads(line).get("id") == 1]


@pytest.mark.parametrize("identifier", [999, "999", "warm", None, True, [1], {"a": 1}])
def test_cancelling_what_is_unknown_or_finished_does_nothing(identifier: Any, lasting: Wire) -> None:
    lasting.send({"method": "notifications/cancelled", "params": {"requestId": identifier}})
    lasting.send({"method": "notifications/cancelled"})
    assert lasting.text(2, "echo", text="on") == "on"


def test_more_cancelled_calls_than_threads_leave_room_for_the_next(lasting: Wire, tmp_path: Path) -> None:
    for identifier in range(40):
        lasting.send(call(identifier, "hold", until=str(tmp_path / "never")))
        lasting.send({"method": "notifications/cancelled", "params": {"requestId": identifier}})
    assert lasting.text("after", "echo", text="on") == "on"


def test_two_requests_with_one_id_do_not_end_the_connection(lasting: Wire) -> None:
    lasting.send(call(5, "echo", text="a"), call(5, "echo", text="b"))
    assert [lasting.next()["id"], lasting.next()["id"]] == [5, 5]
    assert lasting.text(6, "echo", text="on") == "on"


def test_a_long_call_does_not_hold_up_the_others(lasting: Wire, tmp_path: Path) -> None:
    holding(lasting, 1, tmp_path / "go")
    assert lasting.text(2, "echo", text="meanwhile") == "meanwhile"
    (tmp_path / "go").touch()
    assert lasting.answer(1)["result"]["content"][0]["text"] == "released"


def test_progress_grows_and_stops_with_the_answer(lasting: Wire, tmp_path: Path) -> None:
    message = call(1, "hold", until=str(tmp_path / "go"))
    message["params"]["_meta"] = {"progressToken": "t"}
    lasting.send(message)
    seen: list[dict[str, Any]] = []
    while len(seen) < 3:
        frame = lasting.next()
        assert frame["method"] == "notifications/progress"
        seen.append(frame["params"])
    (tmp_path / "go").touch()
    assert lasting.answer(1)["result"]
    values = [params["progress"] for params in seen]
    assert values == sorted(set(values)) and all(params["progressToken"] == "t" for params in seen)


def test_two_clients_are_served_by_two_processes_that_do_not_mix(vault: Vault, start: Start, tmp_path: Path) -> None:
    root, wires = vault(), []
    for name in ("alpha", "beta"):
        (tmp_path / name).mkdir()
        wires.append(start(root, script=TOYS, cwd=tmp_path / name))
        wires[-1].shake_hands()
    for at, name in enumerate(("alpha", "beta")):
        assert wires[at].text(2, "whoami").startswith(name)


def test_a_handshake_client_is_asked_for_its_roots_after_it_is_initialized(
    vault: Vault, start: Start, tmp_path: Path
) -> None:
    (tmp_path / "alpha").mkdir()
    wire = start(vault(), script=TOYS)
    wire.send(initialize(identifier="hello", roots={"listChanged": True}))
    wire.answer("hello")
    wire.send(INITIALIZED)
    question = wire.next()
    assert question["method"] == "roots/list"
    wire.send(call(2, "whoami"))
    wire.send({"id": question["id"], "result": {"roots": [{"uri": (tmp_path / "alpha").as_uri()}]}})
    assert wire.answer(2)["result"]["content"][0]["text"] == "alpha by roots"


def test_roots_are_asked_for_once_and_never_before_the_client_is_initialized(
    vault: Vault, start: Start, tmp_path: Path
) -> None:
    (tmp_path / "alpha").mkdir()
    wire = start(vault(), script=TOYS)
    wire.send(initialize(identifier="hello", roots={}), {"id": "early", "method": "resources/list"})
    assert [wire.next()["id"], wire.next()["id"]] == ["hello", "early"]  # the server is up and has asked nothing
    wire.send(INITIALIZED, *(call(at, "whoami") for at in range(3)))
    question = wire.next()
    assert question["method"] == "roots/list"
    wire.send({"id": question["id"], "result": {"roots": [{"uri": (tmp_path / "alpha").as_uri()}]}})
    answers = [wire.next() for _ in range(3)]
    assert sorted(frame["id"] for frame in answers) == [0, 1, 2]
    assert {frame["result"]["content"][0]["text"] for frame in answers} == {"alpha by roots"}
    assert wire.hang_up() == 0 and wire.rest() == []


def test_a_modern_client_is_asked_within_its_call(vault: Vault, start: Start, tmp_path: Path) -> None:
    (tmp_path / "alpha").mkdir()
    wire = start(vault(), script=TOYS)
    meta = json.loads(json.dumps(ENVELOPE["_meta"]))
    meta["io.modelcontextprotocol/clientCapabilities"] = {"roots": {}}
    asked = {"id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}, "_meta": meta}}
    result = wire.ask(asked)["result"]
    assert result["resultType"] == "input_required"
    assert result["inputRequests"]["om.roots"]["method"] == "roots/list"
    asked["params"]["inputResponses"] = {"om.roots": {"roots": [{"uri": (tmp_path / "alpha").as_uri()}]}}  # type: ignore[index]
    assert wire.ask({**asked, "id": 2})["result"]["content"][0]["text"] == "alpha by roots"
    asked["params"]["inputResponses"] = {"om.roots": {"nonsense": 1}}  # type: ignore[index]
    assert wire.ask({**asked, "id": 3})["error"]["code"] == -32602


def test_unsuitable_roots_are_no_reason_to_fail(vault: Vault, start: Start) -> None:
    wire = start(vault(), script=TOYS)
    wire.send(initialize(identifier="hello", roots={}))
    wire.answer("hello")
    wire.send(INITIALIZED)
    question = wire.next()
    roots = [{"uri": uri} for uri in ("file://${workspaceFolder}", "http://x/y", "file:///%00", "file:x", "")]
    wire.send({"id": question["id"], "result": {"roots": roots}})
    assert "result" in wire.ask(call(2, "whoami"))


def test_a_note_changed_on_disk_is_announced(vault: Vault, start: Start) -> None:
    root = vault({"vault-manifest.json": '{"user_content_roots": ["brain/"]}', "brain/a.md": "# a\n"})
    wire = start(root)
    wire.shake_hands()
    wire.ask({"id": 2, "method": "resources/subscribe", "params": {"uri": "vault://note/brain/a.md"}})
    heard: set[str] = set()
    for attempt in range(120):  # watching begins at some moment after the first request
        (root / "brain/a.md").write_text(f"# a {attempt}\n")
        try:
            while {"notifications/resources/updated", "notifications/resources/list_changed"} - heard:
                heard.add(json.loads(wire.lines.get(timeout=0.5) or b"{}").get("method"))
            break
        except queue.Empty:
            continue
    assert {"notifications/resources/updated", "notifications/resources/list_changed"} <= heard
    assert wire.hang_up() == 0 and wire.stderr == b""


class TestParent:
    """When a process whose parent is gone gives up."""

    def test_a_launcher_that_leaves_before_the_first_frame_is_no_loss(self) -> None:
        parent = Parent(0.0, 10, idle=60)
        parent.heard(1.0, 1)
        assert not parent.gone(1_000.0, 1)

    def test_an_orphan_that_is_still_asked_goes_on(self) -> None:
        parent = Parent(0.0, 10, idle=60)
        for now in range(0, 500, 50):
            parent.heard(float(now), 10 if now < 100 else 1)
            assert not parent.gone(now + 49.0, 1)

    def test_an_orphan_that_nobody_asks_ends(self) -> None:
        parent = Parent(0.0, 10, idle=60)
        parent.heard(5.0, 10)
        assert not parent.gone(64.0, 1) and parent.gone(65.0, 1)

    def test_a_process_that_was_never_asked_waits(self) -> None:
        assert not Parent(0.0, 10, idle=60).gone(9_999.0, 1)
