"""Before compaction: a copy of the transcript, whole or not at all, and nothing for the agent to read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.running import Answer, hook

LINE = '{"type":"user","text":"hello"}\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "transcript.jsonl"
    path.write_text(LINE * 100)
    return path


def copies(root: Path) -> list[Path]:
    folder = root / "thinking/session-logs"
    return sorted(folder.iterdir()) if folder.exists() else []


def compact(root: Path, source: object, agent: str = "claude", **fields: Any) -> Answer:
    answer = hook("before_compact", root, agent, **{"transcript_path": source, "trigger": "auto", **fields})
    assert (answer.code, answer.out) == (0, "")
    return answer


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_the_copy_is_whole_private_and_named_for_its_session(
    agent: str, room: Callable[..., Path], source: Path
) -> None:
    root = room()
    assert compact(root, str(source), agent).err == ""
    (copy,) = copies(root)
    assert copy.read_bytes() == source.read_bytes() and copy.stat().st_mode & 0o077 == 0
    assert copy.name.startswith("session_20") and copy.name.endswith(f"_{agent}_auto_s1.jsonl")


@pytest.mark.parametrize("trigger", ["x/../../../../evil", "..", "a\nb", "C:\\x", "\u0000", "長" * 300, None, 5])
@pytest.mark.parametrize("session", ["s1", "../../s", "s" * 500])
def test_names_are_made_of_safe_characters(
    trigger: object, session: str, room: Callable[..., Path], source: Path
) -> None:
    root = room()
    compact(root, str(source), trigger=trigger, session_id=session)
    (copy,) = copies(root)
    assert set(copy.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    assert {path.name for path in root.parent.iterdir()} == {"vault", "transcript.jsonl"}


@pytest.mark.parametrize(
    "path", ["", None, "{tmp}/missing.jsonl", "{tmp}", "relative.jsonl", "{tmp}/empty", 5, "a\u0000b"]
)
def test_without_a_transcript_there_is_one_line_and_no_copy(
    path: Any, room: Callable[..., Path], tmp_path: Path
) -> None:
    root = room()
    (tmp_path / "empty").write_text("")
    answer = compact(root, path.format(tmp=tmp_path) if isinstance(path, str) else path)
    assert answer.err.count("\n") == 1 and "transcript" in answer.err
    assert copies(root) == []


def test_what_is_wrong_is_said_once_per_session(room: Callable[..., Path], tmp_path: Path) -> None:
    root = room()
    missing = str(tmp_path / "missing.jsonl")
    said = [compact(root, missing, "gemini", session_id=session).err.count("\n") for session in ("a", "a", "b", "")]
    assert said == [1, 0, 1, 1]


def test_a_home_relative_path_is_understood(room: Callable[..., Path], closed_world: Path) -> None:
    (closed_world / "t.jsonl").write_text(LINE)
    root = room()
    compact(root, "~/t.jsonl")
    assert len(copies(root)) == 1


def test_a_transcript_is_copied_again_only_when_it_grew_by_a_tenth(room: Callable[..., Path], source: Path) -> None:
    root = room()
    counts = []
    for lines in (100, 100, 109, 111, 111, 130, 20):
        source.write_text(LINE * lines)
        compact(root, str(source), "gemini")
        counts.append(len(copies(root)))
    assert counts == [1, 1, 1, 2, 2, 3, 4]  # a transcript that shrank was started anew


def test_copies_of_one_second_never_overwrite_each_other(room: Callable[..., Path], source: Path) -> None:
    root = room()
    for number in range(4):
        source.write_text(LINE * (number * 100 + 10))
        compact(root, str(source))
    assert sorted(copy.stat().st_size // len(LINE) for copy in copies(root)) == [10, 110, 210, 310]


def test_the_newest_thirty_stay_and_other_files_are_left_alone(room: Callable[..., Path], source: Path) -> None:
    root = room({"thinking/session-logs/mine.md": "x", "thinking/session-logs/session_notes.txt": "x"})
    for number in range(35):
        old = root / f"thinking/session-logs/session_{number:02}.jsonl"
        old.write_text("x")
        os.utime(old, (number, number))
    compact(root, str(source))
    names = [copy.name for copy in copies(root)]
    assert len([name for name in names if name.endswith(".jsonl")]) == 30
    assert "session_05.jsonl" not in names and "session_06.jsonl" in names
    assert {"mine.md", "session_notes.txt"} <= set(names)


def test_a_link_does_not_carry_the_copy_out_of_the_vault(
    room: Callable[..., Path], source: Path, tmp_path: Path
) -> None:
    root = room()
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", root / "thinking")
    assert "link" in compact(root, str(source)).err
    assert list((tmp_path / "outside").rglob("*.jsonl")) == []


def test_the_copies_are_ignored_by_git() -> None:
    from tests.hooks.running import CODE

    assert "thinking/session-logs/" in (CODE / ".gitignore").read_text().splitlines()
