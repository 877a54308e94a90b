"""The three configuration files: the right script at the right event, in the unit and the shell of the right agent."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.hooks.running import CODE, DATA, EVENTS, SCRIPTS

FILES = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
WRITERS = {"claude": "Write|Edit|MultiEdit|NotebookEdit", "codex": "apply_patch", "gemini": "^(write_file|replace)$"}
SECONDS = {
    "session_start": 20, "prompt": 10, "before_write": 10, "after_write": 15, "before_compact": 30,
    "stop": 10, "session_end": 3,
}  # fmt: skip


def settings(agent: str) -> dict[str, Any]:
    return json.loads((CODE / FILES[agent]).read_text(encoding="utf-8"))


def wired(agent: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Event -> (matcher, handler); each event has one group with one handler."""
    found = {}
    for event, groups in settings(agent)["hooks"].items():
        (group,) = groups
        (handler,) = group["hooks"]
        found[event] = (group.get("matcher", ""), handler)
    return found


@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_event_starts_its_script_with_its_matcher_and_its_timeout(number: int) -> None:
    agent = list(FILES)[number]
    found = wired(agent)
    assert list(found) == [EVENTS[script][number] for script in SCRIPTS]
    for script in SCRIPTS:
        matcher, handler = found[EVENTS[script][number]]
        assert handler["type"] == "command"
        assert f"hooks/{script}.py" in handler["command"] and f"--agent {agent}" in handler["command"]
        assert "python3 -I -S " in handler["command"]
        assert handler["timeout"] == SECONDS[script] * (1000 if agent == "gemini" else 1)
        before = {
            "claude": WRITERS["claude"],
            "codex": "apply_patch|Bash",
            "gemini": "^(write_file|replace|save_memory)$",
        }
        assert matcher == {"after_write": WRITERS[agent], "before_write": before[agent]}.get(script, "")


@pytest.mark.parametrize(("agent", "schema"), [("claude", "claude-settings.json"), ("codex", "codex-hooks.json")])
def test_the_published_schemas_accept_the_files(agent: str, schema: str) -> None:
    jsonschema.validate(settings(agent), json.loads((DATA / "schemas" / schema).read_text()))


@pytest.mark.parametrize("agent", FILES)
def test_the_files_have_no_byte_order_mark_and_nothing_an_agent_rejects(agent: str) -> None:
    data = (CODE / FILES[agent]).read_bytes()
    assert data.startswith(b"{")
    if agent == "codex":
        assert set(settings(agent)) == {"hooks"}  # one more key, and Codex rejects the file
        for _, handler in wired(agent).values():
            assert set(handler) <= {"type", "command", "commandWindows", "timeout", "statusMessage"}
            assert isinstance(handler["timeout"], int)
            assert handler["commandWindows"].startswith("py -3 -I -S hooks\\")


def test_gemini_reads_the_one_manual() -> None:
    assert settings("gemini")["context"]["fileName"] == ["AGENTS.md"]


def run(agent: str, command: str, root: Path, cwd: Path, path: str) -> subprocess.CompletedProcess[bytes]:
    """Start a command as the agent would: through a shell, with the variables it sets, in the folder it is in."""
    env = {"PATH": path, "HOME": os.environ["HOME"], "OM_WORKER": "off"}
    if agent == "claude":
        env["CLAUDE_PROJECT_DIR"] = str(root)
    if agent == "gemini":
        import shlex

        command = command.replace("$GEMINI_PROJECT_DIR", shlex.quote(str(root)))
        env["GEMINI_PROJECT_DIR"] = str(root)
    payload = json.dumps(
        {"session_id": "s", "cwd": str(cwd), "prompt": "We decided to wait.", "source": "startup"}
    ).encode()
    return subprocess.run(
        [shutil.which("sh") or "/bin/sh", "-c", command],
        input=payload,
        capture_output=True,
        env=env,
        cwd=cwd,
        timeout=60,
    )


@pytest.fixture
def clone(room: Callable[..., Path]) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        root = room({"work/active/deep/A.md": "x"}, name=name)
        (root / "src").symlink_to(CODE / "src")
        (root / "hooks").mkdir()
        for script in SCRIPTS:
            shutil.copy(CODE / "hooks" / f"{script}.py", root / "hooks")
        return root

    return make


@pytest.mark.parametrize("name", ["vault", 'it\'s a $HOME "vault" é'])
@pytest.mark.parametrize("where", ["", "work/active/deep"])
@pytest.mark.parametrize("agent", FILES)
def test_every_command_survives_a_changed_working_directory(
    agent: str, where: str, name: str, clone: Callable[[str], Path]
) -> None:
    root = clone(name)
    number = list(FILES).index(agent)
    for script in ("session_start", "prompt"):
        done = run(agent, wired(agent)[EVENTS[script][number]][1]["command"], root, root / where, os.environ["PATH"])
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("stub", [None, "#!/bin/sh\necho 'Python was not found'\nexit 49\n", "#!/bin/sh\nexit 2\n"])
@pytest.mark.parametrize("agent", FILES)
def test_a_missing_or_foreign_python_blocks_no_agent(
    agent: str, stub: str | None, clone: Callable[[str], Path], tmp_path: Path
) -> None:
    root = clone("vault")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "git"):
        if shutil.which(tool):
            (tools / tool).symlink_to(str(shutil.which(tool)))
    if stub:
        (tools / "python3").write_text(stub)
        (tools / "python3").chmod(0o755)
    for _, handler in wired(agent).values():
        done = run(agent, handler["command"], root, root, str(tools))
        if agent != "claude":  # there exit codes from 2 on are a veto
            assert done.returncode == 0
        elif stub is None:
            assert done.returncode == 127  # Claude takes 2 alone for a veto; whatever else is an error it goes on after
        assert not done.stdout.startswith((b"{", b"["))


def test_a_fourth_agent_is_one_module(room: Callable[..., Path], tmp_path: Path) -> None:
    code = tmp_path / "code"
    shutil.copytree(CODE / "hooks", code / "hooks")
    shutil.copytree(CODE / "src/vaultcore", code / "src/vaultcore", ignore=shutil.ignore_patterns("__pycache__"))
    own = (CODE / "src/vaultcore/agents/gemini.py").read_text(encoding="utf-8")
    own = own.replace('"BeforeAgent"', '"PreInvocation"').replace("additionalContext=text", "note=text")
    (code / "src/vaultcore/agents/antigravity.py").write_text(own, encoding="utf-8")
    payload = json.dumps({"session_id": "s", "cwd": str(room()), "prompt": "We decided to wait."}).encode()
    call = [sys.executable, "-I", "-S", str(code / "hooks/prompt.py"), "--agent", "antigravity"]
    done = subprocess.run(call, input=payload, capture_output=True, timeout=60)
    specific = json.loads(done.stdout)["hookSpecificOutput"]
    assert specific["hookEventName"] == "PreInvocation" and "Decision" in specific["note"]


def test_nothing_is_spawned_through_a_shell() -> None:
    for path in [*CODE.glob("hooks/*.py"), *(CODE / "src/vaultcore").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not [word for word in ("shell=True", "os.system", "os.popen", "getoutput") if word in text], path
