"""A walk finds every note once, stays inside the vault, and ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultcore import walk
from vaultcore.errors import Problem

Vault = Callable[..., Path]


def rels(root: Path, start: str = "", problems: list[Problem] | None = None) -> list[str]:
    return [entry.rel for entry in walk.walk(str(root), start, problems=problems)]


def test_every_note_is_found_in_order_whatever_its_case_and_depth(vault: Vault) -> None:
    deep = "/".join("abcdefghij") + "/deep.md"
    root = vault(
        {
            "b.md": "", "a/z.MD": "", "a b/c.md": "", "a.md": "", deep: "", "x/.hidden/n.md": "", ".obsidian/n.md": "",
            "node_modules/n.md": "", "x/Node_Modules/n.md": "", ".dot.md": "", "pic.png": "", "x/readme.mdx": "",
            "md": "",
        }
    )  # fmt: skip
    found = rels(root)
    assert found == sorted(["b.md", "a/z.MD", "a b/c.md", "a.md", deep])
    assert rels(root, "a") == ["a/" + deep[2:], "a/z.MD"]
    assert rels(root, "a/") == rels(root, "a")
    assert rels(root, "nowhere") == rels(root, "../") == rels(root, "b.md") == []


def test_an_entry_carries_size_and_time(vault: Vault) -> None:
    root = vault({"n.md": "12345"})
    os.utime(root / "n.md", ns=(5, 1_700_000_000_123_456_789))
    (entry,) = walk.walk(str(root))
    assert (entry.size, entry.mtime_ns, entry.conflict, entry.linked) == (5, 1_700_000_000_123_456_789, False, False)


def test_loops_and_links_never_repeat_a_note_or_leave_the_vault(vault: Vault, tmp_path: Path) -> None:
    root = vault({"notes/real.md": "", "data/text.txt": "", "notes/sub/x.md": ""})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "s.md").write_text("secret")
    for name, target in {
        "notes/loop": ".", "notes/up": str(root), "notes/gone.md": "missing.md", "notes/a.md": "b.md",
        "notes/b.md": "a.md",
        "notes/out.md": str(outside / "s.md"), "notes/outdir": str(outside), "notes/inside.md": "real.md",
        "alias": "notes/sub", "notes/text.md": "../data/text.txt", "notes/pic.png": str(outside / "s.md"),
        "notes/dots.md": "../.obsidian/x.txt", "notes/circle": "circle",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    problems: list[Problem] = []
    assert rels(root, problems=problems) == ["notes/real.md", "notes/sub/x.md", "notes/text.md"]
    assert [entry.rel for entry in walk.walk(str(root)) if entry.linked] == ["notes/text.md"]
    said = {problem.path: problem.message for problem in problems}
    assert set(said) == {
        "notes/gone.md",
        "notes/a.md",
        "notes/b.md",
        "notes/out.md",
        "notes/outdir",
        "notes/dots.md",
        "notes/circle",
    }
    assert "leads outside" in said["notes/outdir"]
    assert "nowhere" in said["notes/a.md"]


def test_a_deeper_tree_than_python_may_recurse_is_walked(vault: Vault) -> None:
    root = vault()
    path = str(root)
    made = 0
    back = os.getcwd()
    os.chdir(path)
    try:
        for _ in range(1100):
            os.mkdir("d")
            os.chdir("d")
            made += 1
        Path("n.md").touch()
    finally:
        os.chdir(back)
    try:
        assert [entry.rel for entry in walk.walk(path)] == ["d/" * made + "n.md"]
    finally:
        subprocess.run(["rm", "-rf", os.path.join(path, "d")], check=True)  # too deep for pytest's own sweeping


def test_names_that_other_systems_cannot_take_are_reported(vault: Vault) -> None:
    root = vault({"back\\slash.md": "", "fine.md": ""})
    os.close(os.open(os.fsencode(str(root)) + b"/bad\xff.md", os.O_CREAT | os.O_WRONLY))
    problems: list[Problem] = []
    assert rels(root, problems=problems) == ["fine.md"]
    assert len(problems) == 2
    assert all(problem.sentence().isprintable() for problem in problems)


@pytest.mark.parametrize(
    ("name", "conflict"),
    [
        ("Plan (A's conflicted copy 2026-02-03).md", True),
        ("Plan.sync-conflict-20260203-101010-ABCDEFG.md", True),
        ("Plan (conflicted copy 2026-02-03 101010).md", True),
        ("Plan (Conflicted copy laptop 202602031010).md", True),
        ("Plan (SFConflict anna 2026-02-03-10-10-10).md", True),
        ("Plan (Case Conflict).md", True),
        ("Plan (In Konflikt stehende Kopie von Anna 2026-02-03).md", True),
        ("計画 (競合コピー 2026-02-03).md", True),
        ("Plan_conflict-20260203-101010.md", True),
        ("Plan 2.md", False),
        ("Conflict resolution.md", False),
        ("On conflict (notes).md", False),
        ("Merge conflicts.md", False),
    ],
)
def test_conflict_copies_are_known_by_the_names_sync_tools_give(vault: Vault, name: str, conflict: bool) -> None:
    root = vault({f"notes/{name}": ""})
    (entry,) = walk.walk(str(root))
    assert entry.conflict is conflict


@pytest.mark.parametrize(
    ("rel", "inside"),
    [
        ("a.md", "a.md"), ("x/../a.md", None), ("../a.md", None), ("/a.md", None), ("", None), (".git/x", None),
        ("./a.md", "a.md"),
        ("x//a.md", "x/a.md"), ("x\\a.md", "x/a.md"), ("..\\a.md", None), ("a\0.md", None), ("out/s.md", None),
        ("out.md", None),
        ("in.md", "x/n.md"), ("indir/n.md", "x/n.md"), ("hidden/n.md", None), ("new/one.md", "new/one.md"),
        ("a.md/b", "a.md/b"),
    ],
)  # fmt: skip
def test_a_path_is_contained_after_its_links(vault: Vault, tmp_path: Path, rel: str, inside: str | None) -> None:
    root = vault({"a.md": "", "x/n.md": "", ".dot/n.md": ""})
    (tmp_path / "s.md").write_text("")
    for name, target in {
        "out": tmp_path,
        "out.md": tmp_path / "s.md",
        "in.md": "x/n.md",
        "indir": "x",
        "hidden": ".dot",
    }.items():
        (root / name).symlink_to(target)
    found = walk.contained(str(root), rel)
    assert found == (None if inside is None else str(root / inside))


def test_a_vault_reached_through_a_link_is_contained_too(vault: Vault, tmp_path: Path) -> None:
    root = vault({"a.md": ""})
    (tmp_path / "link").symlink_to(root)
    assert walk.contained(str(tmp_path / "link"), "a.md") == str(root / "a.md")
    assert rels(tmp_path / "link") == ["a.md"]
