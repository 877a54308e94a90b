"""One closed world for every test: no home directory, no network, no git identity but our own."""

from __future__ import annotations

import contextlib
import os
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

GIT = {
    "GIT_AUTHOR_NAME": "A Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.invalid",
    "GIT_COMMITTER_NAME": "A Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
}
FOREIGN = ("XDG_", "CLAUDE", "CODEX", "GEMINI", "OM_", "GIT_", "PYTHONDONTWRITEBYTECODE")


@pytest.fixture(autouse=True)
def closed_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Point HOME at an empty folder, pin git's identity, and refuse every connection that leaves loopback."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(FOREIGN) or name == "CI":  # programs that behave otherwise there would hide what users get
            monkeypatch.delenv(name)
    for name, value in {"HOME": str(home), "USERPROFILE": str(home), **GIT}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address[0]}: tests run without a network")
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    opened: list[sqlite3.Connection] = []
    open_database = sqlite3.connect

    def remember(*args: Any, **options: Any) -> sqlite3.Connection:
        opened.append(open_database(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remember)
    yield home
    for connection in opened:  # a test may leave its index to the end of the process, where Python 3.13 would complain
        with contextlib.suppress(sqlite3.Error):
            connection.close()


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write `files` (relative path -> text or bytes) below `root`, byte for byte, and return `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


@pytest.fixture
def vault(tmp_path: Path) -> Callable[..., Path]:
    """`vault({path: text, ...})` builds a vault with an empty manifest (or yours) and returns its root."""

    def build(files: Mapping[str, str | bytes] | None = None, name: str = "vault") -> Path:
        root = tmp_path / name
        root.mkdir(exist_ok=True)
        return write_tree(root, {"vault-manifest.json": "{}\n", **(files or {})})

    return build


@pytest.fixture
def python() -> str:
    """The interpreter that runs the tests, for tests that start real processes."""
    return sys.executable
