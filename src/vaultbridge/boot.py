"""The first answers, before the SDK is imported.

A client waits for `initialize` or `server/discover` and the lists, and some leave a server out of the first turn that
takes a second. So this process first takes the wire away from everybody else, answers those requests from
`surface`, imports the SDK in a thread meanwhile, and then hands over every frame that it has not answered. What it
answers equals what the SDK would have answered; a test compares the two.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading

from . import surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHUNK = 1 << 16
LARGEST = 1 << 20  # bytes; a longer frame is none of those answered here
HEAD_START = 0.05  # seconds the client gets to send its first frame before the import takes the processor

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
STAMP = {"io.modelcontextprotocol/serverInfo": surface.INFO}


class Wire:
    """The two ends of the client's pipes, kept private: descriptor 0 is empty and descriptor 1 is stderr from here on,
    so that no stray print, child process or library can put a byte between two frames."""

    def __init__(self) -> None:
        self.read, self.write = os.dup(0), os.dup(1)  # not inherited by children
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)


class Boot:
    """What the first seconds of a connection have seen: what was answered here and what waits for the SDK."""

    def __init__(self) -> None:
        self.era: str | None = None  # "handshake" or "modern", fixed by the first request
        self.queue: list[bytes] = []  # frames the SDK must see
        self.swallow: set[int | str] = set()  # ids that the SDK will answer a second time

    def answer(self, raw: bytes) -> bytes | None:
        """The answer to one frame, or None when it is left to the SDK."""
        result = self._result(raw)
        if result is None:
            return None
        identifier, body = result
        frame = {"jsonrpc": "2.0", "id": identifier, "result": body}
        return json.dumps(frame, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"

    def _result(self, raw: bytes) -> tuple[int | str, dict[str, Any]] | None:
        request = _request(raw)
        if request is None:
            self.queue.append(raw)
            return None
        method, identifier, params = request
        meta = params.get("_meta")
        enveloped = method != "initialize" and isinstance(meta, dict) and VERSION_KEY in meta
        if isinstance(meta, dict) and enveloped and not _valid(meta):
            self.queue.append(raw)  # the SDK says what is wrong with it
            return None
        if method == "initialize" and self.era is None and _offers(params):
            self.era = "handshake"
            self.queue.append(raw)
            self.swallow.add(identifier)
            return identifier, surface.initialized(params["protocolVersion"])
        result = None
        if enveloped and self.era != "handshake":
            if method == "server/discover":
                result = surface.discovered()
            elif method in surface.LISTS and not params.get("cursor"):
                result = {**_listing(method), **surface.UNCACHED}
            self.era = "modern"
            if result is not None:
                return identifier, {**result, "resultType": "complete", "_meta": STAMP}
        elif not enveloped and self.era == "handshake":
            if method == "ping":
                result = {}
            elif method in surface.LISTS and not params.get("cursor"):
                result = _listing(method)
            if result is not None:
                return identifier, result
        self.era = self.era or "handshake"
        self.queue.append(raw)
        return None


def _listing(method: str) -> dict[str, Any]:
    key, entries = surface.LISTS[method]
    return {key: entries()}


def _request(raw: bytes) -> tuple[str, int | str, dict[str, Any]] | None:
    """Method, id and parameters of a well-formed request; None for everything else."""
    if len(raw) > LARGEST:
        return None
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    method, identifier, params = message.get("method"), message.get("id"), message.get("params", {})
    if not isinstance(method, str) or isinstance(identifier, bool) or not isinstance(identifier, (int, str)):
        return None
    return (method, identifier, params) if isinstance(params, dict) else None


def _valid(meta: dict[str, Any]) -> bool:
    return meta[VERSION_KEY] == surface.MODERN_VERSION and isinstance(meta.get(CAPABILITIES_KEY), dict)


def _offers(params: dict[str, Any]) -> bool:
    client = params.get("clientInfo")
    return (
        isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and isinstance(client, dict)
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version"), str)
    )


def serve(arguments: list[str]) -> None:
    """Serve the client on descriptors 0 and 1 until it goes away. Never returns."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), lambda *_: os._exit(0))
    wire = Wire()
    boot = Boot()
    loading = Loading(arguments)
    rest: list[bytes] = []
    ended = False
    while not loading.done:
        ready = select.select(
            [loading.signal] if ended else [wire.read, loading.signal], [], [], None if loading.begun else HEAD_START
        )[0]
        if wire.read in ready:
            chunk = os.read(wire.read, CHUNK)
            if chunk:
                _write(wire.write, b"".join(a for line in split(chunk, rest) if (a := boot.answer(line))))
            else:
                ended = True
                if not boot.queue:
                    os._exit(0)
        if not loading.begun:
            loading.begin()
    if loading.error is not None:
        _fail(wire.write, boot, loading.error)
    loading.go(wire.read, wire.write, boot, b"".join(rest), ended)
    os._exit(0)


class Loading:
    """The import of the SDK in a thread. `signal` is a descriptor that becomes readable when it is over."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.begun = self.done = False
        self.error: BaseException | None = None
        self.go: Any = None
        self.signal, self._end = os.pipe()

    def begin(self) -> None:
        self.begun = True
        threading.Thread(target=self._run, daemon=True, name="import").start()

    def _run(self) -> None:
        import gc

        gc.disable()  # nothing of what an import makes is garbage
        try:
            from . import serving

            self.go = serving.prepare(self.arguments)
            gc.collect()
            gc.freeze()
        except BaseException as error:  # whatever it is, the client must be told
            self.error = error
        gc.enable()
        self.done = True
        os.write(self._end, b".")


def split(chunk: bytes, rest: list[bytes]) -> list[bytes]:
    """The lines that `chunk` completes. What is left over stays in `rest` as pieces: long lines cost no copies."""
    first, *more = chunk.split(b"\n")
    rest.append(first)
    if not more:
        return []
    lines = [b"".join(rest), *more[:-1]]
    rest[:] = [more[-1]] if more[-1] else []
    return [line for line in lines if line.strip()]


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        os._exit(0)  # the client is gone


def _fail(descriptor: int, boot: Boot, error: BaseException) -> None:
    """Answer what waits with a sentence that says what to run, and end."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    sentence = f"om cannot start ({what}): run `python3 om.py setup` in the vault, then reconnect"
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()
    for raw in boot.queue:
        request = _request(raw)
        if request is not None and request[1] not in boot.swallow:
            reply = {"jsonrpc": "2.0", "id": request[1], "error": {"code": -32603, "message": sentence}}
            _write(descriptor, json.dumps(reply).encode() + b"\n")
    os._exit(1)
