"""Who is calling: the ways in which roots come, come late, change, or never come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client

from vaultbridge import server as mcp_server
from vaultbridge.bridge import Bridge
from vaultbridge.gate import RootsGate
from vaultcore.identity import Claim

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
LONG = 60.0


class Roots:
    """A client's roots: what it answers, how often it was asked, and when it is let answer."""

    def __init__(self, *paths: Path) -> None:
        self.paths = list(paths)
        self.asked = 0
        self.may_answer = anyio.Event()
        self.may_answer.set()

    def hold(self) -> None:
        self.may_answer = anyio.Event()

    async def __call__(self, context: Any) -> types.ListRootsResult:
        self.asked += 1
        paths, gate = list(self.paths), self.may_answer
        await gate.wait()
        return types.ListRootsResult(roots=[types.Root(uri=path.as_uri()) for path in paths])


@pytest.fixture
def world(vault: Callable[..., Path], tmp_path: Path, toy_tools: None) -> Callable[..., Any]:
    """`world("beta")` is a server started in the folder beta, beside the folders alpha and gamma."""
    for name in ("alpha", "beta", "gamma"):
        (tmp_path / name).mkdir()
    root = vault()

    def build(cwd: str | None = "beta", wait: float = LONG) -> Any:
        claims = [Claim("cwd", str(tmp_path / cwd))] if cwd else []
        return mcp_server.build(Bridge(str(root)), claims, gate=lambda: RootsGate(wait))

    return build


async def who(client: Client, tool: str = "whoami") -> str:
    result = await client.call_tool(tool, {})
    return str(result.content[0].text)  # type: ignore[union-attr]


@ERAS
async def test_roots_say_who_calls_and_are_asked_for_once(mode: Any, world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    async with Client(world(), mode=mode, list_roots_callback=roots) as client:
        assert await who(client) == "alpha by roots"
        assert await who(client) == "alpha by roots"
    assert roots.asked == 1


@ERAS
async def test_a_client_without_roots_is_not_asked_and_not_waited_for(mode: Any, world: Any) -> None:
    async with Client(world(), mode=mode) as client:
        assert await who(client) == "beta by cwd"


@ERAS
async def test_no_roots_at_all_are_no_information(mode: Any, world: Any) -> None:
    async with Client(world(), mode=mode, list_roots_callback=Roots()) as client:
        assert await who(client) == "beta by cwd"


@ERAS
async def test_nothing_known_is_an_anonymous_caller(mode: Any, world: Any) -> None:
    async with Client(world(cwd=None), mode=mode) as client:
        assert (await who(client)).startswith("anonymous")


async def test_a_client_that_answers_with_an_error_is_known_by_its_folder(world: Any) -> None:
    async def fails(context: Any) -> types.ErrorData:
        return types.ErrorData(code=-32601, message="Method not found")

    async with Client(world(), mode="legacy", list_roots_callback=fails) as client:
        assert await who(client) == "beta by cwd"


async def test_a_call_waits_for_roots_that_are_on_their_way(world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    roots.hold()
    async with Client(world(), mode="legacy", list_roots_callback=roots) as client:
        answers: list[str] = []
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                answers.append(await who(client))

            group.start_soon(ask)
            await client.list_tools()
            assert answers == []
            roots.may_answer.set()
    assert answers == ["alpha by roots"]


async def test_a_late_answer_still_counts(world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    roots.hold()
    async with Client(world(wait=0.05), mode="legacy", list_roots_callback=roots) as client:
        assert await who(client) == "beta by cwd provisionally"
        roots.may_answer.set()
        with anyio.fail_after(LONG):
            while await who(client) != "alpha by roots":
                await anyio.sleep(0)


async def test_lists_prompts_and_completion_never_wait(world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    roots.hold()
    async with Client(world(), mode="legacy", list_roots_callback=roots) as client:
        with anyio.fail_after(LONG / 2):
            await client.list_tools()
            await client.list_prompts()
            await client.list_resources()
            await client.list_resource_templates()
            ref = types.PromptReference(name="recall_topic")
            await client.complete(ref, {"name": "topic", "value": "a"})
            assert await who(client, "read") == "beta by cwd provisionally"
        roots.may_answer.set()


async def test_changed_roots_move_the_next_call(world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    async with Client(world(), mode="legacy", list_roots_callback=roots) as client:
        assert await who(client) == "alpha by roots"
        roots.paths = [tmp_path / "gamma"]
        await client.session.send_notification(types.RootsListChangedNotification())
        await client.list_tools()  # the notification is dispatched before what follows it
        assert await who(client) == "gamma by roots"


async def test_while_changed_roots_are_fetched_nobody_is_served_as_the_old_project(world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    async with Client(world(wait=0.2), mode="legacy", list_roots_callback=roots) as client:
        assert await who(client) == "alpha by roots"
        roots.hold()
        await client.session.send_notification(types.RootsListChangedNotification())
        await client.list_tools()
        assert await who(client) == "beta by cwd provisionally"
        roots.may_answer.set()


async def test_every_modern_call_that_needs_to_know_may_ask_at_the_same_time(world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    answers: list[str] = []
    async with Client(world(), list_roots_callback=roots) as client:
        async with anyio.create_task_group() as group:
            for _ in range(5):

                async def ask() -> None:
                    answers.append(await who(client))

                group.start_soon(ask)
    assert answers == ["alpha by roots"] * 5


async def test_a_modern_read_never_asks(world: Any, tmp_path: Path) -> None:
    roots = Roots(tmp_path / "alpha")
    async with Client(world(), list_roots_callback=roots) as client:
        assert await who(client, "read") == "beta by cwd provisionally"
    assert roots.asked == 0


class TestGate:
    """The gate alone, with its clock in the test's hand."""

    async def test_an_answer_to_an_older_question_is_void(self) -> None:
        gate, first, second = RootsGate(LONG), anyio.Event(), anyio.Event()

        async def old() -> list[str]:
            await first.wait()
            return ["old"]

        async def new() -> list[str]:
            await second.wait()
            return ["new"]

        async with anyio.create_task_group() as group:
            group.start_soon(gate.refresh, old)
            await anyio.wait_all_tasks_blocked()
            group.start_soon(gate.refresh, new)
            await anyio.wait_all_tasks_blocked()
            first.set()
            await anyio.wait_all_tasks_blocked()
            assert gate.present() == (None, True)
            second.set()
        assert await gate.wait() == (["new"], False)

    async def test_a_client_that_never_answers_is_waited_for_once(self) -> None:
        gate = RootsGate(0.05)

        async def never() -> list[str]:
            await anyio.sleep_forever()
            return []

        async with anyio.create_task_group() as group:
            group.start_soon(gate.refresh, never)
            await anyio.wait_all_tasks_blocked()
            assert await gate.wait() == (None, True)
            gate._wait = LONG
            group.start_soon(gate.refresh, never)  # even when it says that its roots changed
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(LONG / 2):
                for _ in range(3):
                    assert await gate.wait() == (None, True)
            group.cancel_scope.cancel()

    async def test_an_answer_makes_a_silent_client_worth_waiting_for_again(self) -> None:
        gate, late = RootsGate(0.01), anyio.Event()

        async def slow() -> list[str]:
            await late.wait()
            return ["a"]

        async with anyio.create_task_group() as group:
            group.start_soon(gate.refresh, slow)
            await anyio.wait_all_tasks_blocked()
            assert await gate.wait() == (None, True)
            late.set()
        assert await gate.wait() == (["a"], False)
        assert gate._silent is False

    async def test_a_call_before_the_client_is_initialized_waits_too(self) -> None:
        gate = RootsGate(LONG)

        async def at_once() -> list[str]:
            return ["a"]

        async with anyio.create_task_group() as group:
            found: list[Any] = []

            async def ask() -> None:
                found.append(await gate.wait())

            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await gate.refresh(at_once)
        assert found == [(["a"], False)]

    async def test_opening_after_a_question_changes_nothing(self) -> None:
        gate = RootsGate(0.01)

        async def never() -> list[str]:
            await anyio.sleep_forever()
            return []

        async with anyio.create_task_group() as group:
            group.start_soon(gate.refresh, never)
            await anyio.wait_all_tasks_blocked()
            gate.open()
            assert gate.present() == (None, True)
            group.cancel_scope.cancel()

    @pytest.mark.parametrize("error", [RuntimeError("closed"), ValueError("malformed"), TimeoutError()])
    async def test_a_failed_question_opens_the_gate(self, error: Exception) -> None:
        gate = RootsGate(LONG)

        async def fails() -> list[str]:
            raise error

        await gate.refresh(fails)
        assert await gate.wait() == (None, False)

    async def test_thousands_of_roots_are_cut(self) -> None:
        gate = RootsGate(LONG)

        async def many() -> list[str]:
            return [f"file:///{n}" for n in range(5_000)]

        await gate.refresh(many)
        assert gate.roots is not None and len(gate.roots) == 64
