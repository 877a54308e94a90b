"""The one contract every hook keeps: exit 0, one JSON object or nothing on stdout, at most one line on stderr.

Modules that a hook imports cost the person who waits for it: nothing here imports more than os and sys.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vaultcore.agents import Event

MARK = "vault-manifest.json"
LARGEST = 64_000_000  # bytes of stdin; an agent sends a whole file's content along with a write
PATIENCE = 5.0  # seconds to wait for stdin to say something


def run(kind: str, code: str, answer: Callable[[Event], dict[str, Any] | None]) -> None:
    """Run one hook and end the process.

    `kind` is our name of the event, `code` the vault the script lies in, `answer(event)` gives the agent's JSON or
    None.
    """
    try:
        reply = _reply(kind, code, answer)
        if reply:
            from vaultcore import fastjson

            _write(1, fastjson.dumps(reply))
    except BaseException as trouble:  # whatever it is, the session goes on
        text = " ".join(str(trouble).split()) or type(trouble).__name__
        usual = isinstance(trouble, (ValueError, LookupError, OSError))
        complain(kind, text if usual else f"{type(trouble).__name__}: {text}")
    os._exit(0)  # nothing is left to clean up, and the interpreter takes a while to find that out


def _reply(kind: str, code: str, answer: Callable[[Event], dict[str, Any] | None]) -> dict[str, Any] | None:
    from vaultcore import agents

    agent = agents.load(option("--agent"))
    payload = _payload()
    event = agents.Event(agent, kind, payload, code)
    event.root = find_root(event.cwd) or os.path.realpath(code)
    return answer(event)


def find_root(start: str) -> str:
    """The vault that `start` lies in, as a real path, or "" when none of its parents holds a manifest."""
    if not start or "\0" in start or not os.path.isabs(start):
        return ""
    folder = os.path.realpath(start)
    while not os.path.isfile(os.path.join(folder, MARK)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def option(name: str) -> str:
    """The value of a command line option, "" without one."""
    arguments = sys.argv[1:]
    for index, argument in enumerate(arguments):
        if argument == name and index + 1 < len(arguments):
            return arguments[index + 1]
        if argument.startswith(name + "="):
            return argument[len(name) + 1 :]
    return ""


def _payload() -> dict[str, Any]:
    from vaultcore import fastjson

    data = _stdin()
    try:
        value = fastjson.loads(data.decode("utf-8", "replace").lstrip("\ufeff"))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError("no usable payload on stdin: an agent sends one JSON object there")
    return value


def _stdin() -> bytes:
    if os.isatty(0):
        return b""
    parts, size = [], 0
    while size < LARGEST and _readable():
        part = os.read(0, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _readable() -> bool:
    """False when stdin stays silent: some hosts never close it."""
    if os.name == "nt":
        return True  # select knows sockets only there; the agent's own timeout has to do
    import select

    return bool(select.select([0], [], [], PATIENCE)[0])


def _write(target: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(target, data) :]


def complain(kind: str, text: str) -> None:
    """Say one thing on stderr, on one line."""
    try:
        _write(2, f"om {kind}: {' '.join(text.split())[:300]}\n")
    except OSError:
        pass  # stderr is closed as well: there is nobody to tell
