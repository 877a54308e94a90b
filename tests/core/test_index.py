"""The index follows the files: what is written, moved, taken away, broken, or written by somebody else."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT, write_tree
from vaultcore import places, walk
from vaultcore.index import Index, open_index

Vault = Callable[..., Path]


def old(path: Path, seconds: int = 60) -> Path:
    """Give a file a time stamp that proves it unchanged since it was read."""
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns - seconds * 10**9))
    return path


def rels(index: Index) -> list[str]:
    return [row.rel for row in index.notes()]


def database(root: Path) -> Path:
    return Path(places.cache(str(root))) / "index.sqlite"


def script(root: Path, code: str) -> list[str]:
    head = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); from vaultcore.index import open_index; "
    return [sys.executable, "-c", head + f"ix = open_index({str(root)!r}); {code}"]


def test_the_first_refresh_reads_every_note_and_the_second_none(vault: Vault) -> None:
    root = vault(
        {"work/a.md": "# A\n", "work/deep/b.MD": "b", ".hidden/c.md": "c", "node_modules/d.md": "d", "e.txt": "e"}
    )
    for path in root.rglob("*.*"):
        old(path)
    index = open_index(str(root))
    first = index.refresh()
    assert (first.added, first.ready, rels(index)) == (2, True, ["work/a.md", "work/deep/b.MD"])
    again = index.refresh(full=True)
    assert (again.added, again.changed, again.removed) == (0, 0, 0)


@pytest.mark.parametrize("how", ["in place", "renamed over"])
def test_an_edit_is_seen(vault: Vault, how: str) -> None:
    root = vault({"a.md": "# One\n"})
    old(root / "a.md")
    index = open_index(str(root))
    index.refresh()
    if how == "in place":
        (root / "a.md").write_text("# Two\n")
        index.refresh(full=True)
    else:
        (root / "tmp").write_text("# Two\n")
        os.replace(root / "tmp", root / "a.md")
        index.refresh()  # the folder's own time stamp is enough
    assert [row.title for row in index.notes()] == ["Two"]


def test_an_edit_of_equal_size_within_the_time_stamp_is_seen(vault: Vault) -> None:
    root = vault({"a.md": "# One\n"})
    index = open_index(str(root))
    index.refresh()
    stamp = (root / "a.md").stat().st_mtime_ns
    (root / "a.md").write_text("# Two\n")
    os.utime(root / "a.md", ns=(stamp, stamp))
    index.refresh()
    assert [row.title for row in index.notes()] == ["Two"]


def test_notes_created_renamed_and_removed_are_known_at_the_next_call(vault: Vault) -> None:
    root = vault({"a/one.md": "1", "a/two.md": "2", "b/three.md": "3"})
    index = open_index(str(root))
    index.refresh()
    write_tree(root, {"a/new/four.md": "4", "c/five.md": "5"})
    (root / "a/one.md").rename(root / "b/moved.md")
    (root / "a/two.md").unlink()
    index.refresh()
    assert rels(index) == ["a/new/four.md", "b/moved.md", "b/three.md", "c/five.md"]
    shutil.rmtree(root / "b")
    index.refresh()
    assert rels(index) == ["a/new/four.md", "c/five.md"]


def test_a_rename_by_case_leaves_one_note_under_the_new_name(vault: Vault) -> None:
    root = vault({"notes/Harbour.md": "x", "notes/ref.md": "[[Harbour]]"})
    index = open_index(str(root))
    index.refresh()
    (root / "notes/Harbour.md").rename(root / "notes/harbour.md")
    index.refresh()
    assert rels(index) == ["notes/harbour.md", "notes/ref.md"]
    assert index.resolver().resolve("Harbour", "notes/ref.md").rel == "notes/harbour.md"
    assert index.links_to("notes/harbour.md") == ["notes/ref.md"]


def test_a_note_written_by_one_process_is_in_the_next_answer_of_another(vault: Vault) -> None:
    root = vault({"a.md": "a"})
    mine, other = open_index(str(root)), open_index(str(root))
    mine.refresh(), other.refresh()
    write_tree(root, {"b.md": "# New\n"})
    mine.note_written("b.md")
    assert rels(mine) == ["a.md", "b.md"]
    other.refresh()
    assert rels(other) == ["a.md", "b.md"]
    (root / "b.md").unlink()
    mine.note_written("b.md")
    other.refresh()
    assert rels(mine) == rels(other) == ["a.md"]


def test_a_file_marked_dirty_is_looked_at(vault: Vault) -> None:
    root = vault({"a.md": "# One\n"})
    old(root / "a.md")
    index = open_index(str(root))
    index.refresh()
    index._swept = float("inf")  # no full sweep will come to help
    (root / "a.md").write_text("# Two, longer\n")
    index.mark_dirty(["a.md", "gone.md"])
    index.refresh()
    assert [row.title for row in index.notes()] == ["Two, longer"]


def test_a_watched_index_sweeps_beside_the_call(vault: Vault) -> None:
    root = vault({"a.md": "# One\n"})
    old(root / "a.md")
    index = open_index(str(root))
    index.refresh()
    index.watched, index._swept = True, 0.0
    (root / "a.md").write_text("# Two, longer\n")
    for _ in range(50):
        index.refresh()
        if index.notes()[0].title != "One":
            break
        if index._sweeping is not None:
            index._sweeping.wait(5)
        index._swept = 0.0
    assert index.notes()[0].title == "Two, longer"


def test_a_vault_that_is_away_keeps_its_rows_and_says_so(vault: Vault, tmp_path: Path) -> None:
    root = vault({"a.md": "a"})
    index = open_index(str(root))
    index.refresh()
    root.rename(tmp_path / "elsewhere")
    away = index.refresh()
    assert not away.ready and "is not at" in str(away.reason)
    assert not root.exists()
    root.mkdir()
    empty = index.refresh()
    assert not empty.ready and "is empty although it held 1 notes" in str(empty.reason)
    root.rmdir()
    (tmp_path / "elsewhere").rename(root)
    back = index.refresh()
    assert (back.ready, back.added, rels(index)) == (True, 0, ["a.md"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_keeps_its_rows(vault: Vault) -> None:
    root = vault({"a/one.md": "1", "b.md": "2"})
    index = open_index(str(root))
    index.refresh()
    (root / "a").chmod(0)
    try:
        done = index.refresh(full=True)
        assert rels(index) == ["a/one.md", "b.md"]
        assert any("cannot be read" in p.sentence() for p in done.problems)
    finally:
        (root / "a").chmod(0o755)


def test_a_folder_that_comes_back_is_not_read_again(vault: Vault, tmp_path: Path) -> None:
    root = vault({"a/one.md": "# One\n", "b.md": "2"})
    old(root / "a/one.md"), old(root / "b.md")
    index = open_index(str(root))
    index.refresh()
    (root / "a").rename(tmp_path / "a")
    assert index.refresh().removed == 1
    assert rels(index) == ["b.md"]
    (tmp_path / "a").rename(root / "a")
    assert index.refresh().added == 1
    assert rels(index) == ["a/one.md", "b.md"]


DAMAGE = {
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "ten bytes": lambda path: path.write_bytes(b"0123456789"),
    "nothing": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("no database\n" * 2000),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("when", ["while open", "between processes"])
def test_a_damaged_index_is_built_anew_without_being_asked(vault: Vault, damage: str, when: str) -> None:
    root = vault({f"n/{i}.md": f"# Note {i}\nrebuildmarker {i}\n" for i in range(40)})
    index = open_index(str(root))
    index.refresh()
    if when == "between processes":
        index.ask(lambda c: c.execute("pragma wal_checkpoint(truncate)").fetchall())
        index.close()
        index = open_index(str(root))
    else:
        index.ask(lambda c: c.execute("pragma wal_checkpoint(truncate)").fetchall())
    DAMAGE[damage](database(root))
    for _ in range(2):
        assert index.refresh(full=True).ready
    assert len(rels(index)) == 40
    assert (root / "n/0.md").read_text() == "# Note 0\nrebuildmarker 0\n"
    fresh = open_index(str(root))
    fresh.refresh()
    assert len(rels(fresh)) == 40


@pytest.mark.parametrize("version", [0, 999])
def test_an_index_of_another_version_is_replaced(vault: Vault, version: int) -> None:
    root = vault({"a.md": "a"})
    path = database(root)
    with sqlite3.connect(path) as connection:
        connection.execute("create table notes(x)")
        connection.execute(f"pragma user_version={version}")
    connection.close()
    index = open_index(str(root))
    done = index.refresh()
    assert done.ready and rels(index) == ["a.md"]
    assert any("another version" in p.sentence() for p in done.problems)


def test_a_cache_that_cannot_be_written_means_an_index_in_memory(vault: Vault, tmp_path: Path) -> None:
    root = vault({"a.md": "[[b]]", "b.md": "b"})
    (tmp_path / "blocked").write_text("a file where a folder should be")
    index = Index(str(root), str(tmp_path / "blocked" / "index.sqlite"))
    done = index.refresh()
    assert done.ready and rels(index) == ["a.md", "b.md"]
    assert any("in memory" in p.sentence() for p in done.problems)
    threads = [threading.Thread(target=index.links_to, args=("b.md",)) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert index.links_to("b.md") == ["a.md"]


def test_a_first_build_stops_at_its_budget_says_how_far_it_is_and_goes_on(vault: Vault) -> None:
    root = vault({f"n/{i:03}.md": f"note {i}" for i in range(600)})
    index = open_index(str(root))
    first = index.refresh(budget=0.0)
    assert not first.ready and first.reason == "the index is being built: 256 of 600 notes are in it so far"
    while not (done := index.refresh(budget=0.0)).ready:
        assert done.scanned < 600
    assert done.scanned == 600


def test_memories_are_kept_whole_and_apart_from_notes(vault: Vault) -> None:
    memory = "---\ndate: 2026-01-02\nscope: general\nprojects: [a, b]\n---\n# Lesson\n\nUse the blue pump.\n"
    root = vault({"memories/2026/01/2026-01-02 lesson.md": memory, "work/a.md": "# A\nblue pump\n"})
    index = open_index(str(root))
    index.refresh()
    assert rels(index) == ["work/a.md"]
    (row,) = index.memories()
    assert (row.title, row.properties["projects"]) == ("Lesson", ["a", "b"])
    assert row.body == "# Lesson\n\nUse the blue pump.\n"
    assert index.rank_memories("where is the pump?") == [row.rel]
    version = index.memories_version
    write_tree(root, {"memories/2026/01/other.md": "# Other\n", "work/b.md": "b"})
    index.refresh()
    assert index.memories_version > version
    assert index.memories()[0] is row  # parsed once
    assert len(index.memories()) == 2


def test_a_moved_memory_root_turns_notes_into_memories_and_back(vault: Vault) -> None:
    root = vault({"memories/a.md": "# A\n", "lessons/b.md": "# B\n"})
    index = open_index(str(root))
    index.refresh()
    assert (rels(index), [m.rel for m in index.memories()]) == (["lessons/b.md"], ["memories/a.md"])
    (root / "vault-manifest.json").write_text('{"memory_root": "lessons"}\n')
    index.refresh()
    assert (rels(index), [m.rel for m in index.memories()]) == (["memories/a.md"], ["lessons/b.md"])


def test_links_are_followed_by_path_name_and_alias(vault: Vault) -> None:
    root = vault(
        {
            "a/target.md": "---\naliases: [Goal, 計画]\n---\n# T\n",
            "b/by name.md": "[[target|x]]",
            "b/by path.md": "[x](../a/target.md#Part)",
            "b/by alias.md": "[[Goal]] [[計画]]",
            "b/code.md": "`[[target]]`",
            "C# notes.md": "[[C# notes#^id]] ![[p.png]]",
            "b/sharp.md": "[[C# notes#^id]]",
            "img/p.png": b"png",
        }
    )
    index = open_index(str(root))
    index.refresh()
    assert index.links_to("a/target.md") == ["b/by alias.md", "b/by name.md", "b/by path.md"]
    assert index.links_to("C# notes.md") == ["b/sharp.md"]
    resolver = index.resolver()
    assert resolver.resolve("p.png").rel == "img/p.png"
    assert resolver.resolve("Goal").kind == "alias"
    assert [(k.target, k.block) for k in index.links_from("b/sharp.md")] == [("C", "id")]
    assert index.named("goal") == ["a/target.md"]
    assert index.similar("targett") == ["a/target.md"]


def test_what_no_json_and_no_database_can_hold_is_still_indexed(vault: Vault) -> None:
    root = vault(
        {
            "a.md": b'---\ntitle: "\\ud800 x"\naliases: ["\\udfff"]\n---\n\x00nul \xff\xfe byte\n',
            "b.md": b"\xff\xfeh\x00i\x00",
        }
    )
    index = open_index(str(root))
    done = index.refresh()
    assert done.ready and rels(index) == ["a.md", "b.md"]


def test_two_processes_share_a_cold_index(vault: Vault) -> None:
    root = vault(
        {f"n/{i:04}.md": f"---\ntags: [t{i % 7}]\n---\n# Note {i}\n[[{i + 1:04}]] words {i}\n" for i in range(700)}
    )
    code = "r = ix.refresh(budget=None); print(r.ready, len(ix.notes()), r.reason)"
    running = [subprocess.Popen(script(root, code), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [p.communicate(timeout=60)[0].split()[:2] for p in running] == [["True", "700"]] * 2
    index = open_index(str(root))
    index.refresh()
    chunks = index.ask(lambda c: c.execute("select count(*), count(distinct note) from chunks").fetchone())
    assert chunks == (700, 700)


def test_a_process_killed_while_it_indexes_leaves_an_index_that_opens(vault: Vault) -> None:
    root = vault({f"n/{i:04}.md": f"# Note {i}\n" + f"words {i} of some length\n" * 40 for i in range(800)})
    code = "ix.refresh(budget=0.0); print('begun', flush=True); ix.refresh(budget=None)"
    with subprocess.Popen(script(root, code), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    index = open_index(str(root))
    done = index.refresh(budget=None)
    assert done.ready and len(rels(index)) == 800
    assert index.ask(lambda c: c.execute("pragma integrity_check").fetchone()[0]) == "ok"


def test_eight_writers_lose_nothing(vault: Vault) -> None:
    root = vault({"a.md": "a"})
    code = (
        "import os, pathlib\n"
        "for i in range(10):\n"
        "    rel = f'memories/m{os.getpid()}-{i}.md'\n"
        "    path = pathlib.Path(ix.root, rel); path.parent.mkdir(exist_ok=True); path.write_text(f'# M {i}')\n"
        "    ix.note_written(rel)\n"
        "    assert rel in [m.rel for m in ix.memories()], rel\n"
    )
    head = script(root, "")
    running = [subprocess.Popen([*head[:2], head[2] + "\n" + code]) for _ in range(8)]
    assert [p.wait(timeout=90) for p in running] == [0] * 8
    index = open_index(str(root))
    index.refresh()
    assert len(index.memories()) == 80


def test_threads_of_one_process_share_an_index(vault: Vault) -> None:
    root = vault({f"n/{i}.md": f"# Note {i}\n[[{i + 1}]]\n" for i in range(60)})
    index = open_index(str(root))
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(8):
                write_tree(root, {f"t/{number}-{i}.md": f"# T {number} {i}\n"})
                index.note_written(f"t/{number}-{i}.md")
                index.refresh()
                assert index.note(f"t/{number}-{i}.md") is not None
                index.links_to("n/1.md")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not failed
    assert len(rels(index)) == 60 + 48


def test_a_full_disk_is_said_and_what_is_indexed_still_answers(vault: Vault) -> None:
    root = vault({"a.md": "# A\n"})
    index = open_index(str(root))
    index.refresh()
    pages = index.ask(lambda c: c.execute("pragma page_count").fetchone()[0])
    index.ask(lambda c: c.execute(f"pragma max_page_count={pages}").fetchone())
    write_tree(root, {f"big/{i}.md": "word " * 20_000 for i in range(4)})
    done = index.refresh()
    assert not done.ready and "disk is full" in str(done.reason)
    assert "a.md" in rels(index)
    assert index.refresh().ready and len(rels(index)) == 5  # space again: the next call goes on


NAMES = st.sampled_from(
    ["a.md", "B.MD", "c.txt", ".hid.md", "é.md", "e\u0301.md", "node_modules", ".obsidian", "sub", "x y", "日本.md"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=3)


@given(
    st.lists(st.tuples(PATHS, st.sampled_from(["file", "link", "out", "loop"])), max_size=8),
    st.lists(st.tuples(PATHS, st.sampled_from(["file", "gone"])), max_size=4),
)
@settings(max_examples=40, deadline=None)
def test_the_index_holds_exactly_what_a_walk_shows_before_and_after_changes(
    first: list[tuple[list[str], str]], then: list[tuple[list[str], str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "v")
        write_tree(root, {"vault-manifest.json": "{}", "real/r.md": "r"})
        build(root, first)
        index = Index(os.path.realpath(root), os.path.join(folder, "index.sqlite"))
        index.refresh()
        assert rels(index) == [e.rel for e in walk.walk(str(root)) if not e.linked]
        build(root, then)
        index.refresh()
        assert rels(index) == [e.rel for e in walk.walk(str(root)) if not e.linked]
        index.close()


def build(root: Path, steps: list[tuple[list[str], str]]) -> None:
    for parts, what in steps:
        path = root.joinpath(*parts)
        try:
            if what == "gone":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if what == "file":
                path.write_text("x")
            else:
                path.symlink_to({"link": root / "real", "out": root.parent, "loop": path.parent}[what])
        except OSError:
            pass  # a file where a folder should be, or there already: another tree than planned is as good


@pytest.mark.parametrize("seed", range(12))
def test_an_index_with_flipped_bytes_heals_or_answers(vault: Vault, seed: int) -> None:
    root = vault({f"n/{i}.md": f"---\naliases: [al{i}]\n---\n# N {i}\nword{i} [[{i + 1}]] #t\n" for i in range(60)})
    write_tree(root, {"memories/m.md": "# M\nlesson\n"})
    index = open_index(str(root))
    index.refresh()
    index.ask(lambda c: c.execute("pragma wal_checkpoint(truncate)").fetchall())
    index.close()
    flip = random.Random(seed)
    data = bytearray(database(root).read_bytes())
    for _ in range((3, 30, 300, 3000)[seed % 4]):
        data[flip.randrange(len(data))] = flip.randrange(256)
    database(root).write_bytes(data)
    index = open_index(str(root))
    for _ in range(2):
        assert index.refresh(full=True).ready
        _ = index.links_to("n/3.md"), index.memories(), index.rank_memories("lesson"), index.tags(), index.state()
        _ = [(row.headings, row.properties, row.aliases) for row in index.notes()]
    write_tree(root, {"n/new.md": "# New\n"})
    index.note_written("n/new.md")
    assert "n/new.md" in rels(index)
