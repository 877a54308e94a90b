"""What an agent must not write: its own private memory, and rulings that are a person's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hooks.running import hook


def attempt(root: Path, path: str, agent: str = "claude", **fields: object) -> str:
    """Try to write `path`; why it was denied, "" if it was not. Silence means that nothing was said at all."""
    if agent == "codex":
        given: dict[str, object] = {"command": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"}
    else:
        given = {"file_path": path, "content": "x"}
    answer = hook("before_write", root, agent, tool_name="Write", tool_input=given, **fields)
    assert bool(answer.out) == bool(answer.denied)
    return answer.denied


PRIVATE = [
    "{home}/.claude/projects/-home-me/memory/lesson.md",
    "{home}/.claude/projects/-home-me/memory/deep/lesson.md",
    "{home}/.claude/projects/x/../z/memory/./lesson.md",
    "{home}/.claude/projects/transcripts/../memory/lesson.md",
    "{home}/.CLAUDE/Projects/x/Memory/lesson.md",
    "{home}\\.claude\\projects\\x\\memory\\lesson.md",
    "C:\\Users\\me\\.claude\\projects\\x\\memory\\lesson.md",
    "{home}/.cla\u200bude/projects/x/memory/lesson.md",
    "{home}/.claude/agent-memory/reviewer/MEMORY.md",
    "{home}/.codex/memories/lesson.md",
    "{home}/.gemini/memory/lesson.md",
    "~/.claude/projects/x/memory/lesson.md",
    "{vault}/.claude/agent-memory-local/reviewer/lesson.md",
    "{home}/link/lesson.md",
]
PATCH = "*** Begin Patch\n*** Update File: a.md\n*** Move to: .om/log/x\n*** End Patch"
FREE = [
    "{home}/.claude/projects/x/memory/MEMORY.md",
    "{home}/.claude/projects/x/memory/../transcripts/t.md",
    "{home}/.claude/skills/memory/SKILL.md",
    "{home}/code/memory/pool.md",
    "{vault}/memories/2026/11/2026-11-01 a.md",
    "{vault}/brain/memory/x.md",
    "{vault}/brain/Gotchas.md",
    "{vault}/src/.om/x.md",
    "{home}/.claude/projects/y/memory/lesson.md",  # this memory folder is a link into the vault
]


@pytest.fixture
def world(room: Callable[..., Path], closed_world: Path) -> tuple[Path, Path]:
    root, home = room({"brain/Gotchas.md": "x"}), closed_world
    (home / ".claude/projects/x/memory").mkdir(parents=True)
    (home / ".claude/projects/y").mkdir()
    os.symlink(home / ".claude/projects/x/memory", home / "link")
    os.symlink(root / "brain", home / ".claude/projects/y/memory")
    return root, home


@pytest.mark.parametrize("path", PRIVATE)
def test_private_memory_is_denied_in_every_spelling_and_the_right_note_is_named(
    path: str, world: tuple[Path, Path]
) -> None:
    root, home = world
    why = attempt(root, path.format(home=home, vault=root))
    assert "private memory" in why and "brain/Key Decisions.md" in why and "brain/Gotchas.md" in why


@pytest.mark.parametrize("path", FREE)
def test_everything_else_passes_in_silence(path: str, world: tuple[Path, Path]) -> None:
    root, home = world
    assert attempt(root, path.format(home=home, vault=root)) == ""


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_each_agent_is_denied_in_its_own_words(agent: str, world: tuple[Path, Path]) -> None:
    root, home = world
    assert "private memory" in attempt(root, str(home / ".codex/memories/a.md"), agent)


def test_a_relative_path_counts_from_the_payloads_folder(world: tuple[Path, Path]) -> None:
    root, home = world
    assert attempt(root, ".claude/projects/x/memory/a.md", "gemini", cwd=str(home))


def test_geminis_memory_tool_is_denied(world: tuple[Path, Path]) -> None:
    answer = hook("before_write", world[0], "gemini", tool_name="save_memory", tool_input={"fact": "we use UTC"})
    assert "private memory" in answer.denied


def test_a_patch_that_goes_through_the_shell_is_denied(world: tuple[Path, Path]) -> None:
    root, home = world
    files = f"*** Add File: ok.md\n+x\n*** Add File: {home}/.codex/memories/a.md\n+x\n"
    patch = f"apply_patch <<'EOF'\n*** Begin Patch\n{files}*** End Patch\nEOF"
    assert hook("before_write", root, "codex", tool_name="Bash", tool_input={"command": patch}).denied
    assert not hook("before_write", root, "codex", tool_name="Bash", tool_input={"command": "ls ~/.codex/memories"}).out


@pytest.mark.parametrize(
    ("rel", "instead"),
    [
        ("memories/Review.md", "om.py review"),
        ("memories/review.MD", "om.py review"),
        ("memories/../memories/Review.md", "om.py review"),
        ("memories/Review.md. ", "om.py review"),
        ("Memories./REVIEW.md", "om.py review"),
        (".om./projects.json", "only the om tools write"),
        (".OM /projects.json", "only the om tools write"),
        (".om/projects.json", "only the om tools write"),
        (".om/log/2026/x.jsonl", "only the om tools write"),
        ("brain/../.OM/x", "only the om tools write"),
    ],
)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_rulings_stay_with_the_person(agent: str, rel: str, instead: str, world: tuple[Path, Path]) -> None:
    assert instead in attempt(world[0], str(world[0] / rel) if agent == "claude" else rel, agent)


def test_the_memory_root_of_the_manifest_counts(room: Callable[..., Path]) -> None:
    root = room({"vault-manifest.json": '{"memory_root": "lessons"}'})
    assert attempt(root, str(root / "lessons/Review.md")) and not attempt(root, str(root / "memories/Review.md"))


@pytest.mark.parametrize(
    "command", [PATCH, PATCH.replace("\n", "\r\n"), ["bash", "-lc", f"apply_patch <<'E'\n{PATCH}\nE"]]
)
def test_a_patch_is_seen_through_however_it_is_handed_over(room: Callable[..., Path], command: object) -> None:
    answer = hook("before_write", room({"a.md": "x"}), "codex", tool_name="shell", tool_input={"command": command})
    assert "only the om tools write" in answer.denied
