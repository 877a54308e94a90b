"""The shipped vault itself: whole, linked, covered, the same for every agent."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from tests.conftest import ROOT
from vaultbridge import bases, checks, profiles, skills, templates
from vaultbridge.checks import coverage
from vaultbridge.profiles import inventory
from vaultbridge.skills import mirror, source
from vaultcore import manifest, properties
from vaultcore.session import census, note_checks, settings


def tracked() -> list[str]:
    """What a release consists of: the files git tracks, not those that somebody's session left beside them."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    return [rel for rel in done.stdout.split("\0") if rel and (ROOT / rel).exists()] if done.returncode == 0 else []


FILES = tracked()
IN_USE = (ROOT / manifest.LOCAL).exists() or any(rel.startswith(".om/") for rel in FILES)
pytestmark = pytest.mark.skipif(IN_USE or not FILES, reason="this vault is in use: its notes are its owner's, not ours")
PARTS = (
    ".agents/",
    ".claude/",
    ".codex/",
    ".gemini/",
    ".obsidian/",
    "bases/",
    "templates/",
    *(f"{r}/" for r in inventory.ROOTS),
)
NOTES = [rel for rel in FILES if rel.endswith(".md") and not rel.startswith(".")]
READERS = {
    "brag-spotter", "context-loader", "correction-sweep", "cross-linker", "review-fact-checker", "review-prep",
    "slack-archaeologist", "vault-librarian",
}  # fmt: skip


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The vault as a person gets it, without the machinery."""
    root = tmp_path / "vault"
    for rel in FILES:
        if rel.startswith(PARTS) or "/" not in rel:
            (root / rel).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / rel, root / rel)
    return root


def test_there_is_nothing_to_mend_in_the_shipped_vault(copy: Path) -> None:
    assert [f.sentence() for f in checks.run(str(copy)).findings] == []


def test_checking_and_building_change_no_tracked_file(copy: Path) -> None:
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *arguments], cwd=copy, check=True)
    checks.run(str(copy))
    assert skills.build(str(copy)) == []
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=copy, capture_output=True, text=True, check=True)
    assert changed.stdout == ""


def test_every_shipped_file_belongs_to_somebody() -> None:
    assert coverage.uncovered(manifest.load(str(ROOT)), FILES) == []


def test_every_scaffold_note_exists_and_is_the_users() -> None:
    held = manifest.load(str(ROOT))
    assert [rel for rel in held.get("scaffold") if rel not in FILES] == []
    assert held.problems == []


def test_no_note_is_ours_by_accident() -> None:
    machinery = ("src/", "hooks/", "tests/", "bench/")
    assert [rel for rel in NOTES if rel.startswith(machinery)] == []
    known = {"AGENTS.md", "ARCHITECTURE.md", "CHANGELOG.md", "CLAUDE.md", "CONTRIBUTING.md", "Home.md", "README.md"}
    assert {rel for rel in NOTES if "/" not in rel} <= known


def test_a_clone_is_the_same_on_every_system() -> None:
    folded: dict[str, str] = {}
    for rel in FILES:
        assert not (ROOT / rel).is_symlink(), rel
        assert folded.setdefault(rel.casefold(), rel) == rel, (
            f"{rel} and {folded[rel.casefold()]} are one file elsewhere"
        )
        assert not set(rel) & set('<>:"|?*\\') and not any(part.endswith((".", " ")) for part in rel.split("/")), rel
        if rel.startswith(PARTS) or "/" not in rel:
            assert b"\r" not in (ROOT / rel).read_bytes(), rel


def test_every_description_fits_a_list() -> None:
    for rel in NOTES:
        if "/" in rel or rel == "Home.md":
            description = properties.read((ROOT / rel).read_text(encoding="utf-8")).values.get("description")
            assert isinstance(description, str) and 0 < len(description) <= 150, rel


def test_the_manual_is_one_page_that_every_agent_reads() -> None:
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8")) <= 12_000
    assert (ROOT / "CLAUDE.md").read_text(encoding="utf-8").strip() == "@AGENTS.md"
    gemini = json.loads((ROOT / ".gemini/settings.json").read_text(encoding="utf-8"))
    assert "AGENTS.md" in gemini["context"]["fileName"]


def test_the_manuals_commands_exist(copy: Path) -> None:
    from vaultbridge.checks import known
    from vaultbridge.checks.snapshot import Snapshot
    from vaultbridge.skills import specification

    snapshot = Snapshot(str(copy))
    text = (copy / "AGENTS.md").read_text(encoding="utf-8")
    manual = source.Source("AGENTS.md", "AGENTS", {}, text, 1)
    names = known.names(snapshot)
    assert list(specification.names_only_what_exists(str(ROOT), manual, names)) == []
    listed = [
        line.split("`")[1].split()[0] for line in text.split("## Before")[0].split("\n") if line.startswith("- `")
    ]
    assert listed and set(listed) <= set(names.commands or {})


def test_mirrors_and_the_inventory_are_up_to_date() -> None:
    assert skills.drift(str(ROOT)) == []
    assert inventory.survey(str(ROOT), FILES) == inventory.shipped()


def test_obsidian_finds_its_settings_as_it_writes_them() -> None:
    for path in sorted((ROOT / ".obsidian").glob("*.json")):
        text = path.read_text(encoding="utf-8")
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False), path.name


def test_what_is_no_note_is_hidden_in_obsidian_and_templates_are_not() -> None:
    filters = json.loads((ROOT / ".obsidian/app.json").read_text(encoding="utf-8"))["userIgnoreFilters"]
    tops = {rel.split("/")[0] + "/" for rel in FILES if rel.startswith(("src/", "hooks/", "tests/", "bench/"))}
    assert tops <= set(filters)
    pages = {rel for rel in NOTES if "/" not in rel and rel != "Home.md"}
    assert pages <= set(filters)
    assert not any("templates/x.md".startswith(entry) or "memories/x.md".startswith(entry) for entry in filters)


def test_every_base_passes_and_every_property_it_shows_has_a_type() -> None:
    for rel in FILES:
        if rel.endswith(".base"):
            assert bases.check(rel, (ROOT / rel).read_text(encoding="utf-8")) == []


def test_agents_that_read_cannot_write() -> None:
    seen = set()
    for rel in source.agent_files(str(ROOT)):
        agent = source.read(str(ROOT), rel)
        seen.add(agent.name)
        assert mirror.writes(agent) == (agent.name not in READERS), agent.name
        codex = (ROOT / f".codex/agents/{agent.name}.toml").read_text(encoding="utf-8")
        gemini = (ROOT / f".gemini/agents/{agent.name}.md").read_text(encoding="utf-8")
        if agent.name in READERS:
            assert 'sandbox_mode = "read-only"' in codex
            assert not any(tool in gemini for tool in ("- write_file", "- replace", "- run_shell_command"))
    assert READERS < seen


def test_command_files_are_valid_toml() -> None:
    tomllib = pytest.importorskip("tomllib")
    for rel in FILES:
        if rel.startswith(".gemini/commands/"):
            data = tomllib.loads((ROOT / rel).read_text(encoding="utf-8"))
            assert set(data) == {"description", "prompt"} and "{{args}}" in data["prompt"]
        if rel.startswith(".codex/agents/"):
            data = tomllib.loads((ROOT / rel).read_text(encoding="utf-8"))
            assert {"name", "description", "developer_instructions"} <= set(data)


def test_a_skill_says_when_it_writes_asks_and_refuses() -> None:
    for rel in source.skill_files(str(ROOT)):
        body = source.read(str(ROOT), rel).body
        if "/om-" in rel:
            for heading in ("## Steps", "## Writes", "## Ask first", "## Never"):
                assert heading in body, f"{rel} lacks {heading}"
            assert "Use " in source.read(str(ROOT), rel).head["description"], rel


@pytest.mark.parametrize("kind", templates.types(str(ROOT)), ids=lambda kind: str(kind.name))
def test_a_note_of_every_type_passes_the_checks(copy: Path, kind: templates.Kind) -> None:
    made = templates.plan(str(copy), kind, 'Retries: "why" they doubled', when=datetime(2026, 3, 4, 5, 6))
    templates.write(str(copy), made)
    assert made.remarks == []
    assert [f.sentence() for f in checks.run(str(copy), (made.rel,)).findings] == []
    if not made.rel.startswith("memories/"):  # a memory has gates of its own
        names, rules = census.Names(str(copy)), settings.load(str(copy))
        said = note_checks.check(str(copy), made.rel, rules, names)
        assert [finding.sentence() for finding in said if finding.code != "place"] == []
    values = properties.read((copy / made.rel).read_text(encoding="utf-8")).values
    assert values["date"] == "2026-03-04" and "{{" not in (copy / made.rel).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", profiles.available())
def test_a_vault_of_every_profile_is_whole(copy: Path, name: str) -> None:
    before = {f.rule for f in checks.run(str(copy)).findings}
    profiles.apply(str(copy), name)
    assert [f.sentence() for f in checks.run(str(copy)).findings if f.rule not in before] == []
    for kind in templates.types(str(copy)):
        made = templates.plan(str(copy), kind, f"Something {kind.name}", when=datetime(2026, 3, 4))
        templates.write(str(copy), made)
        assert made.remarks == [] and (copy / made.rel).exists()
    before |= {"name-twice"}  # some types put their notes into one folder
    assert [f.sentence() for f in checks.run(str(copy)).findings if f.rule not in before] == []
