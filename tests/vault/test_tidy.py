"""`om tidy`: finished work moves, nothing is overwritten, and every link means what it meant before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import write_tree
from vaultbridge import tidy
from vaultbridge.checks.snapshot import Snapshot
from vaultcore import write as writer
from vaultcore.errors import VaultError

DAY = date(2026, 5, 6)
DONE = "---\ndate: 2025-12-01\nstatus: done\n---\n"
OPEN = "---\nstatus: active\n---\n"


def run(root: Path, apply: bool = True) -> tidy.Tidying:
    vault = Snapshot(str(root))
    try:
        plan = tidy.plan(vault, DAY)
        if apply and plan.moves:
            tidy.apply(vault, plan, DAY)
        return plan
    finally:
        vault.close()


def meanings(root: Path) -> list[tuple[str, str | None]]:
    """Every link of the vault by the file names at both ends, whatever folder these are in."""
    vault = Snapshot(str(root))
    try:
        found = []
        for link in vault.links:
            if not link.source.startswith("thinking/Tidied"):
                rel = vault.resolve(link).rel
                found.append((os.path.basename(link.source), os.path.basename(rel) if rel else None))
        return sorted(found, key=str)
    finally:
        vault.close()


@pytest.mark.parametrize(
    ("files", "moved"),
    [
        ({"work/active/A.md": DONE}, {"work/active/A.md": "work/archive/2026/A.md"}),
        (
            {"work/active/A.md": "---\nstatus: Completed\ncompleted: 2024-03-01\n---\n"},
            {"work/active/A.md": "work/archive/2024/A.md"},
        ),
        ({"work/active/A.md": OPEN}, {}),
        ({"work/active/A.md": "status: done"}, {}),
        (
            {"work/active/T/A.md": DONE, "work/active/T/B.md": "plain", "work/active/T/x.png": ""},
            {"work/active/T": "work/archive/2026/T"},
        ),
        ({"work/active/T/A.md": DONE, "work/active/T/B.md": OPEN}, {}),
        ({"work/active/A.md": DONE, "work/archive/2026/A.md": ""}, {}),
        ({"brain/A.md": DONE, "templates/A.md": DONE}, {}),
        (
            {
                "vault-manifest.json": '{"done_statuses": ["shipped"]}',
                "work/active/A.md": "---\nstatus: shipped\n---\n",
            },
            {"work/active/A.md": "work/archive/2026/A.md"},
        ),
    ],
)
def test_finished_work_moves_and_nothing_else(
    vault: Callable[..., Path], files: dict[str, str], moved: dict[str, str]
) -> None:
    root = vault(files)
    assert {move.source: move.target for move in run(root, apply=False).moves} == moved
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert there == {"vault-manifest.json", *files}
    run(root)
    for source, target in moved.items():
        assert not (root / source).exists() and (root / target).exists()


def test_links_keep_their_meaning_and_every_other_byte_stays(vault: Callable[..., Path]) -> None:
    root = vault(
        {
            "work/active/A.md": DONE + "[[B]] [up](../Index.md) ![](pic.png) [[#Here]]\r\n# Here\r\n",
            "work/active/pic.png": "",
            "work/Index.md": "\ufeff[[A]]  \r\n[[work/active/A#Here|shown]] [a](active/A.md#Here) `[[work/active/A]]`",
            "B.md": '---\nproject: "[[work/active/A]]"\n---\n| [[work/active/A\\|x]] |',
            "b.canvas": '{"nodes":[{"id":"1","type":"file","file":"work/active/A.md","x":0}]}',
            "v.base": 'filters: file.path == "work/active/A.md"',
        }
    )
    before = meanings(root)
    plan = run(root)
    assert meanings(root) == before
    index = (root / "work/Index.md").read_bytes().decode()
    assert index.startswith("\ufeff[[A]]  \r\n[[A#Here|shown]] [a](archive/2026/A.md#Here) `[[work/active/A]]`")
    assert (root / "B.md").read_bytes().decode() == '---\nproject: "[[A]]"\n---\n| [[A\\|x]] |'
    assert json.loads((root / "b.canvas").read_text())["nodes"][0]["file"] == "work/archive/2026/A.md"
    assert "../../Index.md" in (root / "work/archive/2026/A.md").read_bytes().decode()
    assert plan.remarks == ["v.base names work/active/A.md: change it by hand"]


def test_a_name_that_exists_twice_gets_its_folder(vault: Callable[..., Path]) -> None:
    root = vault({"work/active/A.md": DONE, "x/A.md": "", "work/Index.md": "[[work/active/A]] [[x/A]]"})
    before = meanings(root)
    run(root)
    assert meanings(root) == before and "[[work/archive/2026/A]]" in (root / "work/Index.md").read_text()


def test_the_receipt_names_what_was_moved_and_is_a_sound_note(vault: Callable[..., Path]) -> None:
    from vaultbridge import checks

    root = vault(
        {"work/active/A.md": DONE, "thinking/x.md": "", "work/active/B.md": DONE, "work/archive/2026/B.md": ""}
    )
    first = run(root)
    text = (root / first.receipt).read_text()
    assert first.receipt == "thinking/Tidied 2026-05-06.md"
    assert "work/archive/2026/A.md" in text and "`work/active/B.md`: work/archive/2026/B.md exists already" in text
    assert [f for f in checks.run(str(root), (first.receipt,)).findings if f.level == "error"] == []
    write_tree(root, {"work/active/C.md": DONE})
    assert run(root).receipt == "thinking/Tidied 2026-05-06 (2).md"


def test_a_failure_on_the_way_undoes_everything(vault: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault({"work/active/A.md": DONE, "work/active/B.md": DONE, "i.md": "[[work/active/A]] [[work/active/B]]"})
    before = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*.md")}
    calls = []
    real = writer.move

    def move(root: str, rel: str, to: str, **options: bool) -> None:
        calls.append(rel)
        if len(calls) == 2:
            raise VaultError("the disk is full")
        real(root, rel, to, **options)

    monkeypatch.setattr(writer, "move", move)
    with pytest.raises(VaultError, match="disk is full.*nothing was moved"):
        run(root)
    assert {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*.md")} == before


def test_an_edit_made_meanwhile_stops_the_move(vault: Callable[..., Path]) -> None:
    root = vault({"work/active/A.md": DONE, "i.md": "[[work/active/A]]"})
    held = Snapshot(str(root))
    plan = tidy.plan(held, DAY)
    (root / "i.md").write_text("mine now [[work/active/A]]")
    with pytest.raises(VaultError, match="changed while the plan was made"):
        tidy.apply(held, plan, DAY)
    held.close()
    assert (root / "work/active/A.md").exists() and (root / "i.md").read_text().startswith("mine now")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_linked_work_is_left_to_a_person(vault: Callable[..., Path], tmp_path: Path) -> None:
    root = vault({"work/active/T/A.md": DONE})
    (tmp_path / "outside").mkdir()
    (root / "work/active/T/link").symlink_to(tmp_path / "outside")
    plan = run(root)
    assert plan.moves == [] and "by hand" in plan.skipped[0].why


NAMES = st.sampled_from(["A", "B", "C"])
PLACES = st.sampled_from(["", "work/active/", "work/active/T/", "x/", "work/archive/2025/"])
TEXT = st.sampled_from(
    ["[[A]]", "[[work/active/A]]", "[[T/B|s]]", "[a](A.md)", "[b](../active/B.md#h)", "[[x/C#h]]", "![[C]]", "[[./A]]"]
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.tuples(PLACES, NAMES), st.tuples(st.booleans(), st.lists(TEXT, max_size=4)), max_size=7),
    st.integers(0, 10**9),
)
def test_in_any_vault_links_mean_after_tidying_what_they_meant_before(
    tmp_path: Path, notes: dict[tuple[str, str], tuple[bool, list[str]]], salt: int
) -> None:
    root = tmp_path / f"v{salt}-{len(os.listdir(tmp_path))}"
    files = {
        f"{place}{name}.md": (DONE if done else OPEN) + " ".join(texts) + "\n# h\n"
        for (place, name), (done, texts) in notes.items()
    }
    write_tree(root, {"vault-manifest.json": "{}", **files})

    def resolved() -> list[tuple[str, str]]:
        vault = Snapshot(str(root))
        try:
            texts = {row.rel: (root / row.rel).read_text().split("\n# h")[0] for row in vault.rows}
            marks = {rel: f"{rel.rsplit('/', 1)[-1]}" for rel in texts}
            return sorted(
                (marks[link.source], str(place.rel and marks[place.rel]))
                for link in vault.links
                if (place := vault.resolve(link)).rel
                and link.source in marks
                and not link.source.startswith(("thinking/", "inbox/"))
            )
        finally:
            vault.close()

    before = resolved()
    run(root)
    assert [pair for pair in before if pair not in resolved()] == []
