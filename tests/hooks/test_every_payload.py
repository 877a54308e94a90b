"""Every payload that an agent was seen to send, through every script: the session always goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.running import AGENTS, DATA, SCRIPTS, Answer, hook

ALLOWED = {"hookSpecificOutput", "systemMessage", "decision", "reason"}


def keeps_the_contract(answer: Answer, agent: str) -> None:
    assert answer.code == 0
    assert answer.err.count("\n") <= 1 and "Traceback" not in answer.err
    if not answer.out:
        return
    reply = json.loads(answer.out)
    assert isinstance(reply, dict) and set(reply) <= ALLOWED
    if "hookSpecificOutput" in reply:
        assert reply["hookSpecificOutput"]["hookEventName"]
        assert set(reply) == {"hookSpecificOutput"}
    if "decision" in reply:
        assert agent == "gemini" and set(reply) == {"decision", "reason"}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("agent", AGENTS)
def test_every_real_payload_is_taken_by_every_script(agent: str, script: str, room: Callable[..., Path]) -> None:
    root = room({"notes/new note.md": "no properties here\n"})
    payloads = sorted((DATA / "payloads" / agent).glob("*.json"))
    assert len(payloads) > 10
    for path in payloads:
        text = (
            path.read_text(encoding="utf-8")
            .replace("/home/user/vault", str(root))
            .replace("/home/user", str(root.parent))
        )
        keeps_the_contract(hook(script, root, agent, raw=text.encode()), agent)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_field_may_have_any_type(script: str, room: Callable[..., Path]) -> None:
    root = room()
    agent = AGENTS[SCRIPTS.index(script) % 3]
    whole: dict[str, Any] = {
        "session_id": "s1", "cwd": str(root), "hook_event_name": "X", "source": "startup", "prompt": "we decided it",
        "tool_name": "Write", "tool_input": {"file_path": str(root / "a.md")}, "trigger": "auto", "agent_id": "",
        "transcript_path": str(root / "Home.md"), "stop_hook_active": False,
    }  # fmt: skip
    wrong = [None, 5, True, [1], {"a": 1}, "", "\u0000", "\ud800"]
    for number, key in enumerate(whole):
        data = json.dumps({**whole, key: wrong[number % len(wrong)]}).encode()
        keeps_the_contract(hook(script, root, agent, raw=data), agent)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b'{"prompt": ',
        b"[1,2]",
        b"null",
        b"42",
        b"\xff\xfe\x00",
        b'{"a":1}{"b":2}',
        b"[" * 100_000,
        b'"x"',
    ],
    ids=["empty", "words", "cut", "list", "null", "number", "binary", "two", "deep", "text"],
)
def test_a_payload_that_cannot_be_used_is_one_line_on_stderr_and_nothing_else(
    script: str, data: bytes, room: Callable[..., Path]
) -> None:
    root = room()
    answer = hook(script, root, raw=data)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.count("\n") == 1 and "payload" in answer.err
    assert not (root / ".cache").exists()


def test_a_byte_order_mark_before_the_payload_is_no_obstacle(room: Callable[..., Path]) -> None:
    root = room()
    data = b"\xef\xbb\xbf" + json.dumps({"session_id": "s", "cwd": str(root), "prompt": "we decided to wait"}).encode()
    assert "Decision" in hook("prompt", root, raw=data).context


@pytest.mark.parametrize("given", [["--agent", "emacs"], [], ["--agent"], ["--agent", "../x"], ["--agent", "__init__"]])
def test_an_agent_that_nobody_knows_is_named_with_those_that_are(given: list[str], room: Callable[..., Path]) -> None:
    import subprocess
    import sys

    from tests.hooks.running import CODE

    call = [sys.executable, "-I", "-S", str(CODE / "hooks/stop.py"), *given]
    done = subprocess.run(call, input=b"{}", capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stdout == b"" and b"claude, codex, gemini" in done.stderr


DOCUMENT = '{"a": [1, -2.5e3, "x\\u00e9", true, null, {"b": {}}]}'
TEXTS = [
    *(DOCUMENT[:end] for end in range(len(DOCUMENT) + 1)),
    "[",
    '"',
    "{]",
    "[1,]",
    "nul",
    "-",
    "{} {}",
    "tru",
    "\ufeff{}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_json_is_a_value_error_as_with_the_json_package(text: str) -> None:
    from vaultcore import fastjson

    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            fastjson.loads(text)
    else:
        assert fastjson.loads(text) == expected


@pytest.mark.parametrize("given", [b"{", b"[", b"", b'{"a"', b"[]", b"null"])
def test_a_payload_that_is_cut_off_is_called_unusable(given: bytes, room: Callable[..., Path]) -> None:
    answer = hook("session_start", room(), raw=given)
    assert (answer.code, answer.out) == (0, "") and "no usable payload on stdin" in answer.err
