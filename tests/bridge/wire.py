"""A client that speaks raw frames to a real bridge process."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MAIN = HERE.parent.parent / "src" / "vaultbridge" / "__main__.py"
TOYS = HERE / "toys.py"

PATIENCE = 60.0  # seconds until a missing answer is a failure; a loaded machine needs a few
INITIALIZED = {"method": "notifications/initialized"}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def initialize(version: str = "2025-06-18", identifier: Any = 1, **capabilities: Any) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}}
    return {"id": identifier, "method": "initialize", "params": params}


def call(identifier: Any, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": identifier, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


class Wire:
    """One process and the frames that come out of it, in order."""

    def __init__(self, vault: Path, *words: str, script: Path = MAIN, cwd: Path | None = None, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(script), "--vault", str(vault), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=cwd or vault, env={**os.environ, **env},
        )  # fmt: skip
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.stderr = b""
        self._seen: dict[Any, dict[str, Any]] = {}
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._overhear)]
        for thread in self._threads:
            thread.start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _overhear(self) -> None:
        assert self.process.stderr
        self.stderr = self.process.stderr.read()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            try:
                pipe.close()
            except OSError:
                pass

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
            self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        """The next frame; every line must be one."""
        line = self.lines.get(timeout=PATIENCE)
        assert line is not None, f"the bridge ended: {self.stderr.decode()}"
        frame = json.loads(line)
        assert isinstance(frame, dict) and frame["jsonrpc"] == "2.0"
        return frame

    def answer(self, identifier: Any) -> dict[str, Any]:
        """The answer to one request; other frames are kept for who asks for them."""
        while identifier not in self._seen:
            frame = self.next()
            if "method" not in frame:
                assert frame["id"] not in self._seen, f"a second answer to {frame['id']}"
                self._seen[frame["id"]] = frame
        return self._seen.pop(identifier)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.send(message)
        return self.answer(message["id"])

    def text(self, identifier: Any, name: str, **arguments: Any) -> str:
        """The text of a tool call's reply."""
        return str(self.ask(call(identifier, name, **arguments))["result"]["content"][0]["text"])

    def shake_hands(self, version: str = "2025-06-18", **capabilities: Any) -> dict[str, Any]:
        self.send(initialize(version, "hello", **capabilities))
        result: dict[str, Any] = self.answer("hello")["result"]
        self.send(INITIALIZED)
        return result

    def hang_up(self) -> int:
        """Close the bridge's input and wait for its end."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join()
        return code

    def rest(self) -> list[bytes]:
        """Every line that nobody has read, after the end."""
        found = []
        while (line := self.lines.get(timeout=PATIENCE)) is not None:
            found.append(line)
        return found
