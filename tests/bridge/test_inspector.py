"""The MCP inspector as a client of the real process, on both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bridge import node
from tests.bridge.wire import MAIN
from vaultbridge import surface

PACKAGE = "@modelcontextprotocol/inspector"
pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(node.missing(PACKAGE) is not None, reason=node.missing(PACKAGE) or ""),
]
NOTES = {
    "vault-manifest.json": '{"user_content_roots": ["brain/"]}',
    "brain/North Star.md": "# North Star\nwhere we go\n",
}
Inspect = Callable[..., Any]


@pytest.fixture
def inspect(vault: Callable[..., Path], closed_world: Path) -> Inspect:
    """`inspect("--method", …)` runs the inspector against a bridge and returns what it prints, parsed."""
    root = vault(NOTES)

    def run(*words: str) -> Any:
        server = [sys.executable, str(MAIN), "-e", f"OM_VAULT={root}", "-e", f"HOME={closed_world}", "--cwd", str(root)]
        done = subprocess.run(
            node.command(PACKAGE, "--cli", *server, "--format", "json", "-q", "--connect-timeout", "90000", *words),
            capture_output=True, text=True, timeout=120, env=node.environment(),
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


def test_the_tool_list_passes_the_lint_for_portable_schemas(inspect: Inspect) -> None:
    listed = inspect("--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["result"]["tools"]] == list(surface.modules())


@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_a_search_and_a_read_work(era: str, inspect: Inspect) -> None:
    call = ("--protocol-era", era, "--method", "tools/call", "--tool-name")
    found = inspect(*call, "search", "--tool-arg", "query=north")
    assert "brain/North Star.md" in found["result"]["content"][0]["text"]
    read = inspect(*call, "read", "--tool-arg", "note=brain/North Star.md")
    assert "where we go" in read["result"]["content"][0]["text"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_resources_and_prompts_work(era: str, inspect: Inspect) -> None:
    words = ("--protocol-era", era, "--method")
    listed = inspect(*words, "resources/list")["result"]["resources"]
    contents = inspect(*words, "resources/read", "--uri", listed[0]["uri"])["result"]["contents"]
    assert "where we go" in contents[0]["text"]
    prompt = inspect(*words, "prompts/get", "--prompt-name", "recall_topic", "--prompt-args", "topic=north")
    assert "Topic: north" in prompt["result"]["messages"][0]["content"]["text"]


def test_many_calls_at_once_all_succeed(inspect: Inspect) -> None:
    load = ("--load", "--load-requests", "100", "--load-concurrency", "10")
    result = inspect("--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=north", *load)["result"]
    assert (result["ok"], result["toolErrors"], result["errors"]) == (100, 0, 0)
