"""One running `qmd mcp`: JSON-RPC over its stdin and stdout, from any thread, every wait bounded.

A client of the SDK would cost 0.3 s of imports and an event loop; the four messages that are needed are here.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

from vaultcore import places

from . import program

if TYPE_CHECKING:
    from vaultcore.qmd import Index

PROTOCOL = "2025-06-18"
LONGEST_LINE = 16_000_000  # bytes of one reply
STRAY_LINES = 1_000  # lines on stdout that are no JSON-RPC, before it counts as broken
GOODBYE = 1.0  # seconds in which a child may end by itself


class Lost(RuntimeError):
    """The child is gone, cannot be started, or is not what it should be; the text says why."""


class Late(RuntimeError):
    """No reply within the time; the child goes on with it."""


class Wrong(RuntimeError):
    """The child answered, but not with what was asked for."""


class Client:
    """A child process and the requests it still owes an answer. Made by `start`; of no use once `gone` says why."""

    def __init__(self, found: program.Program, index: Index, root: str) -> None:
        self.index = index
        self.root = root
        self.gone = ""
        self.warm = False  # whether a query came back: the first one may load models
        self._call = [*program.leash(), *found.command(index, "mcp")]
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: dict[int, _Reply] = {}
        self._last = 0
        self._started = threading.Event()
        # The child is tied to the thread that starts it, so that is one which lives as long as the child.
        self._thread = threading.Thread(target=self._follow, name="qmd", daemon=True)

    def start(self, timeout: float) -> None:
        """Start the child and shake hands. Raises Lost."""
        until = time.monotonic() + timeout
        self._thread.start()
        if not self._started.wait(timeout):
            self.close("it did not start in time")
        if self.gone:
            raise Lost(self.gone)
        try:
            asked = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "om", "version": "1"}}
            reply = self.request("initialize", asked, until - time.monotonic())
        except Late:
            self.close(f"it did not answer within {timeout:.0f} s of its start")
            raise Lost(self.gone) from None
        server = reply.get("serverInfo")
        name = server.get("name") if isinstance(server, dict) else None
        if name != "qmd":
            self.close(f"what answers there is {str(name)[:40]!r}, not qmd")
            raise Lost(self.gone)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name: str, arguments: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The structured content of a tool's reply. Raises Lost, Late, or Wrong for a reply without it."""
        reply = self.request("tools/call", {"name": name, "arguments": arguments}, timeout, name == "query")
        if reply.get("isError"):
            raise Wrong(f"qmd refused the call: {_words(reply)}")
        content = reply.get("structuredContent")
        if not isinstance(content, dict):
            raise Wrong("qmd answered without structured results, and its text cannot be held against the policy")
        return content

    def request(self, method: str, params: dict[str, Any], timeout: float, warms: bool = False) -> dict[str, Any]:
        """The result of one request. `warms`: once it is answered, whenever that is, the child is warm. Raises Lost,
        Late or Wrong."""
        mine = _Reply(warms)
        with self._lock:
            if self.gone:
                raise Lost(self.gone)
            self._last += 1
            number = self._last
            self._waiting[number] = mine
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if not mine.done.wait(max(0.0, timeout)):
            raise Late(f"it did not answer within {timeout:.0f} s")
        if mine.lost:
            raise Lost(mine.lost)
        if mine.error:
            raise Wrong(mine.error)
        return mine.result

    @property
    def owed(self) -> float:
        """Seconds for which the oldest unanswered request has been waiting, 0 when there is none."""
        with self._lock:
            return time.monotonic() - min((r.asked for r in self._waiting.values()), default=time.monotonic())

    def close(self, why: str = "closed") -> None:
        """End the child with everything it started; those who wait for a reply hear why."""
        self._lose(why)
        child = self._child
        if child is None:
            return
        if why == "closed" and child.stdin is not None:
            try:
                child.stdin.close()  # it ends by itself when it is idle
                child.wait(GOODBYE)
            except (OSError, ValueError, subprocess.TimeoutExpired):
                pass
        program.end_group(child)

    def _send(self, message: dict[str, Any]) -> None:
        child = self._child
        try:
            if child is None or child.stdin is None:
                raise OSError("no pipe")
            with self._writing:
                child.stdin.write(json.dumps(message).encode() + b"\n")
                child.stdin.flush()
        except (OSError, ValueError):
            self._lose("it ended")

    def _follow(self) -> None:
        """The thread's work: start the child, hand out what it says, notice its end."""
        try:
            child = self._child = subprocess.Popen(
                self._call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=program.environment(self.index), cwd=places.cache(self.root), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._lose(f"it did not start ({error.strerror})")
            return
        finally:
            self._started.set()
        assert child.stdout is not None
        stray = 0
        try:
            while line := child.stdout.readline(LONGEST_LINE):
                if not self._take(line):
                    stray += 1
                    if stray > STRAY_LINES or len(line) >= LONGEST_LINE:
                        self.close("it printed what is no protocol")
        except (OSError, ValueError):
            pass  # closed under our hands
        self._lose("it ended")
        program.end_group(child)

    def _take(self, line: bytes) -> bool:
        """Hand one reply to whoever waits for it; False when the line is none."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return False
        number = message.get("id")
        if "method" in message:
            return True  # a notification, or a request that we offer nothing for
        with self._lock:
            reply = self._waiting.pop(number, None) if isinstance(number, int) else None
        if reply is None:
            return True
        result, error = message.get("result"), message.get("error")
        if isinstance(result, dict):
            reply.result = result
            self.warm = self.warm or reply.warms
        else:
            told = error.get("message") if isinstance(error, dict) else None
            reply.error = f"qmd refused the request: {str(told or 'no result')[:200]}"
        reply.done.set()
        return True

    def _lose(self, why: str) -> None:
        with self._lock:
            self.gone = self.gone or why
            left, self._waiting = list(self._waiting.values()), {}
        for reply in left:
            reply.lost = self.gone
            reply.done.set()


class _Reply:
    __slots__ = ("asked", "done", "error", "lost", "result", "warms")

    def __init__(self, warms: bool) -> None:
        self.warms = warms
        self.done = threading.Event()
        self.asked = time.monotonic()
        self.result: dict[str, Any] = {}
        self.error = self.lost = ""


def _words(reply: dict[str, Any]) -> str:
    content = reply.get("content")
    first = content[0] if isinstance(content, list) and content else None
    return " ".join(str(first.get("text") if isinstance(first, dict) else "no reason given").split())[:200]
