"""Whatever surrounds a hook, the session goes on: odd paths, missing things, other interpreters."""

from __future__ import annotations

import json
import os
import pty
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hooks.running import CODE, GOOD, SCRIPTS, Answer, hook, scan, write

BARE = "no properties, [[Home]]\n"


def whole_session(root: Path, **how: object) -> list[Answer]:
    """Start, talk, write, compact, stop, end; every answer kept the contract."""
    (root.parent / "transcript.jsonl").write_text('{"type":"user"}\n')
    note = root / "org" / "A.md"
    answers = [
        hook("session_start", root, source="startup", **how),
        hook("prompt", root, prompt="We decided to wait.", **how),
        hook("before_write", root, tool_name="Write", tool_input={"file_path": str(note)}, **how),
        hook("after_write", root, tool_name="Write", tool_input={"file_path": str(note)}, **how),
        hook("before_compact", root, trigger="auto", **how),
        hook("stop", root, **how),
        hook("session_end", root, reason="other", **how),
    ]
    for answer in answers:
        assert answer.code == 0 and "Traceback" not in answer.err
    return answers


def did_its_work(answers: list[Answer]) -> None:
    start, prompt, before, after, compact, stop, end = answers
    assert "> - Ship it" in start.context and "Decision" in prompt.context and before.out == ""
    assert "org/A.md" in after.context and compact.out == "" and "org/A.md" in stop.message and end.out == ""
    assert [answer.err for answer in answers] == [""] * 7


@pytest.mark.parametrize(
    "name", ["with space", 'it\'s "quoted"', "My Notes é 日本", "$HOME `x` %PATH%", "-dash", "a\nb"]
)
def test_a_vault_may_be_called_anything(name: str, room: Callable[..., Path]) -> None:
    root = room({"org/A.md": BARE}, name=name)
    did_its_work(whole_session(root))
    assert list((root / "thinking/session-logs").glob("*.jsonl"))


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13"])
def test_older_and_newer_interpreters_do_the_same(version: str, room: Callable[..., Path]) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # HOME itself is a test's
    found = sorted((home / ".pyenv/versions").glob(f"{version}.*/bin/python"))
    python = str(found[-1]) if found else shutil.which(f"python{version}") or ""
    if not python or subprocess.run([python, "-c", "pass"], capture_output=True).returncode:
        pytest.skip(f"Python {version} is not installed")
    root = room({"org/A.md": BARE})
    did_its_work(whole_session(root, python=python))
    worker = [python, "-I", "-S", str(CODE / "src/vaultcore/session/worker.py"), str(root), str(root), "now"]
    subprocess.run(worker, check=True, timeout=60)
    assert json.loads((root / ".cache/session/hygiene.json").read_text())["notes"] == 3


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": ""},
        {"HOME": "/nonexistent"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"PATH": ""},
        {"TZ": "nowhere"},
    ],
    ids=["no home", "home gone", "ascii", "no path", "odd zone"],
)
def test_the_environment_may_be_bare(env: dict[str, str], room: Callable[..., Path]) -> None:
    did_its_work(whole_session(room({"org/A.md": BARE}), env=env))


def test_an_unset_home_is_no_obstacle(room: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    did_its_work(whole_session(room({"org/A.md": BARE})))


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "{",
        "[]",
        "null",
        '{"signals": 5, "hygiene": [], "memory_root": "..", "infrastructure": {}}',
        "<<<<<<< HEAD\n{}",
        "\xff",
    ],
)
def test_a_broken_manifest_costs_its_settings_only(manifest: str, room: Callable[..., Path]) -> None:
    root = room({"org/A.md": BARE, "vault-manifest.json": manifest.encode("latin-1")})
    did_its_work(whole_session(root))


def test_without_a_manifest_the_scripts_own_vault_is_meant(tmp_path: Path) -> None:
    answer = hook("prompt", tmp_path, prompt="We decided to wait.", session_id=None)
    assert "Decision" in answer.context and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cwd", ["", "relative", "/nonexistent/x", "\u0000", 5])
def test_a_folder_that_is_none_is_taken_for_none(cwd: object, room: Callable[..., Path]) -> None:
    assert hook("prompt", room(), cwd=cwd, prompt="We decided to wait.", session_id=None).context


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0 and not shutil.which("setpriv"), reason="nobody to be")
def test_a_vault_that_cannot_be_written_has_its_session_all_the_same(room: Callable[..., Path]) -> None:
    root = room({"org/A.md": BARE})
    if os.geteuid() == 0:
        (root / ".cache").write_text("a file where the folder should be")
        (root / "thinking").write_text("here too")
    else:
        root.chmod(0o555)
    answers = whole_session(root)
    assert "> - Ship it" in answers[0].context and "org/A.md" in answers[3].context
    assert "no copy of the transcript" in answers[4].err and answers[4].err.count("\n") == 1


def test_nothing_is_waited_for_at_a_terminal(room: Callable[..., Path]) -> None:
    leader, follower = pty.openpty()
    try:
        answer = hook("session_start", room(), stdin=follower)
    finally:
        os.close(leader)
        os.close(follower)
    assert (answer.code, answer.out) == (0, "") and "payload" in answer.err


def test_a_closed_stdin_is_no_payload(room: Callable[..., Path]) -> None:
    call = f'exec "{sys.executable}" -I -S "{CODE}/hooks/stop.py" --agent claude <&-'
    done = subprocess.run(["sh", "-c", call], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"") and done.stderr.count(b"\n") == 1


BEYOND = "---\ndate: 2026-11-01\ndescription: |\n  two\n  lines\ntags: [a]\n---\n[[Home]]\n"


def test_without_pyyaml_what_needs_it_is_not_judged_and_that_is_said_once(
    room: Callable[..., Path], tmp_path: Path
) -> None:
    root = room()
    shutil.copytree(CODE / "hooks", tmp_path / "code/hooks")
    shutil.copytree(
        CODE / "src/vaultcore", tmp_path / "code/src/vaultcore", ignore=shutil.ignore_patterns("__pycache__")
    )
    text = write(root, "org/A.md", BEYOND, code=tmp_path / "code").context
    assert "properties not checked: they need PyYAML (`python3 om.py setup`)" in text and "missing" not in text
    assert write(root, "org/A.md", BEYOND, code=tmp_path / "code").out == ""


def test_pyyaml_is_found_in_the_environment_that_setup_made(room: Callable[..., Path], tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    root = room()
    shutil.copytree(CODE / "hooks", tmp_path / "code/hooks")
    shutil.copytree(
        CODE / "src/vaultcore", tmp_path / "code/src/vaultcore", ignore=shutil.ignore_patterns("__pycache__")
    )
    place = (
        tmp_path
        / "code/.venv"
        / ("Lib" if os.name == "nt" else f"lib/python{sys.version_info[0]}.{sys.version_info[1]}")
        / "site-packages"
    )
    place.mkdir(parents=True)
    (place / "yaml").symlink_to(Path(yaml.__file__).parent)
    assert write(root, "org/A.md", BEYOND, code=tmp_path / "code").out == ""
    assert (
        "tags is missing" in write(root, "org/A.md", BEYOND.replace("tags:", "other:"), code=tmp_path / "code").context
    )


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_hook_imports_little_and_nothing_foreign(script: str, room: Callable[..., Path]) -> None:
    """The weight of a hook is what it imports: told by its modules, not by a clock."""
    root = room({"org/A.md": GOOD})
    scan(root)
    hook("session_start", root)  # fills what later starts read back
    code = (
        "import os, sys\n"
        "def leave(status):\n"
        "    sys.stderr.write(' '.join(sorted(sys.modules)))\n"
        "    sys.stderr.flush()\n"
        "    real(status)\n"
        "real, os._exit = os._exit, leave\n"
        "sys.argv = ['x', '--agent', 'claude']\n"
        f"__file__ = {str(CODE / 'hooks' / (script + '.py'))!r}\n"
        "exec(compile(open(__file__).read(), __file__, 'exec'))\n"
    )
    payload = {
        "session_id": "s1",
        "cwd": str(root),
        "prompt": "We decided to wait.",
        "source": "startup",
        "tool_name": "Write",
    }
    payload.update(tool_input={"file_path": str(root / "org/A.md")}, transcript_path=str(root / "Home.md"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=json.dumps(payload).encode(), capture_output=True, timeout=60
    )
    loaded = set(done.stderr.decode().split())
    heavy = {"subprocess", "pathlib", "typing", "dataclasses", "logging", "argparse", "datetime", "tempfile", "hashlib",
             "sqlite3", "asyncio", "socket", "inspect"}  # fmt: skip
    assert "vaultcore.hookio" in loaded
    assert not [name for name in loaded if name.startswith(("vaultbridge", "mcp", "click", "yaml"))]
    assert not loaded & heavy
    if script != "after_write":
        assert not loaded & {"json", "re", "enum"}
    if script in ("prompt", "before_write", "before_compact", "stop", "session_end"):
        ours = {name for name in loaded if name.startswith("vaultcore")}
        assert len(ours) <= 12 and "vaultcore.markdown" not in ours and "vaultcore.properties" not in ours


@pytest.mark.parametrize("pipe", ["org/A.md", "brain/North Star.md", "memories/2026/01/m.md"])
def test_a_pipe_among_the_notes_holds_nobody_up(pipe: str, room: Callable[..., Path]) -> None:
    root = room({"brain/Gotchas.md": GOOD, "org/B.md": "[[A]] [[North Star#x]]\n"})
    (root / pipe).parent.mkdir(parents=True, exist_ok=True)
    (root / pipe).unlink(missing_ok=True)
    os.mkfifo(root / pipe)
    whole_session(root)
    answer = write(root, "org/B.md", "[[A]] [[North Star#x]]\n")
    assert answer.code == 0 and answer.out
