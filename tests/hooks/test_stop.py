"""At the end of a turn: what this session left in disorder, once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hooks.running import AGENTS, GOOD, hook, scan, write

BARE = "no properties, [[Home]]\n"


def began(root: Path, agent: str = "claude", **fields: object) -> Path:
    """Start a session, and let the clock of the file system move on."""
    hook("session_start", root, agent, **fields)
    mark = root / ".cache" / "tick"
    before = max(path.stat().st_mtime_ns for path in (root / ".cache/session").iterdir())
    while True:
        mark.write_text("x")
        if mark.stat().st_mtime_ns > before:
            return root


@pytest.mark.parametrize("agent", AGENTS)
def test_a_note_left_with_faults_is_told_to_the_person_once(agent: str, room: Callable[..., Path]) -> None:
    root = began(room(), agent)
    (root / "org").mkdir()
    (root / "org/A.md").write_text(BARE)
    answer = hook("stop", root, agent)
    assert set(answer.json) == {"systemMessage"} and "- org/A.md: line 1: no properties" in answer.message
    assert hook("stop", root, agent).out == "" and hook("stop", root, agent).out == ""


def test_new_drift_is_told_and_old_is_not_repeated(room: Callable[..., Path]) -> None:
    root = began(room())
    write(root, "org/A.md", BARE)
    assert "org/A.md" in hook("stop", root).message
    write(root, "org/B.md", BARE)
    text = hook("stop", root).message
    assert "org/B.md" in text and "org/A.md" not in text
    write(root, "org/A.md", BARE + "[[nowhere]]")
    text = hook("stop", root).message
    assert "[[nowhere]]" in text and "no properties" not in text


def test_a_second_fault_of_the_same_kind_is_news_and_one_that_moved_is_not(room: Callable[..., Path]) -> None:
    root = began(room())
    write(root, "org/A.md", GOOD + "[[one]]\n")
    assert "[[one]]" in hook("stop", root).message
    write(root, "org/A.md", GOOD + "\n\n[[one]]\n")
    assert hook("stop", root).out == ""
    write(root, "org/A.md", GOOD + "\n\n[[one]] [[two]]\n")
    text = hook("stop", root).message
    assert "[[two]]" in text and "[[one]]" not in text


def test_what_was_mended_or_deleted_is_not_mentioned(room: Callable[..., Path]) -> None:
    root = began(room())
    write(root, "org/A.md", BARE)
    write(root, "org/B.md", BARE)
    (root / "org/A.md").write_text(GOOD)
    (root / "org/B.md").unlink()
    assert hook("stop", root).out == ""


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("rel", ["org/New.md", "new/deep/New.md", "New.md", "work/active/Topic/New.md"])
def test_notes_a_shell_wrote_are_found(rel: str, counted: bool, room: Callable[..., Path]) -> None:
    root = room({"org/Old.md": BARE, "work/active/Topic/Old.md": BARE})
    if counted:
        scan(root)
    began(root)
    (root / rel).parent.mkdir(parents=True, exist_ok=True)
    (root / rel).write_text(BARE)
    text = hook("stop", root).message
    assert rel in text and "Old" not in text


def test_a_note_that_a_shell_changed_in_place_is_found_where_most_happens_and_elsewhere_by_the_worker(
    room: Callable[..., Path],
) -> None:
    root = room({"work/active/A.md": GOOD, "reference/deep/B.md": GOOD})
    scan(root)
    began(root)
    for rel in ("work/active/A.md", "reference/deep/B.md"):
        with open(root / rel, "a") as file:
            file.write("[[nowhere]]\n")
    text = hook("stop", root).message
    assert "work/active/A.md" in text and "reference" not in text
    scan(root)
    assert "reference/deep/B.md" in hook("stop", root).message


def test_done_work_and_the_inbox_are_mentioned_when_this_session_touched_them(room: Callable[..., Path]) -> None:
    done = GOOD.replace("tags:", "status: completed\ntags:")
    root = began(room({"work/active/Old.md": done, "inbox/Old.md": GOOD}))
    assert hook("stop", root).out == ""
    assert write(root, "work/active/New.md", done).out == ""
    assert write(root, "inbox/New.md", GOOD).out == "" and write(root, "inbox/Inbox.md", GOOD).out == ""
    text = hook("stop", root).message
    assert "work/active/New.md: status completed, but still in work/active" in text
    assert "inbox/New.md: still in the inbox" in text and "Inbox.md" not in text and "Old.md" not in text


def test_a_session_that_touched_nothing_hears_nothing(room: Callable[..., Path]) -> None:
    root = began(room({f"org/{i}.md": BARE for i in range(30)}))
    assert hook("stop", root).out == ""


def test_nobody_noted_the_start_and_nothing_was_written_so_nothing_is_said(room: Callable[..., Path]) -> None:
    assert hook("stop", room({"org/A.md": BARE})).out == ""


@pytest.mark.parametrize("fields", [{"stop_hook_active": True}, {"agent_id": "a1"}, {"stop_hook_active": "true"}])
def test_nothing_on_re_entry_and_nothing_for_subagents(fields: dict[str, object], room: Callable[..., Path]) -> None:
    root = began(room())
    write(root, "org/A.md", BARE)
    assert hook("stop", root, **fields).out == ""
    assert "org/A.md" in hook("stop", root).message


def test_sessions_do_not_hear_of_each_other(room: Callable[..., Path]) -> None:
    root = room()
    write(root, "org/A.md", BARE, session_id="one")
    assert hook("stop", root, session_id="two").out == ""
    assert hook("stop", root, session_id="../one").out == ""
    assert hook("stop", root, session_id="one").message


def test_many_notes_make_a_short_message(room: Callable[..., Path]) -> None:
    root = began(room())
    for i in range(60):
        (root / f"n{i}.md").write_text(BARE)
    text = hook("stop", root).message
    assert text.count("\n") == 6 and "more notes" in text


def test_a_session_without_an_id_hears_again_rather_than_never(room: Callable[..., Path]) -> None:
    root = room()
    assert hook("stop", root, session_id=None).out == ""
    assert not [name for name in os.listdir(root) if name == ".cache"] or hook("stop", root, session_id="").out == ""
