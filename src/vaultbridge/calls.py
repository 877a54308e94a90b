"""One tool call from its arguments to its reply: checked, run in a thread, bounded, audited, never a traceback."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import sqlite3
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import mcp_types as types

from vaultcore.errors import Refusal, VaultError
from vaultcore.identity import Caller

from . import arguments, progress, surface
from .bridge import Bridge

log = logging.getLogger("om")

THREADS = 6
TEXT = 40_000  # characters of one reply
LOGGED = 200  # characters of an argument in the audit log

# these serve the same notes to everybody: they never wait for the client's roots
UNSCOPED = frozenset({"read", "expand"})

T = TypeVar("T")


class Workers:
    """A few threads for what touches files. A call that is given up stops waiting; what it had begun is finished."""

    def __init__(self, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="call")
        self.used = asyncio.Event()

    async def run(self, work: Callable[[], T]) -> T:
        self.used.set()
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: context.run(work))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class Call:
    """One call: what was asked, and what the audit log will say about it."""

    def __init__(self, bridge: Bridge, name: str) -> None:
        self.bridge, self.name = bridge, name
        self.module = surface.modules()[name]
        self.values: dict[str, Any] = {}
        self.understood: list[str] = []
        self.caller: Caller | None = None
        self._started = time.monotonic()

    def read(self, given: dict[str, Any] | None) -> None:
        """Take the arguments in. Raises Refusal for what the caller can mend."""
        writes = not self.module.TOOL["annotations"]["readOnlyHint"]
        self.values, self.understood = arguments.parse(self.module.TOOL["inputSchema"], given, writes)

    def work(self) -> str:
        """Run the tool, in a worker thread."""
        self.bridge.check()
        text: str = self.module.run(self.bridge, self.caller, self.values)
        if self.understood:
            text += "\nRead as: " + "; ".join(self.understood)
        if len(text) > TEXT:
            text = text[: TEXT - 120] + f"\nCut here: {len(text) - TEXT + 120} more characters. Ask for less at once."
        self._record(self.name, characters=len(text))
        return text

    def failed(self, error: Exception) -> tuple[str, str]:
        """The code and the sentence for what went wrong, recorded. What is no caller's business goes to stderr."""
        if isinstance(error, Refusal):
            code, sentence = error.code, refusal(error)
        elif isinstance(error, VaultError):
            code, sentence = "vault", str(error)
        else:
            code, sentence = "internal", self._surprise(error)
        self._record("refused", tool=self.name, code=code, why=sentence)
        evidence = error.details.get("evidence") if isinstance(error, Refusal) else None
        return code, f"{sentence}\n{evidence}" if evidence else sentence

    def abandoned(self) -> None:
        """The client gave the call up, or is gone."""
        self._record("refused", tool=self.name, code="cancelled", why="the client gave the call up")

    def _surprise(self, error: Exception) -> str:
        frame = traceback.extract_tb(error.__traceback__)[-1:]
        place = f" ({os.path.basename(frame[0].filename)}:{frame[0].lineno})" if frame else ""
        said = " ".join(str(error).split())[:300]
        log.error("%s failed: %s: %s%s", self.name, type(error).__name__, said, place)
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        elif isinstance(error, sqlite3.Error):
            reason = f"the index could not be used ({said[:80]})"
        else:
            reason = f"an unexpected {type(error).__name__}"
        return f"{self.name} could not finish: {reason}. Try once more; if it stays, run `om doctor`."

    def _record(self, action: str, **fields: object) -> None:
        spent = round((time.monotonic() - self._started) * 1000)
        unlogged = getattr(self.module, "UNLOGGED", ())  # what may hold a secret is counted, not copied
        asked = {
            key: f"{len(str(value))} characters" if key in unlogged else _short(value)
            for key, value in self.values.items()
        }
        self.bridge.audit.record(action, self.caller, arguments=asked, ms=spent, **fields)


def _short(value: object) -> object:
    return value[:LOGGED] if isinstance(value, str) else value


def refusal(error: Refusal) -> str:
    """A refusal as one line for the model: `code: why. next`."""
    why = error.why.rstrip(". ")
    following = error.next.strip()
    return f"{error.code}: {why}. {following[:1].upper()}{following[1:]}".rstrip()


def result(text: str, code: str | None = None) -> types.CallToolResult:
    """A reply of text alone: clients that see structured content show the model nothing else."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=clean(text))]
    if code is None:
        return types.CallToolResult(content=content)
    return types.CallToolResult(content=content, is_error=True, _meta={"om/code": code})


def clean(text: str) -> str:
    """`text` without what cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


def reporter(send: Callable[[float, float | None, str | None], Any]) -> progress.Reporter:
    """Progress of the present call: `send` is awaited on this loop whichever thread reports."""
    loop = asyncio.get_running_loop()

    def thread_safe(done: float, total: float | None, message: str | None) -> None:
        asyncio.run_coroutine_threadsafe(send(done, total, message), loop)

    return progress.Reporter(thread_safe)
