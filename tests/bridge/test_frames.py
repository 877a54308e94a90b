"""Frames out of bytes."""

from __future__ import annotations

import json
import time
from typing import Any

import mcp_types as types
import pytest

from vaultbridge import frames
from vaultbridge.frames import Frames, TooLong, frame_id, message_of


def lines(*chunks: bytes) -> list[Any]:
    reader = Frames()
    return [f.identifier if isinstance(f, TooLong) else f for chunk in chunks for f in reader.feed(chunk)]


@pytest.mark.parametrize(
    ("chunks", "found"),
    [
        ([b'{"a":1}\n'], [b'{"a":1}']),
        ([b'{"a"', b":1}\n{", b"}\n"], [b'{"a":1}', b"{}"]),
        ([b"\n\r\n  \n{}\r\n"], [b"{}\r"]),
        ([b"{}"], []),
        ([b"a\nb\nc", b"d\n"], [b"a", b"b", b"cd"]),
        (['"\u2028\u0085"\n'.encode()], ['"\u2028\u0085"'.encode()]),
    ],
)
def test_frames_are_lines_however_they_are_cut(chunks: list[bytes], found: list[bytes]) -> None:
    assert lines(*chunks) == found


def big(identifier: Any, size: int, last: bool = False) -> bytes:
    body = {"jsonrpc": "2.0", "method": "tools/call", "params": {"id": "inner", "x": "é" * size}}
    whole = {**body, "id": identifier} if last else {"id": identifier, **body}
    return json.dumps(whole, ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("identifier", [8, "eight"])
def test_a_frame_over_the_bound_is_dropped_and_its_id_found(identifier: Any, last: bool) -> None:
    wire = b'{"first":1}\n' + big(identifier, frames.LARGEST // 2, last) + b'{"next":1}\n'
    chunks = [wire[at : at + 65_536] for at in range(0, len(wire), 65_536)]
    assert lines(*chunks) == [b'{"first":1}', identifier, b'{"next":1}']


def test_long_frames_cost_linear_time() -> None:
    def cost(size: int) -> float:
        wire = big(1, size)
        started = time.process_time()
        for _ in range(3):
            lines(*(wire[at : at + 4_096] for at in range(0, len(wire), 4_096)))
        return time.process_time() - started

    cost(100_000)
    assert cost(3_600_000) < 40 * max(cost(400_000), 0.002)  # nine times the bytes; quadratic would be eighty-one


@pytest.mark.parametrize("text", [b'\\"', b'"', b"\\", b'\\""', b"["])
def test_the_id_is_looked_for_in_linear_time(text: bytes) -> None:
    def cost(size: int) -> float:
        head = b'{"method":"x","params":"' + text * (size // len(text))
        started = time.process_time()
        frame_id(head, head)
        return time.process_time() - started

    cost(1_000)
    assert cost(32_000) < 64 * max(cost(2_000), 0.001)  # sixteen times the bytes; quadratic would be 256


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b'{"jsonrpc":"2.0","id":3,"method":"x"}', 3),
        (b'{"params":{"id":1},"id":"a\\u0062","x":', "ab"),
        (b'{"params":[{"id":1}],"method":"id","id" : -4}', -4),
        (b'{"params":{"id":1', None),
        (b'{"id":null}', None),
        (b'{"id":true}', None),
        (b'{"id":{"id":1}}', None),
        (b'"id":1', None),
        (b"not json", None),
        (b'{"x":"\\"id\\":5","method":1}', None),
        (b'{"x":"a\\",\\"id\\":5', None),
        (b'{"x":"a\\', None),
    ],
)
def test_only_the_request_s_own_id_is_found(head: bytes, found: Any) -> None:
    assert frame_id(head) == found


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b'"\\ud83d"', "\ufffd"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\xff"', "\ufffd"),
        (b'"\\u0000"', "\0"),
        ('"\u2028"'.encode(), "\u2028"),
    ],
)
def test_text_that_is_not_quite_unicode_is_mended(text: bytes, kept: str) -> None:
    message = message_of(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + text + b"}}")
    assert isinstance(message, types.JSONRPCRequest) and message.params == {"a": kept}


@pytest.mark.parametrize(
    "raw",
    [b"not json", b"[1,2]", b"{}", b'{"jsonrpc":"1.0","id":1,"method":"x"}', b"[" * 100_000, b"\xff\xfe", b"null"],
)
def test_junk_is_an_error_and_nothing_worse(raw: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        message_of(raw)
