"""The SDK's streams over two private file descriptors.

A thread reads and a thread writes, so that neither a silent nor a slow client ever blocks the loop. Frames are bounded
and cost linear time. The connection ends cleanly at end of input, when the client is gone, at a signal, and when the
process that started us has died while somebody else keeps our input open.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import select
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream, create_context_streams
from mcp.shared.message import SessionMessage

from .frames import HEAD, LARGEST, Frames, TooLong, frame_id, message_of

CHUNK = 1 << 16
AHEAD = 256  # frames read but not yet dispatched
GRACE = 3.0  # seconds that calls in progress get to answer after the end of input
FLUSH = 2.0  # seconds the client gets to take the last answers
ORPHAN_POLL = 15.0
ORPHAN_IDLE = 60.0  # seconds without a frame after which a process whose parent died gives up

Streams = tuple["ContextReceiveStream[SessionMessage | Exception]", "ContextSendStream[SessionMessage]"]


class Parent:
    """Whether the process that started us is gone for good.

    A launcher may leave at once and a client may outlive it, so a change of parent counts only from the first frame on,
    and only when nothing has been asked for a while.
    """

    def __init__(self, now: float, parent: int, idle: float = ORPHAN_IDLE) -> None:
        self._parent, self._idle = parent, idle
        self._frames = 0
        self._at = now

    def heard(self, now: float, parent: int) -> None:
        """A frame came."""
        if not self._frames:
            self._parent = parent
        self._frames += 1
        self._at = now

    def gone(self, now: float, parent: int) -> bool:
        return self._frames > 0 and parent != self._parent and now - self._at >= self._idle


class Pending:
    """The requests that have been read and not answered."""

    def __init__(self) -> None:
        self._ids: Counter[str] = Counter()
        self.empty = asyncio.Event()
        self.empty.set()

    def seen(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest):
            if message.method != "subscriptions/listen":  # answered when the connection ends
                self._ids[str(message.id)] += 1
                self.empty.clear()
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self.answered((message.params or {}).get("requestId"))  # never will be

    def answered(self, identifier: object) -> None:
        key = str(identifier)
        self._ids[key] -= 1
        if self._ids[key] <= 0:
            del self._ids[key]
        if not self._ids:
            self.empty.set()


def _deaf(write: int) -> bool:
    """Whether nobody can read what is written there any more."""
    poll = select.poll()
    poll.register(write, 0)
    return any(state & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, state in poll.poll(0))


@asynccontextmanager
async def descriptors(
    read: int, write: int, seed: list[bytes], rest: bytes, swallow: set[int | str], ended: bool
) -> AsyncIterator[Streams]:
    """The two streams of `Server.run` over the descriptors `read` and `write`.

    `seed` are frames already read, `rest` the beginning of the next, `ended` whether input is over. An answer to an id
    in `swallow` is dropped once: the client has it already.
    """
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[bytes | TooLong | None] = asyncio.Queue()
    outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    room = threading.Semaphore(AHEAD)
    over = asyncio.Event()
    pending = Pending()
    parent = Parent(time.monotonic(), os.getppid())

    def tell(what: Callable[..., object], *values: object) -> None:
        try:
            loop.call_soon_threadsafe(what, *values)
        except RuntimeError:
            pass  # the loop has ended, and so will this thread

    def reading() -> None:
        frames = Frames(rest)
        while not ended:
            try:
                chunk = os.read(read, CHUNK)
            except OSError:
                break
            if not chunk:
                break
            parent.heard(time.monotonic(), os.getppid())
            for frame in frames.feed(chunk):
                room.acquire()
                tell(inbox.put_nowait, frame)
        tell(inbox.put_nowait, None)

    def writing() -> None:
        while (data := outbox.get()) is not None:
            try:
                while data:
                    data = data[os.write(write, data) :]
            except OSError:  # the client is gone: nobody is left to serve
                tell(over.set)
                return

    def refuse(identifier: int | str | None, code: int, sentence: str) -> None:
        error = {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": sentence}}
        outbox.put(json.dumps(error).encode() + b"\n")

    inward, receive = create_context_streams[SessionMessage | Exception](0)
    send, outward = create_context_streams[SessionMessage](0)

    async def deliver(raw: bytes | TooLong) -> None:
        if isinstance(raw, TooLong):
            limit = f"A frame may have {LARGEST:,} bytes; this one was longer and was not read. Send less at once."
            return refuse(raw.identifier, types.INVALID_REQUEST, limit)
        try:
            message = message_of(raw)
        except (ValueError, RecursionError):
            identifier = frame_id(raw[:HEAD], raw[-HEAD:])
            if identifier is not None and b'"method"' in raw[:HEAD]:
                refuse(identifier, types.INVALID_REQUEST, "This is not a JSON-RPC 2.0 request.")
            return
        pending.seen(message)
        await inward.send(SessionMessage(message))

    async def pump_in() -> None:
        async with inward:
            threading.Thread(target=reading, daemon=True, name="read").start()
            for raw in seed:
                await deliver(raw)
            seed.clear()
            while (frame := await inbox.get()) is not None:
                room.release()
                await deliver(frame)
            with anyio.move_on_after(GRACE):  # what was asked before the end of input is still answered
                while not pending.empty.is_set() and not _deaf(write):
                    with anyio.move_on_after(0.1):
                        await pending.empty.wait()

    async def pump_out() -> None:
        async with outward:
            async for item in outward:
                message = item.message
                if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
                    pending.answered(message.id)
                    if message.id in swallow:
                        swallow.discard(message.id)
                        continue
                outbox.put(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async def watch_parent() -> None:
        while not parent.gone(time.monotonic(), os.getppid()):
            await anyio.sleep(ORPHAN_POLL)
        over.set()

    writer = threading.Thread(target=writing, daemon=True, name="write")
    writer.start()
    async with anyio.create_task_group() as group:

        async def stop() -> None:
            await over.wait()
            group.cancel_scope.cancel()

        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            loop.add_signal_handler(getattr(signal, name), over.set)
        for task in (stop, pump_in, pump_out, watch_parent):
            group.start_soon(task)
        try:
            yield receive, send
        finally:
            group.cancel_scope.cancel()
    outbox.put(None)
    writer.join(FLUSH)
    sys.stderr.flush()
