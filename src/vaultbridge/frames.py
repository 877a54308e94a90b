"""Frames out of bytes: bounded, in linear time, and mended where a client writes what is not quite Unicode."""

from __future__ import annotations

import json
import re
from typing import Any

import mcp_types as types

from .boot import split

LARGEST = 8_000_000  # bytes of one frame
HEAD = 1 << 16  # bytes in which a refused frame is searched for its id


class Frames:
    """Lines out of chunks, with a bound. A longer line is dropped while it arrives and handed out as `TooLong`."""

    def __init__(self, rest: bytes = b"") -> None:
        self._pieces: list[bytes] = [rest] if rest else []
        self._size = len(rest)
        self._head: bytes | None = None  # of a line that is being dropped
        self._tail = b""

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The frames that `chunk` completes."""
        out: list[bytes | TooLong] = []
        while chunk:
            end = chunk.find(b"\n")
            if self._head is not None:
                self._tail = (self._tail + (chunk if end < 0 else chunk[:end]))[-HEAD:]
                if end < 0:
                    return out
                out.append(TooLong(frame_id(self._head, self._tail)))
                self._head, self._tail = None, b""
                chunk = chunk[end + 1 :]
                continue
            piece = chunk if end < 0 else chunk[:end]
            self._size += len(piece)
            if self._size > LARGEST:
                self._pieces.append(piece)
                line = b"".join(self._pieces)
                self._pieces, self._size = [], 0
                self._head, self._tail = line[:HEAD], line[-HEAD:]
                chunk = b"" if end < 0 else chunk[end:]
                continue
            if end < 0:
                self._pieces.append(piece)
                return out
            lines = split(chunk, self._pieces)
            self._size = sum(map(len, self._pieces))
            out.extend(lines)
            return out
        return out


class TooLong:
    """A frame over the bound, and the id of its request if it could be found."""

    def __init__(self, identifier: int | str | None) -> None:
        self.identifier = identifier


# a string may run on behind the head: it is one token all the same, or every quote in it is tried as a beginning
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL)
_LAST = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*\}\s*$')


def frame_id(head: bytes, tail: bytes = b"") -> int | str | None:
    """The id of the JSON-RPC request that begins with `head` and ends with `tail`; what lies between is not needed."""
    depth, key, previous = 0, b"", b""
    for token in _TOKEN.findall(head):
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif token == b":":
            key = previous
        elif depth == 1 and key == b'"id"' and token != b",":
            return _identifier(token)
        if token == b",":
            key = b""
        previous = token
    last = _LAST.search(tail)
    return _identifier(last[1]) if last else None


def _identifier(token: bytes) -> int | str | None:
    try:
        value = json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, (int, str)) and not isinstance(value, bool) else None


def message_of(raw: bytes) -> Any:
    """One frame as the SDK's message. Text that is not Unicode (lone surrogates, bad UTF-8) is mended, not refused.

    Raises ValueError or RecursionError for what is not a JSON-RPC message.
    """
    try:
        return types.jsonrpc_message_adapter.validate_json(raw, by_name=False)
    except ValueError:
        mended = _mended(json.loads(raw.decode("utf-8", "replace")))
        return types.jsonrpc_message_adapter.validate_python(mended, by_name=False)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
