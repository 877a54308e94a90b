"""Tell clients that notes changed, on both protocol eras at once.

2026-07-28: events go to whoever holds a `subscriptions/listen` stream. Handshake era: plain notifications on the
connection. Nobody hears of a path that the policy does not admit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from . import resources
from .bridge import Bridge
from .calls import Workers

log = logging.getLogger("om")

SUBSCRIBED = 1_000  # URIs one connection may subscribe to
NAMED = 100  # notes announced one by one; beyond that only the list is
PAUSE = 0.1  # seconds during which changes are gathered


class Changes:
    """What changed and is not announced yet, and who wants to hear it. `report` may be called from any thread."""

    def __init__(self, bridge: Bridge, bus: InMemorySubscriptionBus, workers: Workers) -> None:
        self.bridge, self.bus, self.workers = bridge, bus, workers
        self.session: Any = None  # of a handshake-era client, once it is initialized
        self.subscribed: dict[str, str] = {}  # URI as the client wrote it -> path
        self._loop = asyncio.get_running_loop()
        self._gathered: set[str] = set()
        self._waiting: asyncio.Task[None] | None = None

    def report(self, rels: Iterable[str]) -> None:
        """These vault-relative paths were written, moved or removed."""
        found = set(rels)
        if found:
            try:
                self._loop.call_soon_threadsafe(self._gather, found)
            except RuntimeError:
                pass  # the server is going down

    def _gather(self, rels: set[str]) -> None:
        self._gathered |= rels
        if self._waiting is None or self._waiting.done():
            self._waiting = self._loop.create_task(self._announce())

    async def _announce(self) -> None:
        await asyncio.sleep(PAUSE)
        rels, self._gathered = self._gathered, set()
        try:
            policy = await self.workers.run(lambda: self.bridge.policy)
            admitted = sorted(rel for rel in rels if policy.admits(rel))
            if admitted:
                await self._tell(admitted)
        except Exception as error:  # a client that left, a vault that is gone: the next change tries again
            log.debug("changes were not announced: %r", error)

    async def _tell(self, rels: list[str]) -> None:
        await self.bus.publish(ResourcesListChanged())
        if self.session is not None:
            await self.session.send_resource_list_changed()
        for rel in rels[:NAMED]:
            await self.bus.publish(ResourceUpdated(uri=resources.uri(rel)))
        if self.session is not None:
            for written, rel in list(self.subscribed.items()):
                if rel in rels:
                    await self.session.send_resource_updated(written)

    def close(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
