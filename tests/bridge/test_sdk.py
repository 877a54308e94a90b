"""The SDK as a bridge process loads it: light, and whole for whoever asks for more."""

from __future__ import annotations

import subprocess
import sys

from tests.bridge.wire import MAIN

SRC = str(MAIN.parent.parent)


def run(code: str) -> list[str]:
    """What `code` prints in a fresh interpreter that has imported the server as a bridge does."""
    start = f"import sys; sys.path.insert(0, {SRC!r}); from vaultbridge import sdk; sdk.import_server()\n"
    done = subprocess.run([sys.executable, "-W", "error", "-c", start + code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_neither_the_client_nor_the_http_stack_is_loaded() -> None:
    loaded = set(run("from vaultbridge import server; print(*sys.modules)"))
    assert "mcp.server.lowlevel.server" in loaded
    assert not loaded & {"starlette", "uvicorn", "sse_starlette", "httpx2", "cryptography", "mcp.client", "jsonschema"}


def test_what_is_asked_for_later_is_the_real_thing() -> None:
    code = """
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from mcp import ClientSession
from mcp.server import Server
import mcp.client.client
print(StreamableHTTPSessionManager.run.__name__, Starlette.__call__.__name__, ClientSession.__name__, Server.__module__)
"""
    assert run(code) == ["run", "__call__", "ClientSession", "mcp.server.lowlevel.server"]


def test_an_sdk_that_is_imported_already_is_left_as_it_is() -> None:
    code = f"""
import sys
sys.path.insert(0, {SRC!r})
import mcp.server.lowlevel.server as before
from vaultbridge import sdk
sdk.import_server()
assert sys.modules["mcp.server.lowlevel.server"] is before and before.Starlette.__call__
"""
    assert subprocess.run([sys.executable, "-W", "error", "-c", code]).returncode == 0
