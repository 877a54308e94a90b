"""The log: one line for every mutation and refusal, a chain nobody can bend, edits past us noticed, crashes mended."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.memory.conftest import a_person, writer
from vaultcore import places
from vaultcore.errors import Refusal, VaultError
from vaultcore.memory import rulings, selection
from vaultcore.memory.journal import FOLDER, Journal
from vaultcore.memory.memories import Memories, Writer
from vaultcore.memory.reach import PERSON, Reader
from vaultcore.memory.recording import remember

ALPHA = Reader(("alpha",))


def tell(memories: Memories, title: str, body: str = "", **more: Any) -> Any:
    given = {"title": title, "body": body or f"{title}, said the test.", "confidence": "inferred", **more}
    return remember(memories, given, writer("alpha")).record


def ops(memories: Memories) -> list[str]:
    return [line["op"] for line in memories.journal.lines()]


def log_file(memories: Memories) -> Path:
    (found,) = Path(memories.root, FOLDER, memories.journal.writer).iterdir()
    return found


def test_each_verb_writes_one_line_that_names_channel_caller_and_both_hashes(memories: Memories) -> None:
    old = tell(memories, "Old claim of the parser")
    tell(memories, "New claim of the renderer", supersedes=[old.key])
    with pytest.raises(Refusal):
        tell(memories, "New claim of the renderer", scope="general")
    last = tell(memories, "A third thing entirely")
    with memories.lock():
        memories.settle()
        rulings.archive(memories, rulings.find(memories, last.key), a_person(), "no use")
        rulings.forget(memories, rulings.find(memories, last.key), a_person(), "wrong")
        rulings.restore(memories, last.key, a_person(), "after all")
    assert ops(memories) == ["create", "create", "refuse", "create", "archive", "forget", "lift"]
    lines = list(memories.journal.lines())
    assert [line["channel"] for line in lines] == ["agent"] * 4 + ["person"] * 3
    (touched,) = lines[1]["touched"]
    assert touched["before"] == lines[0]["after"] and touched["op"] == "supersede"
    assert lines[4]["before"] == lines[3]["after"] and lines[4]["reason"] == "no use"
    assert [line["seq"] for line in lines] == list(range(1, 8))
    assert memories.journal.verify() == []


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda lines: [lines[0], lines[1].replace(b'"create"', b'"Create"'), *lines[2:]], "not what was written"),
        (lambda lines: [lines[0], *lines[2:]], "removed, added or moved"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "removed, added or moved"),
        (lambda lines: [lines[0], b"not json", *lines[2:]], "no line of this log"),
        (lambda lines: [lines[0], lines[0], *lines[1:]], "removed, added or moved"),
    ],
)
def test_verify_names_the_first_line_that_was_tampered_with(memories: Memories, damage: Any, why: str) -> None:
    for name in ("Red", "Green", "Blue", "Gray"):
        tell(memories, f"{name} lamps are tested on Monday")
    path = log_file(memories)
    path.write_bytes(b"\n".join(damage(path.read_bytes().splitlines())) + b"\n")
    (bad,) = Journal(memories.root).verify()
    assert bad.line == 2 and why in bad.why


def test_a_tampered_past_line_with_a_fresh_hash_breaks_the_next_one(memories: Memories) -> None:
    from vaultcore.memory.journal import digest, encode

    for name in ("Red", "Green", "Blue"):
        tell(memories, f"{name} lamps are tested on Monday")
    path = log_file(memories)
    lines = [json.loads(raw) for raw in path.read_bytes().splitlines()]
    lines[0]["caller"] = "somebody else"
    lines[0]["hash"] = digest(lines[0])
    path.write_bytes(b"".join(encode(line) + b"\n" for line in lines))
    (bad,) = Journal(memories.root).verify()
    assert bad.line == 2


def test_the_chain_runs_on_over_months_and_writers_of_other_clones_do_not_disturb_it(
    memories: Memories, tmp_path: Path
) -> None:
    tell(memories, "Red lamps are tested on Monday")
    folder = log_file(memories).parent
    log_file(memories).rename(folder / "2025-01.jsonl")
    tell(memories, "Green lamps wait until Tuesday")
    assert sorted(p.name for p in folder.iterdir())[0] == "2025-01.jsonl"
    clone = tmp_path / "clone"
    shutil.copytree(memories.root, clone)
    other = Memories(str(clone), memories.settings)
    tell(other, "Blue lamps need a permit")
    assert other.journal.writer != memories.journal.writer
    assert len(other.journal.writers()) == 2
    bad = other.journal.verify()
    assert [b.why for b in bad if "month" not in b.why] == []


def test_nothing_is_ever_trimmed(memories: Memories) -> None:
    memories.journal.extend([{"op": "refuse", "channel": "agent", "caller": "x", "n": i} for i in range(20_000)])
    memories.journal.append("refuse", "agent", "x", n=20_000)
    assert len(log_file(memories).read_bytes().splitlines()) == 20_001
    assert memories.journal.verify() == []


@pytest.mark.parametrize("how", ["edit", "add", "remove", "move"])
def test_a_change_past_us_is_logged_as_external_with_both_hashes(memories: Memories, how: str) -> None:
    from vaultcore.write import revision

    made = tell(memories, "Red lamps are tested on Monday")
    path = Path(memories.root, made.rel)
    before = revision(path.read_bytes())
    if how == "edit":
        path.write_bytes(path.read_bytes() + b"\nMore.\n")
    elif how == "add":
        (path.parent / "own.md").write_text("---\nscope: general\n---\n# Own\n\nBy hand.\n")
    elif how == "remove":
        path.unlink()
    else:
        path.rename(path.parent / "moved.md")
    fresh = Memories(memories.root, memories.settings)
    fresh.open()
    fresh.open()
    line = list(fresh.journal.lines())[-1]
    assert ops(fresh) == ["create", "external"]
    assert line["channel"] == "external"
    assert line.get("before", "") == ("" if how == "add" else before)
    assert bool(line.get("after")) == (how != "remove")
    assert line.get("was") == (made.rel if how == "move" else None)
    # the same after the derived state is gone: nothing is reported twice
    shutil.rmtree(os.path.dirname(fresh.known.path))
    again = Memories(memories.root, memories.settings)
    again.open()
    assert ops(again) == ["create", "external"]


def test_a_page_beside_the_memories_is_no_mutation(memories: Memories) -> None:
    page = Path(memories.root, "memories", "About Memories.md")
    page.parent.mkdir()
    page.write_text("---\ndate: 2026-01-01\ntags: [index]\n---\n# About\n", encoding="utf-8")
    memories.open()
    page.write_text("---\ndate: 2026-01-01\n---\n# About it\n", encoding="utf-8")
    memories.open()
    assert not Path(memories.root, ".om").exists()


def test_files_that_came_with_a_merge_and_its_log_are_no_surprise(memories: Memories, tmp_path: Path) -> None:
    tell(memories, "Red lamps are tested on Monday")
    clone = Memories(str(shutil.copytree(memories.root, tmp_path / "clone")), memories.settings)
    clone.open()
    tell(clone, "Green lamps wait until Tuesday")
    for part in ("memories", ".om"):
        shutil.copytree(Path(clone.root, part), Path(memories.root, part), dirs_exist_ok=True)
    memories.open()
    assert ops(memories) == ["create", "create"]
    assert memories.journal.verify() == []


CRASH = """
import os, sys
sys.path.insert(0, {src!r})
stop = int(sys.argv[2])
count = 0
def die(name, real):
    def call(*a, **k):
        global count
        count += 1
        if count == stop:
            os._exit(9)
        return real(*a, **k)
    return call
from vaultcore.memory.memories import Memories, Writer
from vaultcore.memory.reach import Reader
from vaultcore.memory.recording import remember
m = Memories(sys.argv[1])
m.open()
for name in ("open", "write", "fsync", "link", "unlink", "replace", "rename", "mkdir", "ftruncate", "close"):
    setattr(os, name, die(name, getattr(os, name)))
w = Writer("alpha", "alpha", ("alpha",), Reader(("alpha",)))
remember(m, dict(title="Lamps are tested on Friday", body="Since May it is Friday.", confidence="inferred",
                 supersedes=["Lamps are tested on Monday"]), w)
os._exit(0)
"""


def test_a_writer_killed_between_any_two_system_calls_leaves_the_old_state_or_the_new_one(memories: Memories) -> None:
    tell(memories, "Lamps are tested on Monday", "Monday it is.")
    template = memories.root + "-template"
    os.rename(memories.root, template)
    seen = set()
    for stop in range(1, 80):
        shutil.rmtree(memories.root, ignore_errors=True)
        shutil.rmtree(places.cache(template), ignore_errors=True)
        shutil.rmtree(os.path.dirname(memories.known.path), ignore_errors=True)
        shutil.copytree(template, memories.root)
        code = subprocess.run(
            [sys.executable, "-c", CRASH.format(src=str(ROOT / "src")), memories.root, str(stop)],
            timeout=60,
            check=False,
        ).returncode
        fresh = Memories(memories.root, memories.settings)
        fresh.open()
        state = {e.record.title: e.state for e in selection.select(fresh.store, ALPHA, include=("history",)).entries}
        old, new = (
            {"Lamps are tested on Monday": "current"},
            {
                "Lamps are tested on Monday": "superseded",
                "Lamps are tested on Friday": "current",
            },
        )
        assert state in (old, new), (stop, state)
        assert fresh.journal.verify() == [], stop
        if state == new:
            (held,) = [r for r in fresh.store.records.values() if "Monday" in r.title]
            assert held.superseded_by, stop
            assert [line["op"] for line in fresh.journal.lines()] == ["create", "create"], stop
        else:
            assert "external" not in ops(fresh), stop
        assert list(Path(memories.root).rglob(".om-*.tmp")) == [], stop
        seen.add("new" if state == new else "old")
        if code == 0:
            break
    assert seen == {"old", "new"} and code == 0


def _write(root: str, number: int, same: bool, count: int, results: Any) -> None:
    memories = Memories(root)
    who = writer("alpha")
    done = []
    for i in range(count):
        title = (
            "Everybody learnt the very same thing" if same else f"Worker {chr(97 + number)} saw case {chr(97 + i)}{i}"
        )
        body = (
            "It was the very same thing for all of them."
            if same
            else f"Case {i * 31 + number} of worker {chr(97 + number)} ended in state {i}."
        )
        outcome = remember(memories, {"title": title, "body": body, "confidence": "inferred"}, who)
        done.append((outcome.state, outcome.rel))
    results.put(done)


@pytest.mark.parametrize(("same", "count"), [(False, 25), (True, 1)])
def test_eight_processes_writing_at_once_lose_nothing_and_record_the_same_lesson_once(
    memories: Memories, same: bool, count: int
) -> None:
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    workers = [context.Process(target=_write, args=(memories.root, n, same, count, results)) for n in range(8)]
    for worker in workers:
        worker.start()
    told = [item for _ in workers for item in results.get(timeout=120)]
    for worker in workers:
        worker.join()
    store = memories.open()
    if same:
        assert sorted(state for state, _ in told) == ["known"] * 7 + ["recorded"]
        assert len({rel for _, rel in told}) == 1 == len(store.records)
    else:
        assert [state for state, _ in told] == ["recorded"] * 200
        assert {rel for _, rel in told} == set(store.records) and len(store.records) == 200
    lines = list(memories.journal.lines())
    assert [line["seq"] for line in lines] == list(range(1, len(store.records) + 1))
    assert memories.journal.verify() == []


def _supersede(root: str, number: int, results: Any) -> None:
    try:
        given = {
            "title": f"Worker {chr(97 + number)} knows better",
            "body": f"By {number} it is.",
            "confidence": "inferred",
            "supersedes": ["The old claim"],
        }
        results.put(remember(Memories(root), given, writer("alpha")).state)
    except Refusal as refusal:
        results.put(refusal.code)


def test_eight_that_supersede_the_same_memory_leave_links_both_ways_or_a_refusal(memories: Memories) -> None:
    tell(memories, "The old claim")
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    workers = [context.Process(target=_supersede, args=(memories.root, n, results)) for n in range(8)]
    for worker in workers:
        worker.start()
    told = sorted(results.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
    recorded = told.count("recorded")
    assert set(told) <= {"recorded", "superseded-already"} and recorded
    (old,) = [r for r in memories.open().records.values() if r.title == "The old claim"]
    backs = [r for r in memories.store.records.values() if r.supersedes]
    assert {entry.split()[0] for entry in old.superseded_by} == {r.key for r in backs} and len(backs) == recorded


@pytest.mark.parametrize("error", [28, 13, 30])
def test_a_disk_that_takes_nothing_is_one_sentence_and_nothing_half_written(
    memories: Memories, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    tell(memories, "The old claim")
    before = {p: p.read_bytes() for p in Path(memories.root).rglob("*") if p.is_file()}
    real = os.fsync
    calls = {"n": 0}

    def failing(fd: int) -> None:
        calls["n"] += 1
        if calls["n"] > 1:
            raise OSError(error, os.strerror(error))
        real(fd)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        with pytest.raises((VaultError, OSError)):
            tell(memories, "A better claim", supersedes=["The old claim"])
    assert {p: p.read_bytes() for p in Path(memories.root).rglob("*") if p.is_file()} == before
    assert tell(memories, "A better claim", supersedes=["The old claim"]).title == "A better claim"


def test_a_person_sees_what_each_clone_did(memories: Memories) -> None:
    made = tell(memories, "The old claim")
    assert [line["id"] for line in memories.journal.mentioning([made.key])] == [made.key]
    assert {e.state for e in selection.select(memories.open(), PERSON).entries} == {"current"}


def test_no_argument_claims_a_persons_channel(memories: Memories, alpha: Writer) -> None:
    for name in ("channel", "caller", "rejected_by"):
        with pytest.raises(Refusal):
            remember(memories, {"title": "t", "body": "b", "confidence": "inferred", name: "person"}, alpha)
    assert {line["channel"] for line in memories.journal.lines()} == {"agent"}


def test_branches_of_one_clone_merge_without_touching_a_line_and_every_chain_holds(memories: Memories) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=memories.root, check=True, capture_output=True)

    def commit(text: str) -> None:
        git("add", "-A")
        git("commit", "-qm", text)

    git("init", "-qb", "main")
    tell(memories, "Red lamps are tested on Monday")
    commit("first")
    git("checkout", "-qb", "side")
    tell(memories, "Green lamps wait until Tuesday")
    commit("side")
    git("checkout", "-q", "main")
    memories.open()
    tell(memories, "Blue lamps need a permit")
    tell(memories, "Gray doors stay shut in winter")
    commit("main")
    git("merge", "-q", "--no-edit", "side")
    fresh = Memories(memories.root, memories.settings)
    fresh.open()
    tell(fresh, "White walls are painted in spring")
    assert fresh.journal.verify() == []
    assert len(fresh.journal.writers()) == 2
    assert ops(fresh).count("create") == 5


def test_a_lost_note_of_the_last_line_starts_no_new_chain_when_the_log_only_grew(memories: Memories) -> None:
    from vaultcore.memory import clones

    tell(memories, "Red lamps are tested on Monday")
    name, tail = clones.identity(memories.root)
    tell(memories, "Green lamps wait until Tuesday")
    clones.remember(memories.root, name, tail)
    tell(Memories(memories.root, memories.settings), "Blue lamps need a permit")
    assert Journal(memories.root).writers() == [name] and Journal(memories.root).verify() == []


def shortened(path: Path, lines: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-lines]))


@pytest.mark.parametrize("written_since", [False, True])
def test_verify_says_that_lines_were_cut_off_the_end(memories: Memories, written_since: bool) -> None:
    for name in ("Red", "Green", "Blue"):
        tell(memories, f"{name} lamps are tested on Monday")
    path = log_file(memories)
    whole = path.read_bytes()
    shortened(path, 2)
    if written_since:  # a chain that was cut is not written on: the gap stays to be seen
        tell(Memories(memories.root, memories.settings), "Gray doors stay shut in winter")
    (bad,) = Journal(memories.root).verify()
    assert bad.seq == 2 and bad.line == 2 and "gone from its end" in bad.why
    path.write_bytes(whole)
    assert Journal(memories.root).verify() == []


def test_the_log_of_another_clone_tells_that_lines_were_cut_off(memories: Memories, tmp_path: Path) -> None:
    tell(memories, "Red lamps are tested on Monday")
    tell(memories, "Green lamps wait until Tuesday")
    other = Memories(str(shutil.copytree(memories.root, tmp_path / "clone")), memories.settings)
    tell(other, "Blue lamps need a permit")
    folder = Path(other.root, FOLDER, memories.journal.writer)
    # a third clone knows only what lies in the vault
    third = shutil.copytree(other.root, tmp_path / "third")
    assert Journal(str(third)).verify() == []
    shortened(next((third / FOLDER / folder.name).iterdir()), 1)
    (bad,) = Journal(str(third)).verify()
    assert folder.name in bad.path and bad.seq == 2
    shutil.rmtree(third / FOLDER / folder.name)
    (bad,) = Journal(str(third)).verify()
    assert folder.name in bad.path, "a log that is gone altogether is a log with everything cut off"
