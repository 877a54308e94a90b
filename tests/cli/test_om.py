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


WAYS = [
    [str(ROOT / "om.py"), "serve"],
    [str(ROOT / "src/vaultbridge/cli/__main__.py"), "serve"],
    [str(ROOT / "src/vaultbridge/__main__.py")],
]


@pytest.mark.parametrize("way", WAYS, ids=["om.py", "om", "python"])
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--help"], 0, ""),
        (["--root", "/x", "-h"], 0, ""),
        (["--bogus"], 2, "'--bogus'"),
        (["--roots=/x"], 2, "'--roots=/x'"),
        (["now"], 2, "'now'"),
        (["--project"], 2, "--project"),
    ],
)
def test_serve_explains_itself_and_refuses_what_it_does_not_know(
    way: list[str], words: list[str], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OM_PYTHON", sys.executable)
    done = subprocess.run([sys.executable, *way, *words], input=b"", capture_output=True, timeout=60, cwd=ROOT)
    assert done.returncode == code
    if code:
        assert done.stdout == b"" and said in done.stderr.decode() and b"Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1 or b"Usage" in done.stderr
    else:
        assert b"--project" in done.stdout and b"Usage" in done.stdout and done.stderr == b""


def test_serve_without_an_environment_does_not_wait_for_a_client_when_asked_for_help(copy: Path) -> None:
    done = run(copy, "serve", "--help")
    assert done.returncode == 1 and done.stdout == b"" and b"om.py setup" in done.stderr


OFFLINE = """WARNING: Retrying after connection broken by 'NewConnectionError('<HTTPSConnection>: {}')': /simple/click/
ERROR: Could not find a version that satisfies the requirement click==8.1.7 (from versions: none)
ERROR: No matching distribution found for click==8.1.7
"""
UNREACHED = "the package registry could not be reached: connect, or set {0}_INDEX_URL or {0}_FIND_LINKS"


@pytest.mark.parametrize(
    ("uv", "printed", "said"),
    [
        (False, OFFLINE.format("Failed to establish a new connection: [Errno -2] Name or service not known"), "PIP"),
        (False, OFFLINE.format("Failed to establish a new connection: [Errno 111] Connection refused"), "PIP"),
        (
            True,
            "error: Failed to fetch: `https://pypi.org/simple/click/`\n  Caused by: error sending request for url\n"
            "  Caused by: dns error: failed to lookup address information",
            "UV",
        ),
        (
            False,
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\nERROR: bad click",
            "could not be installed: ERROR: bad",
        ),
        (False, "ERROR: No matching distribution found for click==8.1.7", "could not be installed: ERROR: No matching"),
        (
            False,
            OFFLINE.partition("\n")[2],
            "could not be reached, or has nothing of what is needed: connect, or set PIP",
        ),
        (
            False,
            OFFLINE.format("SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]')"),
            "could not be installed: WARNING: Retrying",
        ),
    ],
)
def test_a_set_up_that_reaches_no_registry_says_so(
    uv: bool, printed: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from vaultcore import environment

    monkeypatch.setattr(environment, "pips", lambda: [] if uv else [["pip"]])
    monkeypatch.setattr(environment, "site_packages", lambda python: str(tmp_path))
    monkeypatch.setattr(environment, "run", lambda call, timeout: (1, printed))
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/uv" if uv and name == "uv" else None)
    with pytest.raises(environment.SetupError) as failed:
        environment.install("python", "requirements.lock")
    assert (UNREACHED.format(said) if said in ("PIP", "UV") else said) in str(failed.value)
