"""`om register --hooks`: the vault's hooks in a repository's own agents, asked for, and taken back byte for byte."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_register import register, tree, unregister
from tests.conftest import ROOT, write_tree
from tests.memory.world import memory
from tests.repositories import git, repo
from tests.visit.running import edit, index
from vaultbridge.registration import hooks, jsonlist

FILES = {"claude": ".claude/settings.local.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
EVENTS = {
    "claude": ["SessionStart", "PreToolUse", "Stop"],
    "codex": ["SessionStart", "PreToolUse", "Stop"],
    "gemini": ["SessionStart", "AfterTool", "AfterAgent"],
}
AGENTS = "claude,codex,gemini"


@pytest.fixture
def root(vault: Callable[..., Path]) -> Path:
    """A vault that holds om.py and hooks, as a clone does."""
    root = vault({"om.py": "", ".om/.keep": ""}, name="the vault's é")
    for name in ("hooks", "src"):
        (root / name).symlink_to(ROOT / name)
    return root


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return write_tree(repo(tmp_path / "my app"), {"src/a.py": "a\n"})


def handlers(app: Path, agent: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Event -> (matcher, handler) of what was registered."""
    found = {}
    for event, groups in json.loads((app / FILES[agent]).read_text())["hooks"].items():
        for group in groups:
            (handler,) = group["hooks"]
            found[event] = (group.get("matcher", ""), handler)
    return found


def test_without_the_flag_no_hook_is_written(root: Path, app: Path) -> None:
    assert register(root, app, "--agent", AGENTS).exit_code == 0
    assert not [path for path in app.rglob("*") if path.is_file() and b"visit_" in path.read_bytes()]


@pytest.mark.parametrize("agent", list(FILES))
def test_each_agent_gets_its_three_events_in_its_own_unit(root: Path, app: Path, agent: str) -> None:
    done = register(root, app, "--agent", agent, "--hooks")
    assert done.exit_code == 0, done.output
    assert "visit_edit.py" in done.output, "the person sees what is written"
    found = handlers(app, agent)
    assert list(found) == EVENTS[agent]
    for script, (_, handler) in zip(("start", "edit", "stop"), found.values(), strict=True):
        assert handler["timeout"] == {"start": 20, "edit": 10, "stop": 10}[script] * (1000 if agent == "gemini" else 1)
        words = shlex.split(handler["command"].removesuffix("; exit 0"))
        assert words[1:] == ["-I", "-S", str(root / f"hooks/visit_{script}.py"), "--agent", agent]
        assert handler["command"].endswith("; exit 0"), "a vault that is gone must not look like a refusal"
    matcher = {"claude": "Write|Edit|MultiEdit|NotebookEdit", "codex": "apply_patch|Bash"}
    assert found[EVENTS[agent][1]][0] == matcher.get(agent, "^(read_file|replace|write_file)$")


def test_a_registered_hook_runs_as_written_and_tells_what_is_known(root: Path, app: Path) -> None:
    memory(root, "m", "quokka livetoken", projects=("my app",), paths=["src/a.py"])
    assert register(root, app, "--agent", AGENTS, "--hooks").exit_code == 0
    index(root)
    for agent in FILES:
        _, handler = handlers(app, agent)[EVENTS[agent][1]]
        payload = {"session_id": "s", "cwd": str(app), "hook_event_name": "X", "tool_name": "Edit"}
        tool = {
            "file_path": str(app / "src/a.py"),
            "command": "*** Begin Patch\n*** Update File: src/a.py\n*** End Patch",
        }
        done = subprocess.run(
            ["bash", "-c", handler["command"]], input=json.dumps({**payload, "tool_input": tool}),
            capture_output=True, text=True, cwd=app, timeout=60, env={**os.environ, "OM_WORKER": "off"},
        )  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert "livetoken" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_a_vault_that_went_away_lets_every_tool_run(root: Path, app: Path, tmp_path: Path) -> None:
    assert register(root, app, "--agent", "claude", "--hooks").exit_code == 0
    root.rename(tmp_path / "moved")
    for _, handler in handlers(app, "claude").values():
        assert (
            subprocess.run(
                ["sh", "-c", handler["command"]], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ).returncode
            == 0
        )


def test_a_script_of_somebody_elses_that_is_called_alike_is_not_ours() -> None:
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "python3 hooks/visit_stop.py"}]}]}}
    text = json.dumps(theirs)
    assert not hooks.registered(text) and hooks.remove(text) == text


MINE = '{"type": "command", "command": "mine.sh"}'
BEFORE = [
    ("nothing", ""),
    ("an empty object", "{}\n"),
    ("something else", '{\n    "permissions": {"allow": ["x"]}\n}\n'),
    ("my hooks", f'{{\n  "hooks": {{\n    "Stop": [\n      {{"hooks": [{MINE}]}}\n    ]\n  }}\n}}\n'),
    ("my hooks on one line", f'{{"hooks": {{"SessionStart": [{{"hooks": [{MINE}]}}], "PreToolUse": []}}}}'),
    (
        "tabs and Windows line ends",
        f'{{\r\n\t"hooks": {{\r\n\t\t"PreToolUse": [\r\n\t\t\t{{"hooks": [{MINE}]}}\r\n\t\t]\r\n\t}}\r\n}}\r\n',
    ),
    (
        "comments and a last comma",
        f'{{\n  // mine\n  "hooks": {{\n    "Stop": [\n      {{"hooks": [{MINE}]}}, // why\n    ],\n  }},\n}}\n',
    ),
    ("a byte order mark", "\ufeff{}\n"),
]


@pytest.mark.parametrize(("what", "before"), BEFORE, ids=[what for what, _ in BEFORE])
def test_what_was_there_stays_and_comes_back_byte_for_byte(root: Path, app: Path, what: str, before: str) -> None:
    if before:
        write_tree(app, {path: before.encode() for path in FILES.values()})
    was = tree(app)
    assert register(root, app, "--agent", AGENTS, "--hooks").exit_code == 0
    for agent, path in FILES.items():
        text = (app / path).read_bytes().decode("utf-8")
        assert hooks.registered(text) and ("mine.sh" in text) == ("mine.sh" in before), agent
    assert unregister(root, app).exit_code == 0
    assert tree(app) == was


def test_registering_again_changes_nothing_and_from_elsewhere_replaces_it(
    root: Path, app: Path, vault: Callable[..., Path]
) -> None:
    assert register(root, app, "--agent", AGENTS, "--hooks").exit_code == 0
    once = tree(app)
    assert "nothing to do" in register(root, app, "--agent", AGENTS, "--hooks").output
    assert tree(app) == once
    assert "nothing to do" in register(root, app, "--agent", AGENTS).output, "without the flag they stay"
    other = vault({"om.py": ""}, name="other")
    assert register(other, app, "--agent", AGENTS, "--hooks").exit_code == 0
    for path in FILES.values():
        text = (app / path).read_text()
        assert "other/hooks/visit_edit.py" in text and text.count("visit_edit.py") == 1


def test_what_a_person_added_since_stays_when_ours_is_taken_back(root: Path, app: Path) -> None:
    assert register(root, app, "--agent", AGENTS, "--hooks").exit_code == 0
    for agent, path in FILES.items():
        text = (app / path).read_text()
        text = jsonlist.append(text, ("hooks", EVENTS[agent][2]), {"hooks": [json.loads(MINE)]})
        (app / path).write_text(text)
    assert unregister(root, app).exit_code == 0
    for agent, path in FILES.items():
        assert json.loads((app / path).read_text()) == {"hooks": {EVENTS[agent][2]: [{"hooks": [json.loads(MINE)]}]}}


def test_our_hooks_are_found_and_taken_back_without_a_record(root: Path, app: Path) -> None:
    from vaultbridge.registration import record

    write_tree(app, {".claude/settings.local.json": "{}\n"})
    assert register(root, app, "--agent", AGENTS, "--hooks").exit_code == 0
    os.unlink(record.path(str(root)))
    assert unregister(root, app).exit_code == 0
    assert not [path for path in app.rglob("*") if path.is_file() and b"visit_" in path.read_bytes()]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"hooks": ["no"]}', ".codex/hooks.json"),
        ('{"hooks": {"Stop": "no"}}', ".codex/hooks.json"),
        ("{ not json", ".claude/settings.local.json"),
    ],
)
def test_a_file_of_another_form_is_left_alone_and_the_hooks_are_shown(
    root: Path, app: Path, text: str, path: str
) -> None:
    write_tree(app, {path: text})
    done = register(root, app, "--agent", AGENTS, "--hooks")
    assert done.exit_code == 0 and (app / path).read_text() == text
    assert "is left alone" in done.output and "put these hooks into it yourself" in done.output


def test_paths_of_this_machine_stay_out_of_commits_and_the_portable_form_may_go_in(root: Path, app: Path) -> None:
    assert register(root, app, "--agent", AGENTS, "--hooks").exit_code == 0
    assert not [
        line
        for line in git(app, "status", "--porcelain").splitlines()
        if line[3:] not in ("AGENTS.md", "GEMINI.md", "src/")
    ]
    assert unregister(root, app).exit_code == 0
    assert register(root, app, "--agent", AGENTS, "--hooks", "--portable").exit_code == 0
    text = (app / ".claude/settings.json").read_text()
    assert "$OM_VAULT/hooks/visit_edit.py" in text and str(root) not in text
    assert not (app / ".claude/settings.local.json").exists()


def test_hooks_are_of_a_repository_and_said_to_be_of_three_agents(root: Path, app: Path) -> None:
    assert register(root, "--user", "--hooks", "--agent", "claude").exit_code == 2
    done = register(root, app, "--agent", "cursor,codex", "--hooks")
    assert "cursor has no hooks" in done.output and "reviewed them once: /hooks" in done.output


def test_a_dry_run_shows_the_hooks_and_writes_nothing(root: Path, app: Path) -> None:
    was = tree(app)
    assert "visit_start.py" in register(root, app, "--agent", AGENTS, "--hooks", "--dry-run").output
    assert tree(app) == was


def test_an_adopted_vault_is_named_to_the_scripts_of_the_clone(app: Path, tmp_path: Path) -> None:
    from vaultbridge.registration.command import Command

    command = Command("/usr/bin/python3", ("/a clone/om.py", "serve", "--vault", "/my notes"))
    line = hooks.line("codex", "visit_edit", command)
    assert line == "/usr/bin/python3 -I -S '/a clone/hooks/visit_edit.py' --agent codex --vault '/my notes'; exit 0"


def test_the_edit_hook_needs_no_registration_to_know_its_vault(root: Path, app: Path) -> None:
    memory(root, "m", "quokka livetoken", projects=("my app",), paths=["src/a.py"])
    index(root)
    assert "livetoken" in edit(root, app).context
