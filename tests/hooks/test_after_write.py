"""After a write: what is wrong with the note, where, and nothing when all is well."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.running import GOOD, MANIFEST, hook, scan, write

HEAD = '---\ndate: 2026-11-01\ndescription: "What."\ntags: [note]\n---\n'
LINKED = "\nSee [[Home]].\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_good_note_gets_no_word(mark: str, ending: str, room: Callable[..., Path]) -> None:
    text = mark + GOOD.replace("\n", ending)
    root = room()
    (root / "org").mkdir()
    (root / "org/A.md").write_bytes(text.encode())
    given = {"file_path": str(root / "org/A.md")}
    assert hook("after_write", root, tool_name="Write", tool_input=given).out == ""


PROPERTIES: list[tuple[str, str]] = [
    ("no block at all\n", "line 1: no properties: the note must start with --- and say date, description, tags"),
    ("---\ndate: 2026-11-01\ntags: [a]\n---\n", "line 1: property description is missing"),
    ("---\nhashtags: x\nshort-description: y\nupdate: z\n---\n", "property date is missing"),
    ("---\ndate:\ndescription: x\ntags: [a]\n---\n", "property date is missing"),
    ('---\ndate: ""\ndescription: x\ntags: [a]\n---\n', "property date is empty"),
    (
        "---\ndate: 2026-02-30\ndescription: x\ntags: [a]\n---\n",
        'property date must be a date (2026-01-31), not "2026-02-30"',
    ),
    ("---\ndate: yesterday\ndescription: x\ntags: [a]\n---\n", "property date must be a date"),
    ("---\ndate: 2026-11-01\ndescription: [a]\ntags: [a]\n---\n", "property description must be text, not a list"),
    ("---\ndate: 2026-11-01\ndescription: x\ntags: 5\n---\n", "property tags must be a list, not 5"),
    ("---\ndate: 2026-11-01\ndescription: x\ntags: [incident]\n---\n", "property severity is missing"),
    ("---\ndate: 2026-11-01\ndescription: x\ntags: [a]\n", "properties"),
]


@pytest.mark.parametrize(("text", "said"), PROPERTIES)
def test_properties_are_judged_by_what_the_note_says(text: str, said: str, room: Callable[..., Path]) -> None:
    answer = write(room(), "org/A.md", text + LINKED)
    assert said in answer.context and answer.context.startswith("om checked what was just written\norg/A.md:\n- ")


@pytest.mark.parametrize(
    "text",
    [
        '---\ndate: 2026-11-01\ndescription: "a --- b"\ntags:\n  - x\n---\n',
        "---\ndate: 2026-11-01\ndescription: x\ntags: single\n---\n",
        "---\ntags: [a]\ndescription: 'it''s'\ndate: 2026-11-01 # day\n---\n",
        "---\ndate: 2026-11-01\ndescription: 5\ntags: [a]\n...\n",
    ],
)
def test_what_the_reader_reads_is_enough(text: str, room: Callable[..., Path]) -> None:
    assert write(room(), "org/A.md", text + LINKED).context == ""


def test_a_broken_link_comes_with_its_line_and_the_nearest_names(room: Callable[..., Path]) -> None:
    root = room({"org/people/Ada Lovelace.md": GOOD, "org/people/Ada Lovett.md": GOOD})
    scan(root)
    text = write(root, "org/A.md", HEAD + "\none\n\nwith [[Ada Lovelase]] and [[Home]]\n").context
    assert "- line 9: [[Ada Lovelase]] leads to no file; nearest: [[Ada Lovelace]]" in text and "Home" not in text


@pytest.mark.parametrize("counted", [True, False])
def test_links_resolve_as_in_obsidian_also_to_notes_made_a_moment_ago(counted: bool, room: Callable[..., Path]) -> None:
    root = room({"work/active/Atlas.md": GOOD, "pic.png": b"x", "org/Two.md": GOOD, "work/Two.md": GOOD})
    if counted:
        scan(root)
    (root / "new folder").mkdir()
    (root / "new folder/Just Made.md").write_text(GOOD)
    links = "[[atlas]] [[active/Atlas|a]] [[Atlas#A note]] ![[pic.png]] [[Two]] [[work/Two.md]] [[Just Made]]"
    links += " [t](../Home.md) [u](https://x.y)"
    assert write(root, "org/A.md", HEAD + links + "\n`[[no]]`\n```\n[[no]]\n```\n").context == ""


def test_a_name_that_is_gone_does_not_resolve_any_more(room: Callable[..., Path]) -> None:
    root = room({"org/Old.md": GOOD})
    scan(root)
    (root / "org/Old.md").unlink()
    assert "[[Old]] leads to no file" in write(root, "org/A.md", HEAD + "[[Old]] [[Home]]\n").context


@pytest.mark.parametrize("counted", [True, False])
def test_an_alias_counts_as_a_name(counted: bool, room: Callable[..., Path]) -> None:
    root = room({"org/Real.md": "---\naliases: ['Nick', \"a, b\"]\n---\n"})
    if counted:
        scan(root)
    assert write(root, "org/A.md", HEAD + "[[nick]] [[a, b]]\n").context == ""
    assert "[[Nack]] leads to no file" in write(root, "org/A.md", HEAD + "[[Nack]]\n").context


def test_a_heading_or_block_that_is_not_there_is_named(room: Callable[..., Path]) -> None:
    root = room({"org/Spec.md": "# Salt/Water\n\n## 2.3 Frame ^frame2\n\nA line. ^q7\n"})
    good = "## Local\n[[Spec#salt water]] [[Spec#Salt/Water#2.3 Frame]] [[Spec#^q7]] [[Spec#^frame2]] [[#Local]]\n"
    assert write(root, "org/A.md", HEAD + good).context == ""
    text = write(root, "org/A.md", HEAD + "[[Spec#^nope12]] [[Spec#Sugar]] [[#Gone]]\n").context
    assert "line 6: [[Spec#^nope12]]: Spec has no block ^nope12" in text
    assert "[[Spec#Sugar]]: Spec has no such heading" in text and "[[A#Gone]]: A has no such heading" in text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("See [[OPS-123]] and [[Home]].\n", "line 6: [[OPS-123]] is a ticket id, not a note"),
        ("Words. " * 40, "no link to any other note"),
        ("[[Home]] " + "word " * 6_000, "30 kB; from 25 kB on, split a note by subject"),
        ("[[Home]]\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "line 7: a merge conflict is not resolved"),
        (" ".join(f"[[gone {i}]]" for i in range(9)), "5 more links lead to no file"),
    ],
)
def test_other_faults_are_said_with_their_place(body: str, said: str, room: Callable[..., Path]) -> None:
    assert said in write(room(), "org/A.md", HEAD + body).context


@pytest.mark.parametrize(
    "rel",
    [
        "thinking/a.md",
        "templates/Note.md",
        "AGENTS.md",
        "README.md",
        ".claude/skills/x/SKILL.md",
        "a.txt",
        "memories/Review.md",
    ],
)
def test_what_is_nobodys_note_is_not_judged(rel: str, room: Callable[..., Path]) -> None:
    assert write(room(), rel, "no properties\n").out == ""


@pytest.mark.parametrize(
    "rel", ["rethinking/a.md", "my-templates/a.md", "work/active/README.md", "org/A.MD", "thinking.md"]
)
def test_a_name_that_only_resembles_an_exemption_is_judged(rel: str, room: Callable[..., Path]) -> None:
    assert "no properties" in write(room(name="thinking"), rel, "no properties\n").context


def test_what_lies_outside_the_vault_is_not_judged(room: Callable[..., Path], tmp_path: Path) -> None:
    root = room()
    for path in (tmp_path / "vaulting" / "a.md", tmp_path / "a.md"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
        assert hook("after_write", root, tool_name="Write", tool_input={"file_path": str(path)}).out == ""


def test_a_note_cut_in_the_middle_of_a_character_is_no_strange_encoding(room: Callable[..., Path]) -> None:
    root = room()
    for shift in range(3):
        text = write(
            root, "org/A.md", HEAD + "x" * shift + "[[Home]]\n" + "日本 " * 200_000, session_id=f"s{shift}"
        ).context
        assert "1400 kB" in text and "UTF-8" not in text


@pytest.mark.parametrize("size", [1, 3_000_000])
def test_a_note_of_any_size_gets_one_short_message(size: int, room: Callable[..., Path]) -> None:
    text = write(room(), "org/A.md", "[[x]]" * size).context
    assert "org/A.md" in text and len(text) < 3_000


def patch(*lines: str) -> dict[str, Any]:
    return {
        "tool_name": "apply_patch",
        "tool_input": {"command": "\n".join(["*** Begin Patch", *lines, "*** End Patch"])},
    }


def test_every_file_of_a_patch_is_checked_moves_and_deletes_included(room: Callable[..., Path]) -> None:
    root = room({f"org/{name}.md": "bare\n" for name in ("added one", "updated", "moved", "left")})
    (root / "org/left.md").unlink()
    given = patch(
        "*** Add File: org/added one.md", "+x", "*** Update File: org/updated.md", "@@", "-x", "+y",
        "*** Update File: org/was.md", "*** Move to: org/moved.md", "*** Delete File: org/left.md",
    )  # fmt: skip
    text = hook("after_write", root, "codex", **given).context
    assert [line for line in text.splitlines() if line.endswith(".md:")] == [
        "org/added one.md:", "org/updated.md:", "org/moved.md:"
    ]  # fmt: skip


def test_paths_of_a_patch_count_from_the_payloads_folder(room: Callable[..., Path]) -> None:
    root = room({"org/deep/a.md": "bare\n"})
    text = hook("after_write", root, "codex", cwd=str(root / "org"), **patch("*** Add File: deep/a.md", "+x")).context
    assert "org/deep/a.md:" in text


@pytest.mark.parametrize("field", ["file_path", "filePath", "path"])
@pytest.mark.parametrize("path", ["{root}/org/a.md", "org/a.md", "org/../org/a.md", "org//a.md"])
def test_any_tool_that_names_a_note_is_heard(path: str, field: str, room: Callable[..., Path]) -> None:
    root = room({"org/a.md": "bare\n"})
    given = {"tool_name": "something_new", "tool_input": {field: path.format(root=root)}}
    assert "org/a.md:" in hook("after_write", root, "gemini", **given).context


def test_a_cluster_and_a_size_are_news_once_the_rest_as_long_as_it_lasts(room: Callable[..., Path]) -> None:
    root = room(
        {f"work/active/Billing {what}.md": GOOD for what in ("retry", "ledger", "dunning", "refund", "invoice")}
    )
    (root / "work/active/Atlas one.md").write_text(GOOD)
    for i in range(8):
        (root / f"work/active/Other{i}.md").write_text(GOOD)
    bare = "bare [[Home]]\n" + "word " * 6_000
    first = write(root, "work/active/Billing retry.md", bare).context
    second = write(root, "work/active/Billing ledger.md", GOOD).context
    third = write(root, "work/active/Billing retry.md", bare + "x").context
    assert "5 loose notes in work/active are about billing" in first and "30 kB" in first
    assert second == ""
    assert "no properties" in third and "loose notes" not in third and "30 kB" not in third


def test_rules_of_the_older_form_ask_for_presence(room: Callable[..., Path]) -> None:
    rules = {"vault-manifest.json": json.dumps({"frontmatter_required": {"global": ["date", "owner"]}})}
    text = write(room(rules), "org/A.md", "---\ndate: x\n---\n[[Home]]\n").context
    assert "property date must be a date" in text and "property owner is missing" in text


def test_a_subfolder_of_the_vault_finds_the_vault(room: Callable[..., Path]) -> None:
    root = room()
    assert "no properties" in write(root, "org/deep/A.md", "x\n", cwd=str(root / "org" / "deep")).context


def test_hostile_names_stay_on_their_line(room: Callable[..., Path]) -> None:
    text = write(room(), "org/a\n## Goals <b>.md", MANIFEST + "[[x\u202ey]]").context
    assert "\n## " not in text and "<b>" not in text and "\u202e" not in text


def test_a_private_tag_in_the_text_is_said_to_withhold_nothing(room: Callable[..., Path]) -> None:
    root = room()
    said = "line 8: #private in the text never withholds a note: put `private` into the tags of its properties"
    assert said in write(root, "org/A.md", HEAD + "\n# Ada\n#private See [[Home]].\n").context
    assert write(root, "org/B.md", HEAD.replace("[note]", "[private]") + "\n#private [[Home]]\n").context == ""
    assert write(root, "org/C.md", HEAD + "\n`#private` and #privately [[Home]]\n").context == ""
