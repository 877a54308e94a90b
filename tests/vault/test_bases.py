"""The checker of .base files: it passes what Obsidian reads and names what it would choke on."""

from __future__ import annotations

import pytest

from vaultbridge.bases import check, expression
from vaultbridge.bases.checker import view_names

VIEW = "views:\n  - type: table\n    name: A\n"


def rules(text: str) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for finding in check("x.base", text)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "\ufeff" + VIEW,
        VIEW,
        "filters: file.hasTag('a')\n" + VIEW,
        "filters:\n  and:\n    - status == \"x\"\n    - or:\n        - a\n        - '!b'\n" + VIEW,
        'filters:\n  not:\n    - file.inFolder("templates")\n' + VIEW,
        'formulas:\n  a: 1 + 2\n  b: formula.a * 2\n  odd name: formula["a"]\n' + VIEW,
        VIEW + "    filters: formula.x\n" + 'formulas:\n  x: if(due, due < today() - "7d", false)\n',
        VIEW + "    order: [file.name, note.status, status, 'note[\"My prop\"]']\n    limit: 10\n",
        VIEW
        + "    sort:\n      - property: file.mtime\n        direction: DESC\n    groupBy:\n      property: status\n",
        "summaries:\n  own: values.mean()\n" + VIEW + "    summaries:\n      price: Average\n      rating: own\n",
        VIEW + "    cardSize: 200\n    unknownKey: {a: 1}\nanotherUnknown: 3\n",
    ],
)
def test_what_obsidian_reads_is_not_a_fault(text: str) -> None:
    assert rules(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("views: [\n", ("base-yaml", 2)),
        ("- a\n", ("base-shape", 1)),
        ("a: 1\na: 2\n", ("base-duplicate-key", 2)),
        ("filters:\n  and:\n    - a\n  or:\n    - b\n", ("base-filter", 2)),
        ("filters:\n  - a\n", ("base-filter", 2)),
        ("filters:\n  xor:\n    - a\n", ("base-filter", 2)),
        ("filters: a = 1\n", ("base-expression", 1)),
        ("filters: a & b\n", ("base-expression", 1)),
        ("filters: a ? b\n", ("base-expression", 1)),
        ("filters: (a\n", ("base-expression", 1)),
        ("filters: a b\n", ("base-expression", 1)),
        ("filters: 'status == \"x'\n", ("base-expression", 1)),
        ("filters: empty(x)\n", ("base-function", 1)),
        ("filters: status.contain(1)\n", ("base-function", 1)),
        ("filters: file.mtimes > 1\n", ("base-property", 1)),
        ("filters: formula.none\n", ("base-formula", 1)),
        ("formulas:\n  a: formula.b\n  b: formula.a\n", ("base-formula-circle", 2)),
        ("formulas:\n  a: formula.a\n", ("base-formula-circle", 2)),
        ("formulas: [a]\n", ("base-shape", 1)),
        ("properties:\n  formula.none:\n    displayName: x\n", ("base-formula", 3)),
        ("views: 3\n", ("base-shape", 1)),
        ("views:\n  - name: A\n", ("base-view-type", 2)),
        ("views:\n  - type: table\n", ("base-view-name", 2)),
        (VIEW + "  - type: table\n    name: A\n", ("base-view-name", 5)),
        ("views:\n  - type: table\n    name: 'All 1:1s'\n", ("base-view-name", 3)),
        (VIEW + "    limit: 0\n", ("base-limit", 4)),
        (VIEW + "    order: status\n", ("base-shape", 4)),
        (VIEW + "    order: [file.nope]\n", ("base-property", 4)),
        (VIEW + "    sort:\n      - column: status\n", ("base-old-sort", 5)),
        (VIEW + "    sort:\n      - property: a\n        direction: down\n", ("base-direction", 6)),
        (VIEW + "    groupBy:\n      - a\n", ("base-group", 5)),
        (VIEW + "    summaries:\n      price: Mean\n", ("base-summary", 5)),
    ],
)
def test_each_fault_is_found_at_its_line(text: str, found: tuple[str, int]) -> None:
    assert found in rules(text)


def test_a_fault_makes_no_second_message_about_the_same_place() -> None:
    assert len(rules("filters: empty(x)\n" + VIEW)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "a + b * -c % 2",
        "!a && !(b || c)",
        "\"quoted \\\" text\" + 'it\\'s'",
        "/a[/]b/.matches(file.name)",
        "a / b / c",
        "[1, 2, [3]].map(value * index).reduce(acc + value, 0)",
        'note["My prop"].lower()',
        'file.tags[0].contains("x")',
        "(now() - file.ctime).days.round(1)",
        '日付 == "x"',
    ],
)
def test_expressions_are_read_as_obsidian_reads_them(text: str) -> None:
    assert expression.names(text) is not None


def test_deep_nesting_is_refused_and_not_recursed_into() -> None:
    with pytest.raises(expression.Fault, match="nested too deeply"):
        expression.names("(" * 5000 + "1" + ")" * 5000)
    filters = "a"
    for _ in range(100):
        filters = f"{{and: [{filters}]}}"
    assert ("base-filter", 1) in rules(f"filters: {filters}\n")


def test_a_yaml_bomb_is_no_danger() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    assert ("base-filter", 1) in rules(bomb + "filters: {and: *a29}\n") or rules(bomb + "filters: {and: *a29}\n")


def test_the_views_a_note_can_embed_are_the_names_in_the_file() -> None:
    assert view_names("views:\n  - {type: table, name: One}\n  - {type: cards, name: Two}\n") == ["One", "Two"]
    assert view_names("views: [") == []
