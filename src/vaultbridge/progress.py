"""How a running tool says how far it is and learns that nobody waits for it any more.

A tool runs in a worker thread and knows nothing of the protocol: it calls `report` and may look at `cancelled`.
Outside a call (the command line, a test) both do nothing.
"""

from __future__ import annotations

import time
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INTERVAL = 0.25  # seconds between two notifications; the last one always goes out


class Reporter:
    """One call's line back to its client. `send(done, total, message)` may be called from any thread."""

    def __init__(self, send: Callable[[float, float | None, str | None], None]) -> None:
        self._send = send
        self._sent_at = 0.0
        self._done = -1.0
        self.cancelled = False

    def report(self, done: float, total: float | None, message: str | None) -> None:
        if done <= self._done or self.cancelled:  # the protocol wants values that grow
            return
        now = time.monotonic()
        if now - self._sent_at < INTERVAL and done != total:
            return
        self._sent_at, self._done = now, done
        self._send(done, total, message)


current: ContextVar[Reporter | None] = ContextVar("current", default=None)


def report(done: float, total: float | None = None, message: str | None = None) -> None:
    """Tell the client that `done` of `total` is done. Cheap enough to call in a loop."""
    reporter = current.get()
    if reporter is not None:
        reporter.report(done, total, message)


def cancelled() -> bool:
    """Whether the client has given this call up. A tool that is between two steps may stop then."""
    reporter = current.get()
    return reporter is not None and reporter.cancelled
