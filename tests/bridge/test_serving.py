"""From the command line's words to a running server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bridge.wire import MAIN, Wire
from vaultbridge.bridge import CODE
from vaultbridge.serving import vault_of

Vault = Callable[..., Path]


@pytest.mark.parametrize("words", [["--vault", "{v}"], ["--vault={v}"], ["--root", "/x", "--vault", "{v}"]])
def test_the_vault_is_the_one_named(words: list[str], tmp_path: Path) -> None:
    assert vault_of([word.format(v=tmp_path) for word in words], {"OM_VAULT": "/other"}, None) == str(
        tmp_path.resolve()
    )


def test_the_environment_names_it_next(tmp_path: Path) -> None:
    assert vault_of(["--root", "/x"], {"OM_VAULT": str(tmp_path)}, None) == str(tmp_path.resolve())


def test_else_it_is_the_one_the_code_lies_in() -> None:
    assert vault_of([], {}, "/") == CODE


@pytest.mark.parametrize("words", [["--vault"], ["--vault="]])
def test_an_empty_name_names_nothing(words: list[str]) -> None:
    assert vault_of(words, {}, None) == CODE


def test_a_bridge_whose_working_directory_is_gone_serves(vault: Vault, tmp_path: Path) -> None:
    root, gone = vault(), tmp_path / "gone"
    gone.mkdir()
    code = f"""import os, runpy, sys
os.rmdir({str(gone)!r})
sys.argv = ["x", "--vault", {str(root)!r}]
runpy.run_path({str(MAIN)!r}, run_name="__main__")
"""
    frame = b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}\n'
    opening = (
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    )
    opening += b'"clientInfo":{"name":"t","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], input=opening + frame, capture_output=True, cwd=gone, timeout=60
    )
    assert run.returncode == 0 and run.stderr == b""
    assert b'"resources":[]' in run.stdout


def test_a_vault_that_never_existed_is_a_sentence_in_every_call(tmp_path: Path, start: Callable[..., Wire]) -> None:
    wire = start(tmp_path / "none", cwd=tmp_path)
    wire.shake_hands()
    assert wire.ask({"id": 1, "method": "tools/list"})["result"]["tools"]
    text = wire.text(2, "search", query="x")
    assert "put it back" in text and "Traceback" not in text
    assert wire.hang_up() == 0 and wire.stderr == b""
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_vault_is_served(vault: Vault, start: Callable[..., Wire]) -> None:
    root = vault({"vault-manifest.json": '{"user_content_roots": ["brain/"]}', "brain/a.md": "# Alpha\n"})
    for folder in (root / "brain", root):
        folder.chmod(0o500)
    try:
        wire = start(root)
        wire.shake_hands()
        assert "brain/a.md" in wire.text(1, "search", query="alpha")
        assert "# Alpha" in wire.text(2, "read", note="brain/a.md")
    finally:
        for folder in (root, root / "brain"):
            folder.chmod(0o700)
