"""qmd's own server for sessions inside the vault: pinned, never hanging, and not for others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bridge.qmd.fake import Fake
from vaultbridge.bridge import Bridge
from vaultbridge.qmd import program, upkeep

Vault = Callable[..., Path]
SOURCES = str(Path(__file__).resolve().parents[3] / "src")
MANIFEST = '{"mcp_exposed_roots": ["notes"], "mcp_never_expose": ["secret/"], "qmd_context": "My notes"%s}\n'
NOTES = {
    "notes/alpha.md": "# Alpha\n",
    "notes/hidden [x].md": "---\nprivate: true\n---\n",
    "secret/a.md": "# A\n",
    "secret/b/c.md": "# C\n",
    ".obsidian/app.json": '{"userIgnoreFilters": ["src/", "README.md", "/^x.*/", "", 3]}',
}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake(tmp_path / "npm")
    made.install(monkeypatch)
    made.set(folder=str(tmp_path / "vault"))
    monkeypatch.setenv("OM_WORKER", "off")
    monkeypatch.setattr(program, "_found", None)
    return made


def bridge(vault: Vault, extra: str = "", **files: str) -> Bridge:
    return Bridge(str(vault({"vault-manifest.json": MANIFEST % extra, **NOTES, **files})))


def wrapped(root: str, *frames: dict[str, object]) -> list[dict[str, object]]:
    """What `om qmd mcp` answers to these frames, in order."""
    text = "".join(json.dumps(frame) + "\n" for frame in frames)
    done = subprocess.run(
        [sys.executable, "-m", "vaultbridge.cli", "qmd", "mcp"],
        cwd=root, input=text, env={**os.environ, "PYTHONPATH": SOURCES}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


HELLO: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18"},
}


def ask(**arguments: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "query", "arguments": arguments}}


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({"searches": [{"type": "lex", "query": "a"}]}, {"searches": [{"type": "lex", "query": "a"}], "rerank": False}),
        ({"query": "jwt"}, {"searches": [{"type": "lex", "query": "jwt"}], "rerank": False}),
        (
            {"searches": [{"type": "vec", "query": "jwt"}], "rerank": True, "limit": 3},
            {"searches": [{"type": "lex", "query": "jwt"}], "rerank": False, "limit": 3},
        ),
    ],
)
def test_a_session_in_the_vault_cannot_hang_on_a_missing_model_either(
    vault: Vault, fake: Fake, asked: dict[str, object], sent: dict[str, object]
) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    answers = wrapped(made.root, HELLO, ask(**asked))
    assert [answer["id"] for answer in answers] == [1, 2]
    assert fake.queries() == [sent]
    assert fake.starts() == [["--index", "vault", "mcp"]]


def test_on_a_machine_without_qmd_its_entry_is_a_server_without_tools_not_a_failing_one(
    vault: Vault, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bridge(vault)
    frames = (
        HELLO,
        {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 4, "method": "server/discover"},
    )
    hello, tools, found = (answer["result"] for answer in wrapped(made.root, *frames))
    assert "om.py qmd setup" in hello["instructions"]  # type: ignore[index]
    assert tools["tools"] == []  # type: ignore[index]
    assert found["supportedVersions"] == ["2026-07-28"]  # type: ignore[index]
    monkeypatch.setenv("OM_QMD", "/nowhere")
    assert "not installed" in wrapped(made.root, HELLO)[0]["result"]["instructions"]  # type: ignore[index]


def test_qmds_own_tools_read_every_note_so_another_repositorys_agent_does_not_get_them(
    vault: Vault, fake: Fake, tmp_path: Path
) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    elsewhere = tmp_path / "repository"
    elsewhere.mkdir()
    for words in (["qmd", "mcp"], ["qmd", "setup"]):
        done = subprocess.run(
            [sys.executable, "-m", "vaultbridge.cli", "--vault", made.root, *words],
            cwd=elsewhere, env={**os.environ, "PYTHONPATH": SOURCES}, capture_output=True, text=True, input="",
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (1, "")
        assert "works on the whole vault" in done.stderr
    assert fake.starts() == []
