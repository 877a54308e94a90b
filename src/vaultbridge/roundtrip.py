"""Start the bridge as a client would, search and read, and say how that went."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from .doctor import FAIL, OK, Finding

ANSWER = 30.0  # seconds for one answer; the first one waits for the SDK's import
CLIENT = {"name": "om-doctor", "version": "1"}


def command(code: str, root: str) -> list[str]:
    """How any client starts the bridge of this vault."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    call = [base, os.path.join(code, "om.py"), "serve"]
    return call if os.path.realpath(code) == os.path.realpath(root) else [*call, "--vault", root]


class Conversation:
    """A bridge process and the frames to and from it."""

    def __init__(self, call: list[str], cwd: str) -> None:
        self.process = subprocess.Popen(
            call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd
        )
        self.frames: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.stderr = b""
        self.last = 0
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._overhear, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self.frames.put(json.loads(line))
            except ValueError:
                self.frames.put({"stray": line[:200].decode("utf-8", "replace")})
        self.frames.put(None)

    def _overhear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr = (self.stderr + line)[-2_000:]

    def tell(self, method: str, **params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one request; raises RuntimeError with a sentence when none comes."""
        self.last += 1
        self._send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        end = time.monotonic() + ANSWER
        while True:
            try:
                frame = self.frames.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"no answer to {method} within {ANSWER:.0f} s") from None
            if frame is None:
                said = self.stderr.decode("utf-8", "replace").strip().splitlines()
                raise RuntimeError(f"the bridge ended during {method}: {said[-1] if said else 'it said nothing'}")
            if "stray" in frame:
                raise RuntimeError(f"something wrote to stdout that is no frame: {frame['stray']!r}")
            if frame.get("id") == self.last and "method" not in frame:
                if "error" in frame:
                    raise RuntimeError(f"{method} was answered with an error: {frame['error'].get('message')}")
                result = frame.get("result")
                return result if isinstance(result, dict) else {}

    def _send(self, frame: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(frame).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            said = self.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RuntimeError(f"the bridge ended: {said[-1] if said else 'it said nothing'}") from None

    def end(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)


def findings(code: str, root: str, title: str | None) -> Iterator[Finding]:
    """The round trip as findings: start, tool list, a search for a note with `title`, and reading the first hit."""
    started = time.monotonic()
    conversation = Conversation(command(code, root), cwd=root)
    try:
        yield from converse(conversation, title, started)
    except RuntimeError as error:
        yield named(Finding(FAIL, str(error), "python3 om.py setup"))
    finally:
        conversation.end()


def converse(conversation: Conversation, title: str | None, started: float) -> Iterator[Finding]:
    ask = conversation.ask
    ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=CLIENT)
    first = time.monotonic() - started
    conversation.tell("notifications/initialized")
    tools = [tool["name"] for tool in ask("tools/list").get("tools", [])]
    yield named(Finding(OK, f"answers after {first * 1000:.0f} ms with {len(tools)} tools: {', '.join(tools)}"))
    if title is None:
        return
    reply = ask("tools/call", name="search", arguments={"query": title, "limit": 3})
    text = said(reply)
    if reply.get("isError") or 'path="' not in text:
        yield named(Finding(FAIL, f"a search for {title!r} finds nothing", "om doctor --fix"))
        return
    path = str(json.JSONDecoder().raw_decode(text, text.index('path="') + 5)[0])
    reply = ask("tools/call", name="read", arguments={"note": path})
    if reply.get("isError"):
        yield named(Finding(FAIL, f"{path} is found and can't be read: {said(reply)[:200]}", "om doctor --json"))
    else:
        yield named(Finding(OK, f"searched, and read {path}"))


def said(reply: dict[str, Any]) -> str:
    return "\n".join(part.get("text", "") for part in reply.get("content", []))


def named(finding: Finding) -> Finding:
    finding.check = "round trip"
    return finding
