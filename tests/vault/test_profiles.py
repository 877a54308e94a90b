"""Profiles: what a person has touched is theirs; the choice is remembered; a profile is one data file."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from vaultbridge import profiles
from vaultbridge.profiles import inventory, pruning, shelf
from vaultcore import manifest
from vaultcore.errors import VaultError
from vaultcore.links import Resolver

if any(inventory.unchanged(str(ROOT), rel) is not True for rel in inventory.shipped()):
    pytest.skip("the shipped files of this vault are not all as they were shipped", allow_module_level=True)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    for rel in (*inventory.shipped(), "vault-manifest.json"):
        (root / rel).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / rel, root / rel)
    return root


def test_the_default_profile_keeps_everything(copy: Path) -> None:
    plan = profiles.plan(str(copy), "engineer")
    assert profiles.available()[0] == "engineer"
    assert (plan.remove, plan.shorten, plan.add, plan.keep) == ([], {}, {}, [])


def test_a_person_without_a_manager_has_no_conversation_folder(copy: Path) -> None:
    profiles.apply(str(copy), "writer")
    for gone in ("work/1-1", "perf", "org", "work/incidents", "templates/1-1.md", ".agents/skills/om-prep-1on1",
                 ".claude/skills/om-prep-1on1", ".gemini/commands/om-prep-1on1.toml", ".claude/agents/review-prep.md",
                 ".codex/agents/review-prep.toml", ".gemini/agents/review-prep.md"):  # fmt: skip
        assert not (copy / gone).exists(), gone
    assert (copy / "templates/Draft.md").exists() and (copy / ".agents/skills/obsidian-markdown/SKILL.md").exists()
    assert "People" not in (copy / "Home.md").read_text()


def test_what_somebody_has_touched_stays(copy: Path) -> None:
    (copy / "org/people/Ada.md").write_text("mine")
    (copy / "perf/Brag Doc.md").write_text("mine too")
    home = (copy / "Home.md").read_text() + "\nmy own line [[Brag Doc]]\n"
    (copy / "Home.md").write_text(home)
    said = profiles.apply(str(copy), "minimal")
    assert (copy / "org/people/Ada.md").read_text() == "mine"
    assert (copy / "perf/Brag Doc.md").read_text() == "mine too" and any("perf/Brag Doc.md" in line for line in said)
    assert (copy / "Home.md").read_text() == home


def test_line_ends_of_a_checkout_are_no_change(copy: Path) -> None:
    path = copy / "templates/1-1.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    profiles.apply(str(copy), "minimal")
    assert not path.exists()


def test_the_choice_is_remembered_beside_the_persons_other_settings(copy: Path) -> None:
    (copy / manifest.LOCAL).write_text('{"memory_root": "lessons"}')
    profiles.apply(str(copy), "student")
    held = json.loads((copy / manifest.LOCAL).read_text())
    assert held["memory_root"] == "lessons" and held["profile"] == "student"
    loaded = manifest.load(str(copy))
    assert loaded.problems == [] and loaded.get("note_types")["lecture"]["template"] == "Lecture"
    assert profiles.plan(str(copy), "student").remove == []


def test_a_broken_local_manifest_stops_before_anything_is_done(copy: Path) -> None:
    (copy / manifest.LOCAL).write_text("{oops")
    with pytest.raises(VaultError, match="not valid JSON"):
        profiles.apply(str(copy), "minimal")
    assert (copy / "perf/Brag Doc.md").exists()


def test_going_back_says_what_is_missing(copy: Path) -> None:
    profiles.apply(str(copy), "minimal")
    said = profiles.apply(str(copy), "engineer")
    assert any("is not here" in line and "git history" in line for line in said)


@pytest.mark.parametrize("committed", [False, True])
def test_going_back_brings_back_what_the_profile_before_had_left_out(copy: Path, committed: bool) -> None:
    commit(copy, "as shipped")
    before = {path.relative_to(copy): path.read_bytes() for path in files(copy)}
    profiles.apply(str(copy), "student")
    if committed:
        commit(copy, "a student's vault")
    (copy / "bases/Reading.base").unlink()  # deleted by a person, not by the profile
    said = profiles.apply(str(copy), "engineer")
    after = {path.relative_to(copy): path.read_bytes() for path in files(copy)}
    assert set(before) - set(after) == {Path("bases/Reading.base")}
    assert {path for path in after if after[path] != before.get(path)} == {Path(manifest.LOCAL)}
    assert json.loads((copy / manifest.LOCAL).read_text()) == {"profile": "engineer"}
    assert any("Reading.base" in line for line in said)


def test_from_one_profile_to_another_the_links_fit_again(copy: Path) -> None:
    commit(copy, "as shipped")
    profiles.apply(str(copy), "minimal")
    profiles.apply(str(copy), "writer")
    home = (copy / "Home.md").read_text()
    assert "Work Dashboard.base" in home and "Brag Doc" not in home and (copy / "templates/Draft.md").exists()


def commit(root: Path, why: str) -> None:
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", why]):
        subprocess.run(["git", *words], cwd=root, check=True)


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts]


def test_every_name_in_a_profile_exists() -> None:
    shipped = inventory.shipped()
    names = {
        "folders": {folder for rel in shipped for folder in parents(rel)},
        "templates": {Path(rel).stem for rel in shipped if rel.startswith("templates/")},
        "bases": {Path(rel).stem for rel in shipped if rel.startswith("bases/")},
        "commands": {rel.split("/")[2] for rel in shipped if rel.startswith(".agents/skills/")},
        "agents": {Path(rel).stem for rel in shipped if rel.startswith(".claude/agents/")},
    }
    for name in profiles.available():
        for kind, kept in shelf.find(name).keep.items():
            assert set(kept) - {"*"} <= names[kind], (name, kind)


def parents(rel: str) -> list[str]:
    return [str(folder).replace("\\", "/") for folder in Path(rel).parents][:-1]


@pytest.mark.parametrize(
    "data",
    [[], {}, {"about": "x", "extra": 1}, {"about": "x", "keep": {"notes": []}}, {"about": "x", "add": {"a": "b"}}],
)
def test_a_profile_with_a_fault_is_refused_by_name(data: object) -> None:
    with pytest.raises(VaultError, match="the profile mine"):
        shelf.read("mine", data)
    with pytest.raises(VaultError, match="choose one of engineer"):
        profiles.find("nobody")


def test_pruning_takes_the_lines_that_lead_nowhere_and_the_headings_left_empty() -> None:
    text = "# A\n\n## Gone\n\n![[x.base#V]]\n\n## Kept\n\n- [[y]]\n- [[z]]\n- `a/b/`: text\n\n"
    text += "## Empty before\n\n## End\n\n[[z]]\n"
    resolver = Resolver(["x.base", "y.md", "z.md", "n.md"])
    pruned = pruning.prune(text, "n.md", resolver, {"x.base", "y.md"}, {"a/b/"})
    assert pruned == "# A\n\n## Kept\n\n- [[z]]\n\n## Empty before\n\n## End\n\n[[z]]\n"
