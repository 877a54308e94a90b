"""Notes as resources: listed, read, completed, subscribed to, on both eras."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

from vaultbridge import resources
from vaultbridge import server as mcp_server
from vaultbridge.bridge import Bridge

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
MANIFEST = '{"user_content_roots": ["brain/", "work/"], "memory_root": "memories"}'
NOTES = {
    "vault-manifest.json": MANIFEST,
    "brain/North Star.md": "---\ntags: [direction]\n---\n# North Star\nwhere we go\n",
    "brain/What now? #1 (50%).md": "# Odd\n",
    "brain/ünï/日本.md": "# Wide\n",
    "brain/secret.md": "---\nprivate: true\n---\n# Secret\nhushmarker\n",
    "brain/.hidden/x.md": "# Hidden\n",
    "work/plan.md": "# Plan\nstep one\n",
    "memories/2026/01/2026-01-01 lesson.md": "---\ntags: [memory]\n---\n# Lesson\n",
    "private/away.md": "# Away\n",
}
LISTED = ["brain/North Star.md", "brain/What now? #1 (50%).md", "brain/ünï/日本.md", "work/plan.md"]
TEMPLATE = types.ResourceTemplateReference(uri="vault://note/{+path}")


@pytest.fixture
def root(vault: Callable[..., Path]) -> Path:
    return vault(NOTES)


@pytest.fixture
def bridge(root: Path) -> Any:
    made = Bridge(str(root))
    yield made
    made.close()


@pytest.fixture
def server(bridge: Bridge, toy_tools: None) -> Any:
    return mcp_server.build(bridge, [])


async def text_of(client: Client, uri: str) -> str:
    return str((await client.read_resource(uri)).contents[0].text)  # type: ignore[union-attr]


@ERAS
async def test_the_list_holds_every_note_that_may_be_read_and_no_other(mode: Any, server: Any) -> None:
    async with Client(server, mode=mode) as client:
        listed = (await client.list_resources()).resources
        assert [entry.name for entry in listed] == LISTED
        for entry in listed:
            assert "# " in await text_of(client, str(entry.uri))


@ERAS
async def test_a_note_is_framed_as_data(mode: Any, server: Any) -> None:
    async with Client(server, mode=mode) as client:
        text = await text_of(client, "vault://note/brain/North%20Star.md")
        assert text.startswith("<note-") and "where we go" in text and text.rstrip().endswith(">")
        assert text != await text_of(client, "vault://note/brain/North%20Star.md")  # the frame's tag is drawn anew


@ERAS
@pytest.mark.parametrize("path", ["brain/North Star.md", "brain/What now? #1 (50%25).md", "brain/ünï/日本.md"])
async def test_a_template_expanded_without_escaping_works(mode: Any, server: Any, path: str) -> None:
    async with Client(server, mode=mode) as client:
        assert "# " in await text_of(client, "vault://note/" + path)


@ERAS
@pytest.mark.parametrize(
    "uri",
    [
        "vault://note/brain/none.md",
        "vault://note/brain/secret.md",
        "vault://note/private/away.md",
        "vault://note/memories/2026/01/2026-01-01%20lesson.md",
        "vault://note/vault-manifest.json",
        "vault://note/../outside.md",
        "vault://note/%2e%2e/%2e%2e/etc/passwd.md",
        "vault://note/brain/%252e%252e/x.md",
        "vault://note//etc/passwd.md",
        "vault://note/brain/.hidden/x.md",
        "vault://note/brain/./North%20Star.md",
        "vault://note/brain\\North%20Star.md",
        "vault://note/brain/North%20Star.md%00.md",
        "vault://note/brain/North%20Star.md?cursor=99999",
        "vault://note/brain/North%20Star.md?cursor=-1",
        "vault://note/%ff%fe.md",
        "vault://note/%ED%A0%80.md",
        "vault://note/" + "a/" * 2_000 + "x.md",
        "vault://note/",
        "vault://notes/brain/North%20Star.md",
        "VAULT://note/brain/North%20Star.md",
        "file:///etc/passwd",
        "",
    ],
)
async def test_outside_hidden_private_and_missing_get_the_same_answer(mode: Any, server: Any, uri: str) -> None:
    async with Client(server, mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        error = caught.value.error
        assert (error.code, error.message, error.data) == (-32602, "Resource not found", {"uri": uri})


@ERAS
async def test_a_long_note_comes_in_pages_that_join_to_the_whole(mode: Any, server: Any, root: Path) -> None:
    body = "".join(f"line {n} of a long note, ünï\n" for n in range(5_000))
    (root / "work/long.md").write_text(body, encoding="utf-8")
    whole, uri, pages = "", "vault://note/work/long.md", 0
    async with Client(server, mode=mode) as client:
        while uri:
            contents = (await client.read_resource(uri)).contents
            text = contents[0].text  # type: ignore[union-attr]
            assert len(text) < 40_000
            whole += text.split("\n", 1)[1].rsplit("\n", 1)[0]
            pages += 1
            uri = str(contents[1].uri) if len(contents) > 1 else ""
    assert whole.replace("\n", "") == body.replace("\n", "") and pages > 3


@ERAS
async def test_the_list_comes_in_pages_that_changes_do_not_shift(mode: Any, server: Any, root: Path) -> None:
    for n in range(230):
        (root / f"work/n{n:03}.md").write_text("# n\n", encoding="utf-8")
    async with Client(server, mode=mode) as client:
        first = await client.list_resources()
        assert len(first.resources) == 100
        (root / "brain/aaa.md").write_text("# before\n", encoding="utf-8")
        seen, cursor = [entry.name for entry in first.resources], first.next_cursor
        while cursor:
            page = await client.list_resources(cursor=cursor)
            seen += [entry.name for entry in page.resources]
            cursor = page.next_cursor
    assert seen == [*LISTED[:3], *(f"work/n{n:03}.md" for n in range(230)), "work/plan.md"]


@ERAS
@pytest.mark.parametrize("cursor", ["5", "zzz", "!!", "w6k", "a" * 10_000])
async def test_a_cursor_of_somebody_else_is_refused_or_harmless(mode: Any, server: Any, cursor: str) -> None:
    async with Client(server, mode=mode) as client:
        try:
            await client.list_resources(cursor=cursor)
        except MCPError as error:
            assert error.error.code == -32602 and "cursor" in error.error.message
        assert (await client.list_resources()).resources


@ERAS
async def test_lists_are_the_same_for_every_caller(mode: Any, bridge: Bridge, toy_tools: None, tmp_path: Path) -> None:
    from vaultcore.identity import Claim

    (tmp_path / "alpha").mkdir()
    names = []
    for claims in ([], [Claim("cwd", str(tmp_path / "alpha"))], [Claim("cwd", bridge.root)]):
        async with Client(mcp_server.build(bridge, claims), mode=mode) as client:
            names.append([entry.name for entry in (await client.list_resources()).resources])
    assert names[0] == names[1] == names[2]


@ERAS
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("work/", ["work/plan.md"]),
        ("STAR", ["brain/North Star.md"]),
        ("hid", []),
        ("secret", []),
        ("", LISTED),
        ("\x00\ud83d", []),
    ],
)
async def test_paths_are_completed_among_visible_notes(mode: Any, server: Any, typed: str, found: list[str]) -> None:
    async with Client(server, mode=mode) as client:
        completion = (await client.complete(TEMPLATE, {"name": "path", "value": typed})).completion
        assert sorted(completion.values) == sorted(found) and completion.total == len(found)


@ERAS
async def test_completion_is_bounded(mode: Any, server: Any, root: Path) -> None:
    for n in range(150):
        (root / f"work/n{n:03}.md").write_text("# n\n", encoding="utf-8")
    async with Client(server, mode=mode) as client:
        completion = (await client.complete(TEMPLATE, {"name": "path", "value": "work/n"})).completion
        assert len(completion.values) == 100 and completion.total == 150 and completion.has_more
        assert (await client.complete(TEMPLATE, {"name": "other", "value": ""})).completion.values == []


async def test_a_modern_client_hears_of_changes_through_its_stream(server: Any) -> None:
    uri = resources.uri("work/new note.md")
    async with Client(server) as client:
        async with client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as stream:
            await client.call_tool("write", {"path": "work/new note.md"})
            heard: list[Any] = []
            with anyio.fail_after(30):
                async for event in stream:
                    heard.append(event)
                    if len(heard) == 2:
                        break
    assert isinstance(heard[0], ResourcesListChanged)
    assert isinstance(heard[1], ResourceUpdated) and heard[1].uri == uri


async def test_a_handshake_client_hears_of_changes_and_of_what_it_subscribed_to(server: Any) -> None:
    heard: list[Any] = []
    done = anyio.Event()

    async def hear(message: Any) -> None:
        heard.append(message)
        if isinstance(message, types.ResourceUpdatedNotification):
            done.set()

    async with Client(server, mode="legacy", message_handler=hear) as client:
        await client.session.send_request(
            types.SubscribeRequest(params=types.SubscribeRequestParams(uri="vault://note/work/plan.md")),
            types.EmptyResult,
        )
        await client.call_tool("write", {"path": "work/plan.md"})
        with anyio.fail_after(30):
            await done.wait()
    kinds = [type(message).__name__ for message in heard]
    assert "ResourceListChangedNotification" in kinds
    assert heard[-1].params.uri == "vault://note/work/plan.md"


async def test_what_the_policy_does_not_admit_is_not_announced(server: Any) -> None:
    async with Client(server) as client:
        async with client.listen(resources_list_changed=True) as stream:
            await client.call_tool("write", {"path": "private/other.md"})
            await client.call_tool("write", {"path": "memories/m.md"})
            with anyio.move_on_after(0.5) as scope:
                async for _ in stream:
                    pytest.fail("a change that nobody may see was announced")
    assert scope.cancelled_caught


@pytest.mark.parametrize("uri", ["vault://note/brain/secret.md", "vault://note/none.md", "file:///x"])
async def test_only_a_readable_note_can_be_subscribed_to(server: Any, uri: str) -> None:
    async with Client(server, mode="legacy") as client:
        with pytest.raises(MCPError) as caught:
            await client.session.send_request(
                types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)), types.EmptyResult
            )
        assert caught.value.error.code == -32602
        await client.session.send_request(
            types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri)), types.EmptyResult
        )


@ERAS
async def test_reads_and_refused_reads_are_audited(mode: Any, server: Any, bridge: Bridge) -> None:
    async with Client(server, mode=mode) as client:
        await text_of(client, "vault://note/work/plan.md")
        with pytest.raises(MCPError):
            await text_of(client, "vault://note/brain/secret.md")
    lines = list(bridge.audit.lines())
    assert [line["action"] for line in lines] == ["resource", "refused"]
    assert lines[1]["uri"] == "vault://note/brain/secret.md"


def test_every_uri_we_issue_leads_back_to_its_note() -> None:
    from hypothesis import given
    from hypothesis import strategies as st

    name = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1, max_size=20)
    part = name.filter(lambda text: not text.startswith("."))

    @given(st.lists(part, min_size=1, max_size=4), st.integers(0, 10**8))
    def leads_back(parts: list[str], cursor: int) -> None:
        rel = "/".join(parts) + ".md"
        assert resources.parse(resources.uri(rel, cursor)) == (rel, cursor)

    leads_back()
