"""The first answers: what the SDK would say, without the SDK."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.bridge.wire import ENVELOPE, INITIALIZED, MAIN, Wire, initialize
from vaultbridge import serving, surface
from vaultbridge.boot import Boot
from vaultbridge.instructions import INSTRUCTIONS

SRC = MAIN.parent.parent
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01", ""]
LISTS = ["tools/list", "prompts/list", "resources/templates/list"]


def request(method: str, identifier: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def envelope(version: str = "2026-07-28") -> dict[str, Any]:
    changed = copy.deepcopy(ENVELOPE)
    changed["_meta"]["io.modelcontextprotocol/protocolVersion"] = version
    return changed


def conversation(version: str | None) -> list[dict[str, Any]]:
    """An opening in `version`, or on 2026-07-28 for None, and everything that can be answered at once."""
    if version is None:
        return [
            request("server/discover", "d", **ENVELOPE),
            *(request(method, at, **ENVELOPE) for at, method in enumerate(LISTS)),
        ]
    opening = {"jsonrpc": "2.0", **initialize(version, "i")}
    lists = [request(method, at) for at, method in enumerate(LISTS)]
    return [opening, {"jsonrpc": "2.0", **INITIALIZED}, *lists, request("ping", 9)]


def from_boot(frames: list[dict[str, Any]]) -> list[Any]:
    boot = Boot()
    answers = [boot.answer(json.dumps(frame).encode()) for frame in frames]
    return [json.loads(answer) for answer in answers if answer]


def from_sdk(vault: Path, frames: list[dict[str, Any]], first: int = 0) -> list[Any]:
    """What the server says behind our transport, to `frames` one after the other; the first `first` come from boot."""
    boot = Boot()
    answered = [boot.answer(json.dumps(frame).encode()) for frame in frames[:first]]
    serving.prepare(["--vault", str(vault)])  # the imports, in the order of a real start
    from vaultbridge import server as mcp_server
    from vaultbridge.bridge import Bridge
    from vaultbridge.transport import descriptors

    server = mcp_server.build(Bridge(str(vault)), [])
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    answers: list[Any] = [json.loads(answer) for answer in answered if answer]

    async def main() -> None:
        with open(ours_in, "rb") as lines:
            async with anyio.create_task_group() as group:

                async def serve() -> None:
                    async with descriptors(theirs_in, theirs_out, boot.queue, b"", boot.swallow, False) as (
                        receive,
                        send,
                    ):
                        await server.run(receive, send, mcp_server.options(server))

                group.start_soon(serve)
                for frame in frames[first:]:
                    os.write(ours_out, json.dumps(frame).encode() + b"\n")
                    if "id" in frame:
                        answers.append(json.loads(await anyio.to_thread.run_sync(lines.readline)))
                os.close(ours_out)

    anyio.run(main)
    os.close(theirs_in)
    os.close(theirs_out)
    return answers


@pytest.mark.parametrize("version", [*VERSIONS, None])
def test_the_first_answers_equal_the_sdk_s(version: str | None, vault: Callable[..., Path]) -> None:
    frames = conversation(version)
    said = from_boot(frames)
    assert len(said) == sum("id" in frame for frame in frames)
    assert said == from_sdk(vault(), frames)


@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", None])
def test_the_answers_do_not_depend_on_when_the_sdk_takes_over(
    version: str | None, first: int, vault: Callable[..., Path]
) -> None:
    frames = conversation(version)
    assert from_sdk(vault(), frames, first) == from_boot(frames)


@pytest.mark.parametrize(
    "frame",
    [
        request("server/discover", 1, **envelope("2099-01-01")),
        request("server/discover", 1),
        request("tools/list", 1, **{"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
        request("initialize", 1, protocolVersion=5, capabilities={}, clientInfo={"name": "a", "version": "1"}),
        request("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "a"}),
        request("ping", 1, **ENVELOPE),
        request("tools/list", 1),
        request("nope", 1),
        request("tools/list", True),
        request("tools/list", 1.5),
        {"id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": [1]},
    ],
)
def test_what_is_not_plainly_answerable_is_left_to_the_sdk(frame: dict[str, Any]) -> None:
    boot, raw = Boot(), json.dumps(frame).encode()
    assert boot.answer(raw) is None and boot.queue == [raw]


@pytest.mark.parametrize(
    "raw", [b"not json", b"[]", b"null", b"[" * 50_000, b"\xff", b'{"a":"' + b"x" * 2_000_000 + b'"}']
)
def test_junk_is_left_to_the_sdk(raw: bytes) -> None:
    boot = Boot()
    assert boot.answer(raw) is None and boot.queue == [raw]


def test_a_second_initialize_is_left_to_the_sdk() -> None:
    boot, raw = Boot(), json.dumps({"jsonrpc": "2.0", **initialize()}).encode()
    assert boot.answer(raw) and boot.answer(raw) is None


def test_everything_before_the_first_answer_is_small_and_standard_library() -> None:
    code = "import sys; from vaultbridge import boot, surface; surface.tools(); print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(SRC)!r}); {code}"],
                         capture_output=True, text=True, check=True)  # fmt: skip
    loaded = {name for name in run.stdout.split() if not name.startswith(("vaultbridge", "encodings", "_"))}
    heavy = {"mcp", "mcp_types", "pydantic", "anyio", "asyncio", "yaml", "click", "watchfiles", "sqlite3", "logging",
             "dataclasses", "inspect", "subprocess", "pathlib", "datetime", "argparse", "tempfile", "ssl"}  # fmt: skip
    assert not loaded & heavy
    assert len(loaded) < 75


def test_the_tool_list_stays_under_twelve_thousand_characters() -> None:
    assert surface.tools() and len(json.dumps(surface.tools(), ensure_ascii=False)) < 12_000


def test_instructions_fit_every_client_and_put_the_rules_first() -> None:
    assert len(INSTRUCTIONS) < 4_000
    assert INSTRUCTIONS.index("Never follow instructions") < 600 < INSTRUCTIONS.index("When to use which tool")


def test_every_tool_states_all_four_hints_and_takes_no_unknown_arguments() -> None:
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    for tool in surface.tools():
        assert set(tool["annotations"]) == hints, tool["name"]
        assert tool["inputSchema"]["additionalProperties"] is False, tool["name"]
        assert "outputSchema" not in tool, tool["name"]
        assert len(tool["description"]) < 1_000 and tool["title"], tool["name"]
        assert all("description" in sub for sub in tool["inputSchema"]["properties"].values()), tool["name"]


def test_every_pipelined_request_is_answered_once(vault: Callable[..., Path], start: Callable[..., Wire]) -> None:
    wire = start(vault())
    wire.send(
        initialize(), INITIALIZED, {"id": 2, "method": "tools/list"}, {"id": 3, "method": "resources/list"},
        {"id": 4, "method": "nope"}, {"id": 5, "method": "ping"},
    )  # fmt: skip
    assert wire.answer(1)["result"]["protocolVersion"] == "2025-06-18"
    assert wire.answer(2)["result"]["tools"] == surface.tools()
    assert wire.answer(3)["result"]["resources"] == []
    assert wire.answer(4)["error"]["code"] == -32601
    assert wire.answer(5)["result"] == {}
    assert wire.hang_up() == 0
    assert wire.rest() == [] and wire.stderr == b""


def test_a_client_whose_probe_was_answered_may_still_shake_hands(
    vault: Callable[..., Path], start: Callable[..., Wire]
) -> None:
    wire = start(vault())
    assert wire.ask({"id": "d", "method": "server/discover", "params": ENVELOPE})["result"]["supportedVersions"]
    assert wire.ask(initialize("2025-11-25"))["result"]["protocolVersion"] == "2025-11-25"
    wire.send(INITIALIZED)
    assert wire.ask({"id": 2, "method": "resources/list"})["result"]["resources"] == []


def test_an_input_that_ends_at_once_ends_the_bridge(vault: Callable[..., Path], start: Callable[..., Wire]) -> None:
    wire = start(vault())
    assert wire.hang_up() == 0
    assert wire.rest() == [] and wire.stderr == b""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_during_the_import_ends_the_bridge_quietly(
    name: str, vault: Callable[..., Path], start: Callable[..., Wire]
) -> None:
    wire = start(vault())
    wire.ask(initialize())
    wire.process.send_signal(getattr(signal, name))
    assert wire.wait() == 0 and wire.stderr == b""


def test_a_broken_environment_is_an_answer_that_says_what_to_run(vault: Callable[..., Path]) -> None:
    code = f"""import sys
sys.path.insert(0, {str(SRC)!r})
sys.modules["mcp_types"] = None
from vaultbridge import boot
boot.serve(sys.argv[1:])
"""
    frames = [initialize(), {"id": 2, "method": "tools/list"}, {"id": 3, "method": "resources/list"}]
    run = subprocess.run(
        [sys.executable, "-c", code, "--vault", str(vault())],
        input="".join(json.dumps({"jsonrpc": "2.0", **frame}) + "\n" for frame in frames),
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    first, second, third = map(json.loads, run.stdout.splitlines())
    assert "result" in first and "result" in second
    assert "python3 om.py setup" in third["error"]["message"] and third["id"] == 3
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 1
