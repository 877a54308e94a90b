"""Notes from templates: placeholders, names, folders, indexes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from vaultbridge import templates
from vaultbridge.templates.creation import choose_values
from vaultcore import properties
from vaultcore.errors import Refusal, VaultError

WHEN = datetime(2026, 3, 4, 15, 6)
TEMPLATE = '---\ndate: "{{date}}"\ntitle: "{{title}}"\ntags: [x]\ndue:\n---\n# {{title}}\n'
MANIFEST = '{"note_types": {"thing": {"template": "Thing", "folder": "things", "index": "Index.md#List"}}}'


def make(root: Path, title: str, kind: str = "thing", **options: object) -> templates.Plan:
    made = templates.plan(str(root), templates.find(str(root), kind), title, when=WHEN, **options)  # type: ignore[arg-type]
    templates.write(str(root), made)
    return made


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{title}} {{date}} {{time}}", "T 2026-03-04 15:06"),
        ("{{date:YYYY}}-Q{{date:Q}} {{date:dddd, MMMM Do}}", "2026-Q1 Wednesday, March 4th"),
        ("{{date:[week] WW}} {{time:h:mm a}}", "week 10 3:06 pm"),
        ("{{ title }} {{TITLE}} {{other}} <% tp %>", "T T {{other}} <% tp %>"),
    ],
)
def test_placeholders_are_filled_as_obsidian_fills_them(text: str, filled: str) -> None:
    assert templates.fill(text, "T", WHEN) == filled


def test_a_date_in_the_properties_loses_the_quotes_that_the_placeholder_needed() -> None:
    form = '---\ndate: "{{date}}"\nat: "{{date}}T{{time}}"\nq: "{{date:YYYY}}"\n---\n"{{date}}"'
    wanted = '---\ndate: 2026-03-04\nat: 2026-03-04T15:06\nq: "2026"\n---\n"2026-03-04"'
    assert templates.fill(form, "T", WHEN) == wanted


def test_a_title_with_quotes_stays_a_valid_property(vault: Callable[..., Path]) -> None:
    root = vault({"vault-manifest.json": MANIFEST, "templates/Thing.md": TEMPLATE})
    made = make(root, 'The "quoted" \\ one')
    values = properties.read((root / made.rel).read_text()).values
    assert made.rel == "things/The quoted one.md"
    assert values["title"] == "The quoted one" and values["aliases"] == ['The "quoted" \\ one']


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("## List\n\n-\n\n## Next\n", "## List\n\n- [[New]]\n\n## Next\n"),
        ("## List\n\n- [[Old]]\n\n## Next\n", "## List\n\n- [[Old]]\n- [[New]]\n\n## Next\n"),
        ("## List\n\n## Next\n", "## List\n\n- [[New]]\n\n## Next\n"),
        ("## List", "## List\n- [[New]]"),
        ("## List\r\n\r\n- [[Old]]\r\n", "## List\r\n\r\n- [[Old]]\r\n- [[New]]\r\n"),
        ("## List\ntext\n", "## List\ntext\n\n- [[New]]\n"),
    ],
)
def test_the_index_gets_one_line_and_keeps_every_other_byte(
    vault: Callable[..., Path], index: str, expected: str
) -> None:
    root = vault({"vault-manifest.json": MANIFEST, "templates/Thing.md": TEMPLATE, "Index.md": index})
    assert make(root, "New").remarks == []
    assert (root / "Index.md").read_bytes().decode() == expected


def test_a_missing_index_is_said_and_the_note_is_made(vault: Callable[..., Path]) -> None:
    root = vault({"vault-manifest.json": MANIFEST, "templates/Thing.md": TEMPLATE})
    made = make(root, "New")
    assert "no note Index.md" in made.remarks[0] and (root / "things/New.md").exists()
    with pytest.raises(VaultError, match="no note Nowhere.md"):
        make(root, "Other", link="Nowhere")


def test_nothing_is_overwritten_and_nothing_leaves_the_vault(vault: Callable[..., Path]) -> None:
    root = vault({"vault-manifest.json": MANIFEST, "templates/Thing.md": TEMPLATE, "things/Old.md": "mine"})
    with pytest.raises(Refusal, match="exists already"):
        make(root, "Old")
    for folder in ("../out", ".git", "/tmp"):
        if folder != "/tmp":
            with pytest.raises(VaultError):
                make(root, "New", folder=folder)
    assert (root / "things/Old.md").read_text() == "mine"
    with pytest.raises(VaultError, match="gives no file name"):
        make(root, "///")
    assert make(root, "../../etc/passwd").rel == "things/etc passwd.md"


def test_types_come_from_the_manifest_and_from_every_other_template(vault: Callable[..., Path]) -> None:
    root = vault(
        {
            "vault-manifest.json": MANIFEST,
            ".obsidian/templates.json": '{"folder": "forms", "dateFormat": "DD.MM.YYYY"}',
            "forms/Thing.md": TEMPLATE,
            "forms/My Recipe.md": "{{date}}",
        }
    )
    assert [kind.name for kind in templates.types(str(root))] == ["my-recipe", "thing"]
    made = make(root, "Soup", "My Recipe")
    assert made.rel == "inbox/Soup.md" and (root / made.rel).read_text() == "04.03.2026"
    with pytest.raises(VaultError, match="did you mean thing"):
        templates.find(str(root), "thng")


def test_a_conversation_with_somebody_who_has_a_note_links_to_it(vault: Callable[..., Path]) -> None:
    manifest = '{"note_types": {"1-1": {"template": "1-1", "folder": "t", "dated": true}}}'
    form = '---\nperson: "{{title}}"\n---\n'
    root = vault({"vault-manifest.json": manifest, "templates/1-1.md": form, "people/Ada.md": ""})
    assert properties.read((root / make(root, "Ada", "1-1").rel).read_text()).values["person"] == "[[Ada]]"
    assert properties.read((root / make(root, "Bo", "1-1").rel).read_text()).values["person"] == "Bo"
    assert (root / "t/2026-03-04 Ada.md").exists()


def test_values_from_the_command_line_follow_the_property_types(vault: Callable[..., Path]) -> None:
    types = '{"types": {"projects": "multitext", "rating": "number", "private": "checkbox"}}'
    root = vault({".obsidian/types.json": types})
    pairs = ("projects=a, b", "rating=4", "private=true", "status=on hold: x")
    assert choose_values(str(root), pairs) == {
        "projects": ["a", "b"],
        "rating": 4,
        "private": True,
        "status": "on hold: x",
    }
    with pytest.raises(VaultError, match="must be a number"):
        choose_values(str(root), ("rating=five",))
    with pytest.raises(VaultError, match="not NAME=VALUE"):
        choose_values(str(root), ("rating",))
