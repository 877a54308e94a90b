"""om.py, the one door: without an environment it says so in the language of whoever asks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """om.py and its sources in a folder that has no environment."""
    code = tmp_path / "my vault"
    code.mkdir()
    shutil.copy(ROOT / "om.py", code)
    shutil.copytree(ROOT / "src", code / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return code


def run(
    code: Path, *words: str, given: bytes = b"", python: str = sys.executable
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([python, str(code / "om.py"), *words], input=given, capture_output=True, timeout=60, cwd="/")


def test_serve_without_an_environment_answers_every_request_with_what_to_run(copy: Path) -> None:
    frames = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/list"},
    ]
    done = run(copy, "serve", given=b"".join(json.dumps(frame).encode() + b"\n" for frame in frames) + b"junk\n")
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["id"] for reply in replies] == [1, "b"]
    assert all("om.py setup" in reply["error"]["message"] for reply in replies)


def test_a_command_without_an_environment_says_what_to_run(copy: Path) -> None:
    done = run(copy, "doctor")
    assert done.returncode == 1 and b"setup" in done.stderr and b"Traceback" not in done.stderr


def test_a_background_refresh_without_an_environment_is_silent(copy: Path) -> None:
    done = run(copy, "refresh", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_environment_named_by_om_python_comes_first(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OM_PYTHON", sys.executable)
    done = run(copy, "--version")
    assert done.returncode == 0 and done.stdout.startswith(b"om ")


def test_an_environment_whose_python_is_gone_counts_as_none(copy: Path) -> None:
    (copy / ".venv" / "bin").mkdir(parents=True)
    os.symlink(copy / "gone", copy / ".venv" / "bin" / "python")
    assert b"setup" in run(copy, "doctor").stderr


@pytest.mark.parametrize("version", ["3.8.18", "3.9.18"])
def test_an_old_python_says_plainly_what_is_missing(copy: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shutil.which(f"python{version[:3]}")
    if found is None or subprocess.run([found, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no Python {version[:3]} on this machine")
    monkeypatch.setenv("PATH", "/nowhere")
    done = run(copy, "setup", python=found)
    assert done.returncode == 1 and b"3.10 or newer" in done.stderr and b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("given", "hoisted"),
    [
        (["search", "x", "--vault", "v"], ["--vault", "v", "search", "x"]),
        (["search", "--vault=v", "x"], ["--vault=v", "search", "x"]),
        (["search", "--", "--vault", "v"], ["search", "--", "--vault", "v"]),
        (["search", "--vault"], ["--vault", "search"]),
    ],
)
def test_the_vault_may_be_named_anywhere(given: list[str], hoisted: list[str]) -> None:
    from vaultbridge.cli import hoist

    assert hoist(given) == hoisted
