"""The MCP server: one set of handlers for both protocol eras, on the SDK's low-level Server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError

from vaultcore.identity import Caller, Claim, resolve

from . import calls, progress, prompts, resources, surface
from .bridge import Bridge
from .changes import SUBSCRIBED, Changes
from .gate import Identity, RootsGate, Unasked, question
from .instructions import INSTRUCTIONS

log = logging.getLogger("om")

COMPLETIONS = 100


class App:
    """What one connection's handlers share."""

    def __init__(self, bridge: Bridge, identity: Identity, changes: Changes, workers: calls.Workers) -> None:
        self.bridge, self.identity, self.changes, self.workers = bridge, identity, changes, workers


Context = ServerRequestContext[App, Any]


def build(
    bridge: Bridge,
    claims: list[Claim],
    *,
    gate: Callable[[], RootsGate] = RootsGate,
    lookup: Callable[[str], Any] | None = None,
    watching: bool = False,
) -> Server[App]:
    """A server for one vault. Every connection gets its own gate, so that callers never mix.

    `watching`: follow the vault's folders from the first request on that touches files, to announce changes.
    """
    bus = InMemorySubscriptionBus()

    def caller(roots: list[str] | None) -> Caller:
        return resolve(bridge.root, roots, claims, lookup)

    @asynccontextmanager
    async def connection(_: Server[App]) -> AsyncIterator[App]:
        workers = calls.Workers()
        changes = Changes(bridge, bus, workers)
        app = App(bridge, Identity(caller, gate()), changes, workers)
        bridge.listeners.append(changes.report)
        follower = asyncio.create_task(_follow(app)) if watching else None
        try:
            yield app
        finally:
            if follower is not None:
                follower.cancel()
            bridge.listeners.remove(changes.report)
            changes.close()
            app.workers.close()

    server: Server[App] = Server(
        surface.NAME,
        version=surface.INFO["version"],
        instructions=INSTRUCTIONS,
        lifespan=connection,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=ListenHandler(bus, max_subscriptions=64),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )
    server.middleware.clear()  # OpenTelemetry: nothing here is traced
    server.add_notification_handler("notifications/initialized", types.NotificationParams, initialized)
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots_changed)
    return server


async def _follow(app: App) -> None:
    """Watch the vault once it is used; what changes is announced and known to the index before the next call."""
    await app.workers.used.wait()
    from .search import followers
    from .watch import watch

    def changed(rels: list[str]) -> None:
        app.changes.report(rels)
        loop.run_in_executor(None, followers.written, app.bridge)

    loop = asyncio.get_running_loop()
    try:
        index = await app.workers.run(lambda: app.bridge.index)
        await watch(app.bridge.root, changed, None, index)
    except Exception as error:  # only ever a hint: every call compares the files by itself
        log.debug("the vault is not watched: %r", error)


def options(server: Server[App]) -> Any:
    """What a handshake-era client is told that it may hear of."""
    return server.create_initialization_options(NotificationOptions(resources_changed=True))


async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in surface.tools()])


async def list_prompts(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[types.Prompt.model_validate(prompt) for prompt in surface.prompts()])


async def list_templates(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    found = [types.ResourceTemplate.model_validate(template) for template in surface.templates()]
    return types.ListResourceTemplatesResult(resource_templates=found)


async def call_tool(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    app = ctx.lifespan_context
    if params.name not in surface.modules():
        tools = ", ".join(surface.modules())
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:100]}. There are {tools}.")
    call = calls.Call(app.bridge, params.name)
    line = calls.reporter(ctx.session.report_progress)
    try:
        call.caller = await app.identity.of(ctx, params, needed=params.name not in calls.UNSCOPED)
        call.read(params.arguments)
        progress.current.set(line)
        text = await app.workers.run(call.work)
    except Unasked:
        return question()
    except Exception as error:
        code, sentence = call.failed(error)
        return calls.result(sentence, code)
    except BaseException:
        line.cancelled = True
        call.abandoned()
        raise
    return calls.result(text)


async def list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    app, cursor = ctx.lifespan_context, params.cursor if params else None
    try:
        listed, following = await _files(app, lambda: resources.page(app.bridge, cursor))
    except resources.BadCursor:
        raise MCPError(types.INVALID_PARAMS, "This cursor is not from this list: start without one") from None
    return types.ListResourcesResult(
        resources=[types.Resource.model_validate(entry) for entry in listed], next_cursor=following
    )


async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    app = ctx.lifespan_context
    caller = await app.identity.of(ctx, params, needed=False)
    try:
        contents = await _files(app, lambda: resources.read(app.bridge, params.uri))
    except resources.UnknownResource:
        app.bridge.audit.record("refused", caller, tool="resources/read", uri=params.uri, code="no-such-resource")
        raise _unknown(params.uri) from None
    app.bridge.audit.record("resource", caller, uri=params.uri)
    return types.ReadResourceResult(contents=[types.TextResourceContents.model_validate(part) for part in contents])


async def subscribe(ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
    app = ctx.lifespan_context
    try:
        rel = await _files(app, lambda: resources.known(app.bridge, params.uri))
    except resources.UnknownResource:
        raise _unknown(params.uri) from None
    if len(app.changes.subscribed) >= SUBSCRIBED and params.uri not in app.changes.subscribed:
        raise MCPError(types.INVALID_PARAMS, f"{SUBSCRIBED} notes are subscribed to: unsubscribe from some first")
    app.changes.subscribed[params.uri] = rel
    return types.EmptyResult()


async def unsubscribe(ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    ctx.lifespan_context.changes.subscribed.pop(params.uri, None)
    return types.EmptyResult()


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    app = ctx.lifespan_context
    try:
        prompts.message(params.name, params.arguments or {}, "")
        caller = await app.identity.of(ctx, params)
    except KeyError:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:100]}") from None
    except ValueError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from None
    except Unasked:
        return question()

    def compose() -> str:
        given = params.arguments or {}
        value = given[prompts.argument_of(params.name)]
        return prompts.message(params.name, given, prompts.gather(app.bridge, caller, params.name, value))

    text = calls.clean(await _files(app, compose))
    app.bridge.audit.record("prompt", caller, prompt=params.name, arguments=params.arguments or {})
    described = next(prompt["description"] for prompt in prompts.PROMPTS if prompt["name"] == params.name)
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text[: calls.TEXT]))
    return types.GetPromptResult(description=described, messages=[message])


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    app, argument = ctx.lifespan_context, params.argument
    find: Callable[[], list[str]] = list
    if isinstance(params.ref, types.ResourceTemplateReference):
        if argument.name == "path":
            find = lambda: resources.paths(app.bridge, argument.value)  # noqa: E731
    elif params.ref.name in prompts.TASKS and argument.name == prompts.argument_of(params.ref.name):
        find = lambda: prompts.topics(app.bridge, argument.name, argument.value)  # noqa: E731
    found = [calls.clean(value) for value in await _files(app, find)]
    return types.CompleteResult(
        completion=types.Completion(values=found[:COMPLETIONS], total=len(found), has_more=len(found) > COMPLETIONS)
    )


async def initialized(ctx: Context, params: types.NotificationParams) -> None:
    app, session = ctx.lifespan_context, ctx.session
    app.changes.session = session
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        app.identity.gate.open()
    else:
        await app.identity.gate.refresh(lambda: _roots(session))


async def roots_changed(ctx: Context, params: types.NotificationParams) -> None:
    session = ctx.session
    await ctx.lifespan_context.identity.gate.refresh(lambda: _roots(session))


async def _roots(session: Any) -> list[str]:
    # the same request as `session.list_roots()`, which warns that roots are deprecated
    answer = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    return [str(root.uri) for root in answer.roots]


async def _files(app: App, work: Callable[[], calls.T]) -> calls.T:
    """Run `work` in a worker; what goes wrong with the vault becomes one sentence for the client."""
    from vaultcore.errors import VaultError

    try:
        return await app.workers.run(work)
    except (resources.UnknownResource, resources.BadCursor, MCPError):
        raise
    except VaultError as error:
        raise MCPError(types.INTERNAL_ERROR, str(error)) from None
    except Exception as error:
        log.error("%s: %s", type(error).__name__, " ".join(str(error).split())[:300])
        raise MCPError(types.INTERNAL_ERROR, "The vault could not be read: run `om doctor`") from None


def _unknown(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
