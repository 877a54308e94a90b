"""Skills and agents: the specification, the mirrors, and that they name only what exists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vaultbridge import skills
from vaultbridge.skills.specification import Known
from vaultcore.errors import VaultError

GOOD = "---\nname: om-x\ndescription: Does x. Use when x is wanted.\n---\n\n# X\n\nDo it.\n"
AGENT = "---\nname: reader\ndescription: Reads.\ntools: Read, Grep\n---\n\nYou read.\n"
KNOWN = Known({"check": {"--json"}, "new": {"--json"}}, {"work-note"}, {"work/1-1/.gitkeep"}, ("memories/Review.md",))


def said(root: Path, text: str, name: str = "om-x") -> list[str]:
    path = root / f".agents/skills/{name}/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return [f"{f.rule}: {f.message}" for f in skills.check(str(root), KNOWN) if f.rule != "skill-mirror"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD, ""),
        (GOOD.replace("om-x", "om-y"), "the name is 'om-y'"),
        (GOOD.replace("om-x", "Om_X"), "must be lower-case"),
        (GOOD.replace("description", "descr"), "description must be text"),
        (GOOD.replace("Does x.", "x" * 1100), "description must be text"),
        (GOOD.replace("name:", "model: big\nname:"), "'model' is not part"),
        (GOOD.replace("name:", "license: MIT\nmetadata:\n  a: b\nallowed-tools: Read\nname:"), ""),
        (GOOD.replace("Does x.", "Does: x."), "quote values"),
        ("\ufeff" + GOOD, "byte order mark"),
        ("no block", "closed block of properties"),
        (GOOD.split("# X")[0], "no text below"),
        (GOOD + "Run !{rm -rf}", "replaced by a shell command"),
        (GOOD + "Call `python3 om.py check PATHS --json`.", ""),
        (GOOD + "Call `python3 om.py chekc`.", "om has no command 'chekc'"),
        (GOOD + "Call `python3 om.py check --fix`.", "om check has no option --fix"),
        (GOOD + 'Call `python3 om.py new work-note "A --b" --json`.', ""),
        (GOOD + 'Call `python3 om.py new workk-note "A"`.', "no note type 'workk-note'"),
        (GOOD + "See `om-x` and `work-note`.", ""),
        (GOOD + "See `om-none`.", "no skill or agent is named 'om-none'"),
        (GOOD + "Look in `work/1-1/` and `memories/Review.md`.", ""),
        (GOOD + "Look in `work/nowhere/`.", "there is no 'work/nowhere/'"),
    ],
)  # fmt: skip
def test_a_skill_is_held_to_the_portable_form_and_to_what_exists(
    vault: Callable[..., Path], text: str, expected: str
) -> None:
    found = said(vault(), text)
    assert (found == []) if not expected else any(expected in line for line in found), found


def test_building_mirrors_every_file_and_a_second_time_does_nothing(vault: Callable[..., Path]) -> None:
    root = vault(
        {
            ".agents/skills/om-x/SKILL.md": GOOD.replace("Do it.", 'Don\'t "quote" \\ me — ünïcode.'),
            ".agents/skills/om-x/references/more.md": "more",
            ".agents/skills/teach/SKILL.md": GOOD.replace("om-x", "teach"),
            ".claude/agents/reader.md": AGENT,
            ".claude/agents/writer.md": AGENT.replace("reader", "writer").replace("Grep", "Write"),
        }
    )
    written = skills.build(str(root))
    assert ".claude/skills/om-x/references/more.md" in written and ".gemini/commands/teach.toml" not in written
    assert skills.build(str(root)) == [] and skills.drift(str(root)) == []
    tomllib = pytest.importorskip("tomllib")
    command = tomllib.loads((root / ".gemini/commands/om-x.toml").read_text())
    assert 'Don\'t "quote" \\ me — ünïcode.' in command["prompt"]
    reader = tomllib.loads((root / ".codex/agents/reader.toml").read_text())
    assert reader["sandbox_mode"] == "read-only" and reader["developer_instructions"] == "You read.\n"
    assert "sandbox_mode" not in tomllib.loads((root / ".codex/agents/writer.toml").read_text())
    assert "- read_file\n  - grep_search\n" in (root / ".gemini/agents/reader.md").read_text()


def test_an_edited_mirror_is_reported_and_somebody_elses_file_is_left_alone(vault: Callable[..., Path]) -> None:
    root = vault({".agents/skills/om-x/SKILL.md": GOOD, ".claude/skills/mine/SKILL.md": "mine"})
    skills.build(str(root))
    (root / ".claude/skills/om-x/SKILL.md").write_text("edited")
    assert [f.path for f in skills.check(str(root))] == [".claude/skills/om-x/SKILL.md"]
    skills.build(str(root))
    assert (root / ".claude/skills/mine/SKILL.md").read_text() == "mine"


def test_a_broken_source_stops_the_build_with_its_name(vault: Callable[..., Path]) -> None:
    with pytest.raises(VaultError, match="om-x/SKILL.md"):
        skills.build(str(vault({".agents/skills/om-x/SKILL.md": "nothing"})))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (AGENT, ""),
        (AGENT.replace("Grep", "Grepp"), "no tool is named 'Grepp'"),
        (AGENT.replace("tools", "tool"), "not part of the form"),
    ],
)
def test_an_agent_is_held_to_its_form(vault: Callable[..., Path], text: str, expected: str) -> None:
    root = vault({".claude/agents/reader.md": text})
    found = [f.message for f in skills.check(str(root)) if f.rule != "skill-mirror"]
    assert (found == []) if not expected else any(expected in line for line in found)
