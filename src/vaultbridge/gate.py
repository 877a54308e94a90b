"""Who is calling, on both protocol eras.

Handshake era: the client is asked for its roots once it is initialized and again whenever it says that they changed;
a call that needs to know waits for the answer, two seconds at most, and a client that has never answered is waited for
once. 2026-07-28: the call itself is answered with the question, and the client repeats it with the answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from vaultcore.identity import Caller

log = logging.getLogger("om")

WAIT = 2.0  # seconds a call waits for roots
PATIENCE = 30.0  # seconds during which a late answer is still taken
FRESH = 5.0  # seconds for which the roots of one 2026-07-28 call serve the next ones
ROOTS_KEY = "om.roots"
MOST = 64  # roots taken from one answer

Ask = Callable[[], Awaitable[list[str]]]


class Unasked(Exception):
    """The client has roots that this request must ask for first."""


class RootsGate:
    """The roots of one handshake-era connection: open while they are known or nobody will tell them."""

    def __init__(self, wait: float = WAIT, patience: float = PATIENCE) -> None:
        self.roots: list[str] | None = None
        self._wait, self._patience = wait, patience
        self._generation = 0
        self._ready = anyio.Event()
        self._deadline: float | None = None
        self._silent = False  # the client let a whole wait pass and has not answered since

    async def refresh(self, ask: Ask) -> None:
        """Close the gate and ask. A newer refresh makes this one's answer void; a late answer still counts."""
        self._generation += 1
        mine = self._generation
        if self._ready.is_set():
            self._ready = anyio.Event()
        self._deadline = time.monotonic() + self._wait
        roots: list[str] | None = None
        try:
            with anyio.fail_after(self._patience):
                roots = (await ask())[:MOST]
        except TimeoutError:
            log.debug("roots/list was not answered")
        except Exception as error:  # an error answer, a closed connection, a malformed list: all say nothing
            log.debug("roots/list failed: %r", error)
        if mine == self._generation:
            self.roots = roots
            self._silent = False
            self._ready.set()

    def open(self) -> None:
        """The client has no roots: nobody needs to wait. Without effect once it was asked."""
        if self._generation == 0:
            self._ready.set()

    async def wait(self) -> tuple[list[str] | None, bool]:
        """The roots as known now, and whether that is provisional. Waits until the deadline, which all calls share."""
        if not self._ready.is_set() and not self._silent:
            if self._deadline is None:  # a call came before the client said that it is initialized
                self._deadline = time.monotonic() + self._wait
            with anyio.move_on_after(self._deadline - time.monotonic()):
                while not self._ready.is_set():  # a refresh replaces the event meanwhile
                    await self._ready.wait()
            self._silent = not self._ready.is_set()
        return self.present()

    def present(self) -> tuple[list[str] | None, bool]:
        """Like `wait`, without waiting. While the answer is due, roots known before serve nobody."""
        return (self.roots, False) if self._ready.is_set() else (None, True)


class Identity:
    """The caller of each request of one connection. `resolve` maps roots to a caller and may read files."""

    def __init__(self, resolve: Callable[[list[str] | None], Caller], gate: RootsGate | None = None) -> None:
        self.resolve = resolve
        self.gate = gate or RootsGate()
        self._recent: dict[str, tuple[float, list[str] | None]] = {}

    async def of(self, ctx: ServerRequestContext[Any, Any], params: Any, needed: bool = True) -> Caller:
        """The caller of this request. `needed` False: what is known without asking or waiting.

        Raises Unasked when a 2026-07-28 client must be asked first.
        """
        capabilities = ctx.session.client_capabilities
        has_roots = capabilities is not None and capabilities.roots is not None
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            roots, provisional = self._modern(ctx, params, needed) if has_roots else (None, False)
        else:
            if not has_roots:
                self.gate.open()
            roots, provisional = await self.gate.wait() if needed else self.gate.present()
        caller = await anyio.to_thread.run_sync(self.resolve, roots, abandon_on_cancel=True)
        caller.provisional = provisional
        return caller

    def _modern(self, ctx: ServerRequestContext[Any, Any], params: Any, needed: bool) -> tuple[list[str] | None, bool]:
        client = ctx.session.client_params
        key = client.client_info.name if client is not None else ""
        answers = getattr(params, "input_responses", None) or {}
        if ROOTS_KEY in answers:
            answer = answers[ROOTS_KEY]
            roots = [str(r.uri) for r in answer.roots][:MOST] if isinstance(answer, types.ListRootsResult) else None
            self._recent = {key: (time.monotonic(), roots)}
            return roots, False
        at, roots = self._recent.get(key, (float("-inf"), None))
        if time.monotonic() - at < FRESH:
            return roots, False
        if needed:
            raise Unasked
        return None, True


def question() -> types.InputRequiredResult:
    """The answer to a 2026-07-28 call that asks the client for its roots."""
    return types.InputRequiredResult(input_requests={ROOTS_KEY: types.ListRootsRequest()})
