"""`om check`: each rule finds its fault and leaves its neighbour alone; three vaults of other people's making."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import write_tree
from vaultbridge import checks
from vaultcore.errors import VaultError

HERE = Path(__file__).parent
GOOD = "---\ndate: 2026-01-02\ndescription: x\ntags: [note]\n---\n"
REQUIRED = json.dumps(
    {
        "frontmatter_required": {
            "*": {"date": "date", "description": "text", "tags": "list"},
            "decision": ["status"],
            "work/": {"project": "text"},
        }
    }
)
TYPES = json.dumps({"types": {"due": "date", "rating": "number", "done": "checkbox", "projects": "multitext"}})


def found(root: Path, *paths: str, level: str = "") -> list[tuple[str, str, int]]:
    outcome = checks.run(str(root), paths)
    return [(f.rule, f.path, f.line) for f in outcome.findings if not level or f.level == level]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.md": "[[Nobody]] [[b]]", "b.md": ""}, [("link-unwritten", "a.md", 1)]),
        ({"a.md": "x\n[[Payment retrys]]", "Payment retries.md": "[[a]]"}, [("link-broken", "a.md", 2)]),
        ({"a.md": "![[gone.png]]"}, [("link-broken", "a.md", 1), ("orphan", "a.md", 0)]),
        ({"a.md": "[x](gone.md) [[b]]", "b.md": ""}, [("link-broken", "a.md", 1)]),
        ({"a.md": "[[Short]]", "Long.md": "---\naliases: [Short]\n---\n"}, [("link-alias", "a.md", 1)]),
        ({"a.md": "[[b#Two]]", "b.md": "# One\n"}, [("link-heading", "a.md", 1)]),
        ({"a.md": "[[b#^two]]", "b.md": "text ^one\n"}, [("link-block", "a.md", 1)]),
        (
            {"a.md": "[[b]] ![[x.base#Two]]", "b.md": "", "x.base": "views: [{type: table, name: One}]"},
            [("link-view", "a.md", 1)],
        ),
        ({"a.md": "[[b]]", "b.md": "", "c.md": "alone"}, [("orphan", "c.md", 0)]),
        ({"x/n.md": "[[b]]", "y/n.md": "[[b]]", "b.md": ""}, [("name-twice", "x/n.md", 0)]),
        (
            {"x/n.md": "[[b]]", "y/n.md": "[[b]]", "b.md": "", "c.md": "[[n]]"},
            [("name-unclear", "x/n.md", 0)],
        ),
        ({"a.md": "---\naliases: [b]\n---\n[[b]]", "b.md": ""}, [("name-twice", "b.md", 0)]),
        ({"a.md": "---\ntag: x\n---\n[[b]]", "b.md": ""}, [("property-old", "a.md", 2)]),
        ({"a.md": "---\ntags: 'x, y'\n---\n[[b]]", "b.md": ""}, [("tag-form", "a.md", 1)]),
        ({"a.md": "---\ntags: [2026]\n---\n[[b]]", "b.md": ""}, [("tag-form", "a.md", 1)]),
        (
            {"a.md": "---\nx: {y: 1}\nz:\n  q: 1\n---\n[[b]]", "b.md": ""},
            [("property-nested", "a.md", 2), ("property-nested", "a.md", 3)],
        ),
        (
            {
                "a.md": "---\nn: 1\ndue: soon\nrating: five\ndone: yes please\n---\n[[b]]",
                "b.md": "",
                ".obsidian/types.json": TYPES,
            },
            [("property-type", "a.md", 3), ("property-type", "a.md", 4), ("property-type", "a.md", 5)],
        ),
        ({"a.md": "[[b]]\n<<<<<<< mine\nx\n=======\ny\n>>>>>>> theirs\n", "b.md": ""}, [("merge-marks", "a.md", 2)]),
        (
            {"a.md": "[[b]]", "b.md": "", "b (conflicted copy 2026-01-01).md": ""},
            [("conflict-copy", "b (conflicted copy 2026-01-01).md", 0)],
        ),
        ({"x.base": "filters: empty(x)"}, [("base-function", "x.base", 1)]),
        ({"x.canvas": "{"}, [("canvas-form", "x.canvas", 1)]),
        (
            {"x.canvas": '{"nodes":[{"id":"a","type":"file","file":"gone.md","x":0,"y":0,"width":1,"height":1}]}'},
            [("canvas-file", "x.canvas", 0)],
        ),
        (
            {"x.canvas": '{"nodes":[],"edges":[{"id":"e","fromNode":"a","toNode":"b"}]}'},
            [("canvas-edge", "x.canvas", 0)] * 1,
        ),
        ({"templates/T.md": "---\ndate: {{date}}\n---\n"}, [("template-quotes", "templates/T.md", 2)]),
        ({"vault-manifest.json": '{"nope": 1}'}, [("manifest", "vault-manifest.json", 1)]),
        (
            {
                "vault-manifest.json": '{"template": "om-vault", "user_content_roots": ["a/"], '
                '"infrastructure": ["vault-manifest.json"]}',
                "b/x.txt": "",
            },
            [("manifest-coverage", "b/x.txt", 0)],
        ),
        (
            {
                "vault-manifest.json": '{"template": "adopted", "user_content_roots": ["a"]}',
                "LICENSE": "",
                ".obsidian/app.json": "{}",
            },
            [],
        ),
        ({"a.md": "[[b]]\n\nnot for others #Private", "b.md": ""}, [("private-in-text", "a.md", 3)]),
        ({"a.md": "---\ntags: [x]\n---\n#private/me [[b]]", "b.md": ""}, [("private-in-text", "a.md", 4)]),
        ({"a.md": "---\ntags: [private]\n---\n#private [[b]]", "b.md": ""}, []),
        ({"a.md": "---\nprivate: true\n---\n#private [[b]]", "b.md": ""}, []),
        ({"a.md": "`#private` #privateer #private-ish [[b]]", "b.md": ""}, []),
    ],
)
def test_each_rule_finds_its_fault(
    vault: Callable[..., Path], files: dict[str, str], expected: list[tuple[str, str, int]]
) -> None:
    assert sorted(set(found(vault(files)))) == sorted(set(expected))


@pytest.mark.parametrize(
    "files",
    [
        {
            "a.md": "[[B]] [[b|shown]] [[/b]] [[b.md]] [[b#One]] [[b#^x]] [c](b.md#one) [[#Here]]\n# Here",
            "b.md": "# One\ntext ^x",
        },
        {"a.md": "`[[code]]` %%[[comment]]%%\n```\n[[fence]]\n```\n[[b]]", "b.md": ""},
        {"a.md": "[site](https://example.org) [mail](mailto:a@b) [folder](sub/) [[b]]", "b.md": "", "sub/x.txt": ""},
        {"a.md": "[x](b.md#my-anchor)", "b.md": '<a id="my-anchor"></a>'},
        {"a.md": "[x](b.md#two-words-1)", "b.md": "# Two words\n# Two words"},
        {"a.md": "[x](b.md#id)", "b.md": "# Heading ## {: #id }"},
        {"a/README.md": "", "b/README.md": ""},
        {"a.md": "[[b]]\n```\n<<<<<<< mine\n=======\n>>>>>>> theirs\n```\n", "b.md": ""},
        {
            "a.md": "---\ndue: 2026-01-02\nrating: 3\ndone: true\nprojects: one\n---\n[[b]]",
            "b.md": "",
            ".obsidian/types.json": TYPES,
        },
        {"templates/T.md": '---\ndate: "{{date}}"\ntags: [{{x}}]\n---\n'.replace("[{{x}}]", "[x]")},
        {"vault-manifest.json": '{"infrastructure": ["README.md"]}', "README.md": "[[Example]] and [[Other]]"},
        {"x.canvas": ""},
    ],
)
def test_what_is_right_is_left_alone(vault: Callable[..., Path], files: dict[str, str]) -> None:
    assert found(vault(files)) == []


@pytest.mark.parametrize(
    ("rel", "text", "expected"),
    [
        ("a.md", GOOD, []),
        ("a.md", "no properties", [("property-missing", 1)]),
        ("a.md", "---\ndate: 2026-01-02\ndescription:\ntags: []\n---\n", [("property-missing", 1)]),
        ("a.md", GOOD.replace("2026-01-02", "tomorrow"), [("property-type", 2)]),
        ("a.md", GOOD.replace("2026-01-02", "2026-13-02"), [("property-type", 2)]),
        ("a.md", GOOD.replace("x", "y" * 151), [("description-long", 3)]),
        ("a.md", GOOD.replace("[note]", "[decision]"), [("property-missing", 1)]),
        ("a.md", GOOD.replace("[note]", "[decision]\nstatus: open"), []),
        ("work/a.md", GOOD, [("property-missing", 1)]),
        ("work/a.md", GOOD.replace("x", "x\nproject: p"), []),
        ("a.md", GOOD + "#decision in the text is no kind", []),
    ],
)
def test_properties_are_required_by_kind_and_folder(
    vault: Callable[..., Path], rel: str, text: str, expected: list[tuple[str, int]]
) -> None:
    root = vault({"vault-manifest.json": REQUIRED, rel: text + "[[other]]", "other.md": GOOD})
    assert [(rule, line) for rule, path, line in found(root) if path == rel] == expected


def test_template_code_left_in_a_note_is_said_once_and_in_a_template_not_at_all(vault: Callable[..., Path]) -> None:
    pasted = "---\ndate: {{date}}\ncreated: <% tp.date.now() %>\n---\n[[b]]"
    root = vault({"notes/pasted.md": pasted, "templates/daily.md": pasted, "b.md": ""})
    said = [f for f in checks.run(str(root)).findings if f.rule == "property-form"]
    assert {f.path for f in said} == {"notes/pasted.md"}
    assert any("template" in f.message or "placeholder" in f.message for f in said)


def test_paths_and_names_narrow_the_report(vault: Callable[..., Path]) -> None:
    root = vault({"a/x.md": "[[none]]", "b/y.md": "[[none]]"})
    assert {path for _, path, _ in found(root, "a")} == {"a/x.md"}
    assert {path for _, path, _ in found(root, "y")} == {"b/y.md"}
    with pytest.raises(VaultError, match="not in the vault"):
        found(root, "zzz")


def test_a_check_changes_nothing(vault: Callable[..., Path]) -> None:
    root = vault({"a.md": "[[none]]\r\n", "b.base": "filters: empty(x)"})
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    found(root)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_an_empty_vault_and_a_broken_manifest_are_checked_all_the_same(tmp_path: Path) -> None:
    assert found(write_tree(tmp_path / "empty", {"x.txt": ""})) == []
    broken = write_tree(tmp_path / "broken", {"vault-manifest.json": "{oops", "a.md": "[[none]]"})
    assert {rule for rule, _, _ in found(broken)} >= {"manifest", "link-unwritten"}


def test_a_published_vault_gets_only_findings_its_owner_would_agree_with(tmp_path: Path) -> None:
    with zipfile.ZipFile(HERE / "kepano.zip") as archive:  # kepano/kepano-obsidian, MIT, its licence inside
        archive.extractall(tmp_path)
    findings = checks.run(str(tmp_path / "kepano")).findings
    count: dict[str, int] = {}
    for finding in findings:
        count[finding.rule] = count.get(finding.rule, 0) + 1
    assert count.pop("base-old-sort") == 12  # entries from before Obsidian 1.9.2
    assert count.pop("base-function") == 2  # not(empty(x))
    assert count.pop("property-type") == 1  # a link where dates are
    assert count.pop("template-quotes") == 28
    assert [f.message for f in findings if f.rule == "link-broken"] == ["[[out-of-control.jpg]] leads to no file"]
    assert set(count) == {"link-broken", "link-unwritten"}
