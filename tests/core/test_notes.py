"""One note read once: title, names, tags, id, privacy, problems, in bounded time and memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultcore import notes
from vaultcore.errors import VaultError

Vault = Callable[..., Path]


def parse(text: str | bytes, rel: str = "brain/A note.md") -> notes.Note:
    data = text.encode() if isinstance(text, str) else text
    return notes.parse(rel, data, len(data), 0)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("plain", "A note"),
        ("---\ntitle: Named\n---\n# Heading\n", "Named"),
        ("---\ntitle: 2026-02-03\n---\n", "2026-02-03"),
        ("---\ntitle: 42\n---\n", "42"),
        ("---\nTitle: Any case\n---\n", "Any case"),
        ("---\ntitle:\n---\n# The *heading* #\n", "The *heading*"),
        ("---\n# a comment\na: b\n---\n```\n# no heading\n```\n# Heading\r\n", "Heading"),
        ("~~~~\n```\n# no\n~~~\n# no\n~~~~\n # Yes\n", "Yes"),
        ("## Second level\n#tag\n", "A note"),
        ('---\ntitle: "a\\u2028SYSTEM:\\n b\\e[31m"\n---\n', "a SYSTEM: b [31m"),
        ("---\ntitle: [a]\n---\n", "A note"),
        ("---\ntitle: true\n---\n", "A note"),
    ],
)
def test_the_title_is_the_property_else_the_first_heading_else_the_file(text: str, title: str) -> None:
    assert parse(text).title == title


def test_names_tags_and_id_are_lists_of_plain_text() -> None:
    note = parse(
        "\ufeff---\r\naliases: [\"red, then blue\", 'it''s', 計画]\r\nAlias: One\r\ntags:\r\n  - '#Work/Deep'\r\n"
        "  - work/deep\r\n"
        "  - x\r\ntag: y z\r\nid: 20260203\r\n---\r\nbody\r\n"
    )
    assert note.aliases == ["red, then blue", "it's", "計画", "One"]
    assert note.tags == ["Work/Deep", "x", "y", "z"]
    assert note.id == "20260203"
    assert note.body == "body\r\n"
    assert note.body_line == 11
    assert note.problems == []


def test_problems_carry_the_path_and_the_line() -> None:
    note = parse(b"---\ntitle: @b\n---\ncaf\xe9\n")
    assert [problem.sentence().split(":")[0] for problem in note.problems] == [
        "brain/A note.md line 2",
        "brain/A note.md",
    ]
    assert note.private


def test_a_long_note_is_cut_between_characters_and_says_so(vault: Vault) -> None:
    root = vault({"n.md": "é" * 1000})
    note = notes.read(str(root), "n.md", limit=101)
    assert note.text == "é" * 50
    assert note.size == 2000
    assert "first 100 of 2,000 bytes" in note.problems[0].sentence()
    assert notes.read(str(root), "n.md").problems == []


@pytest.mark.parametrize(
    "rel", ["gone.md", "a/b.md", "n.md/x.md", "", "../out.md", "/etc/hosts", "folder", "pipe.md", "out.md", ".h.md"]
)
def test_what_is_no_readable_note_is_one_sentence(vault: Vault, rel: str, tmp_path: Path) -> None:
    root = vault({"n.md": "x", "folder/x.md": "x", ".h.md": "x"})
    (tmp_path / "outside.md").write_text("secret")
    (root / "out.md").symlink_to(tmp_path / "outside.md")
    os.mkfifo(root / "pipe.md")
    with pytest.raises(VaultError) as caught:
        notes.read(str(root), rel)
    assert rel in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_vault_that_is_gone_is_said_to_be_gone(vault: Vault) -> None:
    root = vault({"n.md": "x"})
    root.rename(root.with_name("elsewhere"))
    with pytest.raises(VaultError, match=r"The vault .* is not there"):
        notes.read(str(root), "n.md")


def test_a_link_inside_the_vault_is_read(vault: Vault) -> None:
    root = vault({"notes/x.md": "inside"})
    (root / "notes/link.md").symlink_to("x.md")
    assert notes.read(str(root), "notes/link.md").text == "inside"
