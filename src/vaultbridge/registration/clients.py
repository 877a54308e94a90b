"""The clients we know, which of them a machine or a repository has, and our entry in a client's file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import Any, Protocol, cast

from vaultbridge.registration import claude, codex, copilot, cursor, gemini, jsonc, tomltext, vscode
from vaultbridge.registration.command import Command, is_ours


class Client(Protocol):
    """What each client's module has. FORM is "json" (comments allowed) or "toml", KEY the path of our entry in it."""

    COMMANDS: tuple[str, ...]
    FORM: str
    KEY: tuple[str, str]

    def project(self, folder: str) -> str: ...
    def user(self, home: str, env: Mapping[str, str]) -> str: ...
    def signs(self, home: str, env: Mapping[str, str]) -> list[str]: ...
    def server(self, command: Command) -> dict[str, object]: ...


CLIENTS = cast(
    dict[str, Client],
    {"claude": claude, "codex": codex, "gemini": gemini, "cursor": cursor, "vscode": vscode, "copilot": copilot},
)


class Unsuitable(ValueError):
    """The file is not what the client reads, or its place for us is taken: it is left alone. The message says why."""


def found(folder: str | None, env: Mapping[str, str]) -> list[str]:
    """The clients that this machine (a command, a folder of settings) or this repository (its configuration) has."""
    home = os.path.expanduser("~")
    names = []
    for name, client in CLIENTS.items():
        here = [client.project(folder), os.path.join(folder, f".{name}")] if folder else []
        if name == "copilot":
            here = []  # its project file is Claude Code's
        if any(map(os.path.exists, (*client.signs(home, env), *here))) or any(map(shutil.which, client.COMMANDS)):
            names.append(name)
    return names


def path(client: Client, folder: str | None, env: Mapping[str, str]) -> str:
    """The file of a client's configuration: a project's, or with folder None the user's."""
    return client.project(folder) if folder else client.user(os.path.expanduser("~"), env)


def put(client: Client, text: str, command: Command) -> str:
    """`text` with our entry. What a person added to it stays. Raises Unsuitable."""
    try:
        old = _entry(client, text)
        if old is not None and not is_ours(_words(old)):
            raise Unsuitable(f"it has a server called {client.KEY[-1]} that is another program")
        entry = client.server(command)
        if isinstance(old, dict) and all(old.get(key) == value for key, value in entry.items()):
            return text
        if client.FORM == "json":
            extra = {key: value for key, value in old.items() if key not in entry} if isinstance(old, dict) else {}
            return jsonc.put(text, client.KEY, {**entry, **extra})
        return tomltext.put(text, client.KEY, codex.lines(entry))
    except (jsonc.Malformed, tomltext.Malformed) as error:
        raise Unsuitable(str(error)) from error


def remove(client: Client, text: str) -> str:
    """`text` without our entry, and without the object that held nothing else. Raises Unsuitable."""
    try:
        old = _entry(client, text)
        if old is None or not is_ours(_words(old)):
            return text
        if client.FORM == "toml":
            return tomltext.remove(text, client.KEY)
        text = jsonc.remove(text, client.KEY)
        return jsonc.remove(text, client.KEY[:1]) if jsonc.get(text, client.KEY[:1]) == {} else text
    except (jsonc.Malformed, tomltext.Malformed) as error:
        raise Unsuitable(str(error)) from error


def registered(client: Client, text: str) -> bool:
    """Whether `text` has an entry of ours."""
    try:
        old = _entry(client, text)
    except (jsonc.Malformed, tomltext.Malformed):
        return False
    return old is not None and is_ours(_words(old))


def empty(client: Client, text: str) -> bool:
    """Whether nothing is left in a file that we made."""
    return text.strip("\ufeff \t\r\n") in ("", "{}") if client.FORM == "json" else not text.strip()


def snippet(client: Client, command: Command) -> str:
    """Our entry for a person to put in by hand."""
    entry = client.server(command)
    if client.FORM == "toml":
        return "\n".join([f"[{'.'.join(client.KEY)}]", *codex.lines(entry)])
    return json.dumps({client.KEY[0]: {client.KEY[1]: entry}}, indent=2, ensure_ascii=False)


def _entry(client: Client, text: str) -> object:
    if client.FORM == "json":
        return jsonc.get(text, client.KEY)
    document: Any = tomltext.parse(text)
    if document is None:  # no tomllib: the table's text will do
        return tomltext.table(text, client.KEY)
    for key in client.KEY:
        document = document.get(key) if isinstance(document, dict) else None
    return cast(object, document)


def _words(entry: object) -> list[object]:
    if isinstance(entry, str):
        return [entry]
    if not isinstance(entry, dict):
        return []
    arguments = entry.get("args")
    return [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]
