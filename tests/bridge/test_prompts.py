"""The two prompts and their completion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.bridge import toys
from vaultbridge import server as mcp_server
from vaultbridge import surface
from vaultbridge.bridge import Bridge
from vaultcore.errors import Refusal
from vaultcore.identity import Claim

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
NOTES = {
    "vault-manifest.json": '{"user_content_roots": ["brain/"]}',
    "brain/Release train.md": "---\ntags: [release, ops/deploy]\n---\n# Release train\n",
    "brain/Retries.md": "# Retries\n",
    "brain/hush.md": "---\nprivate: true\ntags: [rehush]\n---\n# Rehush\n",
}


def found(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    return f"found for {caller.name}: {arguments['query']}"


def refused(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    raise Refusal("not-ready", "the index is being built", "try again in a moment")


@pytest.fixture
def server(vault: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    fakes = {"search": toys.tool("search", found), "recall": toys.tool("recall", refused)}
    monkeypatch.setattr(surface, "_modules", dict(fakes))
    (tmp_path / "alpha").mkdir()
    return mcp_server.build(Bridge(str(vault(NOTES))), [Claim("cwd", str(tmp_path / "alpha"))])


async def text_of(client: Client, name: str, **arguments: str) -> str:
    result = await client.get_prompt(name, arguments)
    assert [message.role for message in result.messages] == ["user"]
    return str(result.messages[0].content.text)  # type: ignore[union-attr]


@ERAS
@pytest.mark.parametrize(("name", "argument"), [("recall_topic", "topic"), ("prior_art", "question")])
async def test_a_prompt_says_what_to_do_and_brings_a_first_look(
    mode: Any, server: Any, name: str, argument: str
) -> None:
    async with Client(server, mode=mode) as client:
        text = await text_of(client, name, **{argument: "retry\npolicy"})
        assert f"{argument.capitalize()}: retry policy" in text
        assert "found for alpha: retry" in text and "the index is being built" in text
        assert "Cite" in text or "path" in text


@ERAS
async def test_a_prompt_stands_when_the_first_look_fails(
    mode: Any, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(surface._modules, "search", toys.tool("search", toys.crash))
    async with Client(server, mode=mode) as client:
        text = await text_of(client, "prior_art", question="x")
        assert "search could not be used" in text and "the index is being built" in text


@ERAS
async def test_a_prompt_asks_a_client_with_roots_who_it_is(mode: Any, server: Any, tmp_path: Path) -> None:
    (tmp_path / "beta").mkdir()

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=(tmp_path / "beta").as_uri())])

    async with Client(server, mode=mode, list_roots_callback=roots) as client:
        assert "found for beta" in await text_of(client, "prior_art", question="x")


@ERAS
@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("recall_topic", {}, "needs its argument `topic`"),
        ("recall_topic", {"topic": " \n"}, "needs its argument `topic`"),
        ("prior_art", {"topic": "x", "question": "y"}, "takes `question` only"),
        ("orient", {"topic": "x"}, "Unknown prompt: orient"),
    ],
)
async def test_a_prompt_asked_for_wrongly_is_a_protocol_error_with_a_sentence(
    mode: Any, server: Any, name: str, arguments: dict[str, str], says: str
) -> None:
    async with Client(server, mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
        assert caught.value.error.code == -32602 and says in caught.value.error.message


@ERAS
@pytest.mark.parametrize(
    ("name", "argument", "typed", "values"),
    [
        ("recall_topic", "topic", "re", ["release", "Release train", "Retries"]),
        ("recall_topic", "topic", "DEPLOY", ["ops/deploy"]),
        ("prior_art", "question", "re", ["Release train", "Retries"]),
        ("prior_art", "topic", "re", []),
        ("other", "topic", "re", []),
    ],
)
async def test_arguments_are_completed_from_visible_notes(
    mode: Any, server: Any, name: str, argument: str, typed: str, values: list[str]
) -> None:
    async with Client(server, mode=mode) as client:
        answer = await client.complete(types.PromptReference(name=name), {"name": argument, "value": typed})
        assert answer.completion.values == values


def test_the_tools_a_prompt_names_are_tools_of_the_bridge() -> None:
    from vaultbridge import prompts

    named = {word for task in prompts.TASKS.values() for word in ("recall", "search", "expand") if f"`{word}`" in task}
    assert named <= set(surface.TOOL_MODULES)
