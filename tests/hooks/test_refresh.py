"""The detached refresh: one worker, after the last write of a burst, never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hooks.running import CODE, GOOD, hook, scan
from vaultcore.session import refresh, state

COUNTING = """
import os, sys, time
log = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refreshes")
files = sorted(n for n in os.listdir(os.path.join(os.path.dirname(log), "org")) if n.endswith(".md"))
with open(log, "a") as file:
    file.write(" ".join(sys.argv[1:]) + " | " + " ".join(files) + "\\n")
"""


@pytest.fixture
def copy(room: Callable[..., Path]) -> Iterator[Path]:
    """A vault that brings its own hooks, as a clone does, and an om.py that writes down when it was called."""
    root = room({"om.py": COUNTING, "org/first.md": GOOD})
    (root / "src").symlink_to(CODE / "src")
    (root / "hooks").mkdir()
    for path in (CODE / "hooks").glob("*.py"):
        (root / "hooks" / path.name).write_bytes(path.read_bytes())
    yield root
    until(lambda: idle(root))


def until(fact: Callable[[], bool], seconds: float = 60) -> None:
    patience = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < patience, "it did not happen"
        time.sleep(0.02)


def idle(root: Path) -> bool:
    held = refresh.lock(str(root))
    if held is None:
        return False
    held.close()
    return True


def refreshes(root: Path) -> list[str]:
    log = root / "refreshes"
    return log.read_text().splitlines() if log.exists() else []


def settled(root: Path) -> bool:
    return bool(refreshes(root)) and refresh.stamp(str(root), refresh.DIRTY) == refresh.stamp(str(root), refresh.DONE)


def test_the_last_write_of_a_burst_is_indexed_and_the_burst_costs_few_refreshes(copy: Path) -> None:
    for number in range(6):
        path = copy / f"org/n{number}.md"
        path.write_text(GOOD)
        given = {"file_path": str(path)}
        hook("after_write", copy, code=copy, worker=True, tool_name="Write", tool_input=given)
    until(lambda: settled(copy) and idle(copy))
    assert refreshes(copy)[-1] == "refresh --quiet | first.md n0.md n1.md n2.md n3.md n4.md n5.md"
    assert len(refreshes(copy)) <= 3


@pytest.mark.parametrize("script", ["session_start", "session_end"])
def test_a_session_refreshes_when_it_begins_and_when_it_ends_as_often_as_it_likes(script: str, copy: Path) -> None:
    for _ in range(3):
        assert hook(script, copy, code=copy, worker=True).code == 0
    until(lambda: bool(refreshes(copy)) and idle(copy))
    assert (copy / ".cache/session/census.json").exists() and (copy / ".cache/session/hygiene.json").exists()


def test_a_write_during_the_last_look_of_a_worker_is_not_left_behind(copy: Path) -> None:
    held = refresh.lock(str(copy))
    assert held is not None
    refresh.mark(str(copy))
    assert refresh.start(str(copy), str(copy)) is False  # one is at work; it looks again before it ends
    held.close()
    worker = [sys.executable, "-I", "-S", refresh.WORKER, str(copy), str(copy), "now"]
    subprocess.run(worker, check=True, timeout=60)
    assert refresh.stamp(str(copy), refresh.DIRTY) == refresh.stamp(str(copy), refresh.DONE) != b""


def test_the_worker_has_let_go_of_everything_the_hook_was_given(copy: Path) -> None:
    (copy / "om.py").write_text("import time\ntime.sleep(3)\n")
    given = json.dumps({"session_id": "s", "cwd": str(copy), "source": "startup"}).encode()
    call = [sys.executable, "-I", "-S", str(copy / "hooks/session_start.py"), "--agent", "claude"]
    # communicate() returns at the end of file: it would wait for a child that held our pipes
    done = subprocess.run(call, input=given, capture_output=True, timeout=60, env={**os.environ, "OM_WORKER": "on"})
    assert done.returncode == 0
    until(lambda: not idle(copy), 20)


def test_a_refresh_that_fails_is_told_in_the_next_briefing(copy: Path) -> None:
    (copy / "om.py").write_text("import sys\nsys.exit('Error: the disk is full')\n")
    worker = [sys.executable, "-I", "-S", refresh.WORKER, str(copy), str(copy), "now"]
    subprocess.run(worker, check=True, timeout=60)
    assert "Index: Error: the disk is full. Run `python3 om.py doctor`." in hook("session_start", copy).context


def test_what_sessions_remember_is_forgotten_in_time(room: Callable[..., Path]) -> None:
    root = room()
    folder = root / ".cache/session"
    folder.mkdir(parents=True)
    for number in range(230):
        (folder / f"claude-{number}.jsonl").write_text("{}\n")
        os.utime(folder / f"claude-{number}.jsonl", (2_000_000_000 + number, 2_000_000_000 + number))
    os.utime(folder / "claude-0.jsonl", (0, 0))
    state.prune(str(root), 2_000_000_300)
    left = sorted(int(path.stem.rpartition("-")[2]) for path in folder.glob("*.jsonl"))
    assert len(left) == 200 and left[0] == 30


def test_the_worker_of_a_vault_that_is_gone_makes_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    subprocess.run([sys.executable, "-I", "-S", refresh.WORKER, str(gone), str(CODE), "now"], check=True, timeout=60)
    assert not gone.exists()


def test_a_scan_of_a_vault_without_an_index_says_what_it_did_not_check(room: Callable[..., Path]) -> None:
    root = room()
    scan(root)
    assert "- not checked: broken links and orphans (no index here yet)" in hook("session_start", root).context
