"""One call from its arguments to its reply, on both eras."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from vaultbridge import server as mcp_server
from vaultbridge import surface
from vaultbridge.bridge import Bridge

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


@pytest.fixture
def root(vault: Callable[..., Path]) -> Path:
    return vault()


@pytest.fixture
def server(root: Path, toy_tools: None) -> Any:
    return mcp_server.build(Bridge(str(root)), [])


def said(result: types.CallToolResult) -> str:
    assert len(result.content) == 1 and isinstance(result.content[0], types.TextContent)
    return result.content[0].text


def audited(root: Path) -> list[dict[str, Any]]:
    return list(Bridge(str(root)).audit.lines())


@ERAS
async def test_a_reply_is_text_and_nothing_else(mode: Any, server: Any) -> None:
    async with Client(server, mode=mode) as client:
        result = await client.call_tool("echo", {"text": "hello"})
        assert said(result) == "hello" and not result.is_error and result.structured_content is None


@ERAS
@pytest.mark.parametrize(
    ("tool", "arguments", "text", "code"),
    [
        ("refuse", {}, "too-vague: the title says nothing. Name the subject", "too-vague"),
        (
            "echo",
            {"txt": "x"},
            "unknown-argument: there is no argument `txt`: did you mean `text`?.",
            "unknown-argument",
        ),
        ("echo", {"text": 5}, "wrong-type: `text` must be text, not a whole number.", "wrong-type"),
    ],
)
async def test_what_the_model_can_mend_comes_back_with_code_reason_and_next_step(
    mode: Any, server: Any, tool: str, arguments: dict[str, Any], text: str, code: str
) -> None:
    async with Client(server, mode=mode) as client:
        result = await client.call_tool(tool, arguments)
        assert result.is_error and said(result).startswith(text.replace("?.", "?"))
        assert result.meta is not None and result.meta["om/code"] == code


@ERAS
@pytest.mark.parametrize("how", ["key", "disk"])
async def test_a_surprise_is_a_sentence_without_paths(
    mode: Any, server: Any, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Client(server, mode=mode) as client:
        result = await client.call_tool("crash", {"how": how})
        assert result.is_error and "crash could not finish" in said(result) and "om doctor" in said(result)
        assert "/secret" not in said(result) and "Traceback" not in said(result)
        if how == "disk":
            assert "No space left on device" in said(result)
        assert said(await client.call_tool("echo", {"text": "next"})) == "next"
    errors = [record for record in caplog.records if record.name == "om"]
    assert len(errors) == 1 and errors[0].exc_info is None and "toys.py" in errors[0].getMessage()


@ERAS
async def test_an_unknown_tool_is_a_protocol_error_that_names_the_tools(mode: Any, server: Any) -> None:
    async with Client(server, mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("serach", {})
        assert caught.value.error.code == types.INVALID_PARAMS and "echo" in caught.value.error.message


@ERAS
async def test_a_reply_is_cut_below_what_clients_take(mode: Any, server: Any) -> None:
    async with Client(server, mode=mode) as client:
        text = said(await client.call_tool("long", {"size": 90_000}))
        assert len(text) <= 40_000 and "Cut here" in text[-120:]
        assert len(said(await client.call_tool("long", {"size": 40_000}))) == 40_000


@ERAS
async def test_arguments_sent_as_text_are_understood_and_that_is_said(mode: Any, server: Any) -> None:
    async with Client(server, mode=mode) as client:
        text = said(await client.call_tool("long", {"size": "3"}))
        assert text == "xxx\nRead as: size (sent as text) is a whole number"


@ERAS
async def test_every_call_leaves_one_audit_line_that_the_caller_cannot_forge(
    mode: Any, server: Any, root: Path
) -> None:
    async with Client(server, mode=mode) as client:
        await client.call_tool("echo", {"text": 'x\n{"action":"forged","caller":"vault"}'})
        await client.call_tool("refuse", {})
        await client.call_tool("echo", {"action": "forged"})
    lines = audited(root)
    assert [line["action"] for line in lines] == ["echo", "refused", "refused"]
    assert [line.get("code") for line in lines] == [None, "too-vague", "unknown-argument"]
    assert lines[0]["arguments"]["text"].startswith("x\n{") and lines[1]["tool"] == "refuse"


@ERAS
async def test_a_vault_that_is_gone_is_one_sentence_and_its_return_is_noticed(
    mode: Any, server: Any, root: Path
) -> None:
    async with Client(server, mode=mode) as client:
        os.rename(root, str(root) + "-away")
        result = await client.call_tool("echo", {"text": "x"})
        assert result.is_error and "put it back" in said(result) and str(root) not in said(result)
        with pytest.raises(MCPError) as caught:
            await client.list_resources()
        assert "put it back" in caught.value.error.message
        assert (await client.list_tools()).tools
        os.rename(str(root) + "-away", root)
        assert said(await client.call_tool("echo", {"text": "back"})) == "back"
        assert (await client.list_resources()).resources == []


@ERAS
async def test_the_lists_are_the_surface(mode: Any, server: Any) -> None:
    async with Client(server, mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == list(surface.modules())
        assert client.instructions == surface.INSTRUCTIONS
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["recall_topic", "prior_art"]
        assert client.server_info is not None and client.server_info.name == "om"


@ERAS
async def test_calls_run_at_the_same_time_within_bounds(mode: Any, server: Any, tmp_path: Path) -> None:
    import anyio

    async with Client(server, mode=mode) as client:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(client.call_tool, "hold", {"until": str(tmp_path / "go")})
            assert said(await client.call_tool("echo", {"text": "meanwhile"})) == "meanwhile"
            (tmp_path / "go").touch()


async def test_audit_lines_are_json_whatever_was_sent(server: Any, root: Path) -> None:
    async with Client(server) as client:
        await client.call_tool("echo", {"text": "\x00\x1b" + "é" * 5_000})
    for line in (root / ".om" / "audit").glob("*.jsonl"):
        for raw in line.read_bytes().splitlines():
            assert len(raw) < 4_096 and json.loads(raw)
