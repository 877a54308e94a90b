"""Configuration edited in place: one entry goes in and out, every other byte stays."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbridge.registration import jsonc, section, tomltext
from vaultbridge.registration.files import Patch
from vaultbridge.registration.triggers import phrase

KEY = ("mcpServers", "om")
ENTRY = {"command": "python3", "args": ["om.py", "serve"]}
needs_tomllib = pytest.mark.skipif(sys.version_info < (3, 11), reason="no tomllib to check TOML with")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "om": 1\n  }\n}\n'),
        ("{}", '{\n  "mcpServers": {\n    "om": 1\n  }\n}'),
        ('{"a": 1}', '{"a": 1, "mcpServers": {"om": 1}}'),
        ('{"a": 1,}', '{"a": 1, "mcpServers": {"om": 1}}'),
        ('{"mcpServers": {"x": 2}}', '{"mcpServers": {"x": 2, "om": 1}}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"om": 1\n\t}\n}\n'),
        (
            '{\n    // why\n    "mcpServers": {\n        "x": 2, // last\n    }\n}',
            '{\n    // why\n    "mcpServers": {\n        "x": 2, // last\n        "om": 1\n    }\n}',
        ),
        (
            '{\n  "mcpServers": {\n    "x": 2 // last\n    /* end */\n  }\n}',
            '{\n  "mcpServers": {\n    "x": 2, // last\n    /* end */\n    "om": 1\n  }\n}',
        ),
        ('{\r\n  "a": 1\r\n}', '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "om": 1\r\n  }\r\n}'),
        ('{"mcpServers": {"om": 2, "y": 3}}', '{"mcpServers": {"om": 1, "y": 3}}'),
        ("// only a comment\n", '// only a comment\n{\n  "mcpServers": {\n    "om": 1\n  }\n}\n'),
        ('{ // c\n}', '{ // c\n  "mcpServers": {\n    "om": 1\n  }\n}'),
    ],
)  # fmt: skip
def test_an_entry_goes_into_json_in_the_style_it_finds(before: str, after: str) -> None:
    out = jsonc.put(before, KEY, 1)
    assert out == after
    assert jsonc.get(out, KEY) == 1
    assert jsonc.put(out, KEY, 1) == out


@pytest.mark.parametrize(
    "text",
    ['{"a": }', "[1", "{", '{"a": 1} x', '{"a": 01}', '{"a": "\n"}', "/* open", '{"mcpServers": []}', '{"a" 1}', "nope",
     '{"mcpServers": {"om": 1}', '{,}', '{"mcpServers": "x"}', "[" * 500 + "]" * 500],
)  # fmt: skip
def test_what_is_no_suitable_json_is_refused(text: str) -> None:
    with pytest.raises(jsonc.Malformed):
        jsonc.put(text, KEY, ENTRY)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"mcpServers": {"om": 1}}', '{"mcpServers": {}}'),
        ('{"mcpServers": {"om": 1, "x": 2}}', '{"mcpServers": {"x": 2}}'),
        ('{"mcpServers": {"x": 2, "om": 1}}', '{"mcpServers": {"x": 2}}'),
        (
            '{\n  "mcpServers": {\n    "x": 2, // keep\n    "om": {\n      "a": 1\n    }\n  }\n}\n',
            '{\n  "mcpServers": {\n    "x": 2 // keep\n  }\n}\n',
        ),
        ('{"mcpServers": {"x": 2}}', '{"mcpServers": {"x": 2}}'),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_an_entry_goes_out_of_json(before: str, after: str) -> None:
    assert jsonc.remove(before, KEY) == after


def plain(depth: int) -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | objects(inner), max_leaves=depth)


def objects(values: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    keys = st.text(max_size=4) | st.sampled_from(["om", "mcpServers", "x"])
    return st.dictionaries(keys, values, max_size=4)


LAYOUTS = st.sampled_from([None, 2, 4, "\t"])


@given(document=objects(plain(6)), servers=st.none() | objects(plain(3)), indent=LAYOUTS, crlf=st.booleans(),
       comment=st.sampled_from(["", "// c\n", "/* {\" */ "]), ascii_only=st.booleans())  # fmt: skip
def test_json_keeps_every_other_value_and_reads_back(
    document: dict[str, object], servers: dict[str, object] | None, indent: object, crlf: bool, comment: str,
    ascii_only: bool,
) -> None:  # fmt: skip
    document = {**{key: value for key, value in document.items() if key != "mcpServers"}}
    if servers is not None:
        document["mcpServers"] = servers
    text = comment + json.dumps(document, indent=indent, ensure_ascii=ascii_only)  # type: ignore[arg-type]
    text = text.replace("\n", "\r\n") if crlf else text
    out = jsonc.put(text, KEY, ENTRY)
    wanted = {**document, "mcpServers": {**(servers or {}), "om": ENTRY}}
    tree = jsonc.parse(out)
    assert tree is not None and tree.plain() == wanted
    back = jsonc.parse(jsonc.remove(out, KEY))
    rest = {**document, "mcpServers": {key: value for key, value in (servers or {}).items() if key != "om"}}
    assert back is not None and back.plain() == rest
    assert Patch.between(text.encode("utf-8", "surrogatepass"), out.encode("utf-8", "surrogatepass")).back(
        out.encode("utf-8", "surrogatepass")
    ) == text.encode("utf-8", "surrogatepass")


TABLE = ("mcp_servers", "om")
LINES = ['command = "python3"', 'args = ["om.py", "serve"]']
OURS = '[mcp_servers.om]\ncommand = "python3"\nargs = ["om.py", "serve"]\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", OURS),
        ("a = 1\n", "a = 1\n\n" + OURS),
        ("a = 1", "a = 1\n\n" + OURS),
        ("a = 1\n\n", "a = 1\n\n" + OURS),
        ("a = 1\r\n", ("a = 1\n\n" + OURS).replace("\n", "\r\n")),
        ("[mcp_servers.om]\ncommand = 'x'\n# c\n\n[b]\nc = 1\n", OURS + "# c\n\n[b]\nc = 1\n"),
        ('[mcp_servers.om]\ncommand = "x"\nenabled = true\n', OURS + "enabled = true\n"),
        (
            '[mcp_servers."om"]\ncommand = "x"\n[mcp_servers.om.tools.remember]\napproval_mode = "approve"\n[b]\n',
            OURS + '[mcp_servers.om.tools.remember]\napproval_mode = "approve"\n[b]\n',
        ),
        (
            'x = """\n[mcp_servers.om]\n"""\ny = [\n  "[z]", # ]\n]\n',
            'x = """\n[mcp_servers.om]\n"""\ny = [\n  "[z]", # ]\n]\n\n' + OURS,
        ),
        ("[mcp_servers]\n[mcp_servers.x]\ncommand = 'y'\n", "[mcp_servers]\n[mcp_servers.x]\ncommand = 'y'\n\n" + OURS),
    ],
)
def test_a_table_goes_into_toml_and_everything_else_stays(before: str, after: str) -> None:
    assert tomltext.put(before, TABLE, LINES) == after
    assert tomltext.put(after, TABLE, LINES) == after


@needs_tomllib
@pytest.mark.parametrize(
    "text",
    ["a = ", "mcp_servers = {}", "mcp_servers = { x = 1 }", "[mcp_servers]\nom = 1\n", "mcp_servers.om.command = 'x'\n",
     "[[mcp_servers]]\n", "\x00", "[a\n"],
)  # fmt: skip
def test_toml_that_cannot_take_the_table_is_refused(text: str) -> None:
    with pytest.raises(tomltext.Malformed):
        tomltext.put(text, TABLE, LINES)


@pytest.mark.parametrize("text", ["", "a = 1\n", "# c\na = 1\n\n[b]\nc = '''\n[mcp_servers.om]\n'''\n", "a = 1\r\n"])
def test_a_table_goes_out_of_toml(text: str) -> None:
    assert tomltext.remove(tomltext.put(text, TABLE, LINES), TABLE) == text


@pytest.mark.parametrize(
    ("text", "suits"),
    [("", True), ("a = 1\n[b]\n", True), ("[mcp_servers.x]\ncommand = 'y'\n", True), ("mcp_servers = {}\n", False),
     ("mcp_servers.om.command = 'x'\n", False), ("[mcp_servers]\nom = {}\n", False)],
)  # fmt: skip
def test_without_tomllib_only_plain_tables_are_touched(monkeypatch: pytest.MonkeyPatch, text: str, suits: bool) -> None:
    monkeypatch.setitem(sys.modules, "tomllib", None)
    monkeypatch.setitem(sys.modules, "tomli", None)
    if suits:
        assert tomltext.remove(tomltext.put(text, TABLE, LINES), TABLE) == text
    else:
        with pytest.raises(tomltext.Malformed):
            tomltext.put(text, TABLE, LINES)


def test_a_table_between_others_goes_out_with_its_sub_tables() -> None:
    text = "[a]\nx = 1\n\n" + OURS + "[mcp_servers.om.env]\nA = 'b'\n\n# about c\n[c]\ny = 2\n"
    assert tomltext.remove(text, TABLE) == "[a]\nx = 1\n\n# about c\n[c]\ny = 2\n"


def test_a_section_is_twelve_lines_between_markers_and_keeps_its_triggers() -> None:
    text = section.put("# Rules\n", "/nowhere", [f"trigger {n}" for n in range(7)])
    inner = text.split(section.START)[1].split(section.END)[0].strip("\n").split("\n")
    assert len(inner) <= 12 and sum(line.startswith("- ") for line in inner) == 5
    assert text.startswith("# Rules\n\n<!-- om-vault:start -->\n") and text.endswith("<!-- om-vault:end -->\n")
    assert section.put(text, "/nowhere", []) == text
    assert "- other" in section.put(text, "/nowhere", ["other"])


@pytest.mark.parametrize("text", ["", "# A\n", "# A", "# A\r\n\r\ntext\r\n", "a\n\n\n", "\ufeffx\n"])
def test_a_section_goes_out_again(text: str) -> None:
    written = section.put(text, "/nowhere", ["x"])
    assert section.remove(written).rstrip() == text.rstrip()
    assert section.remove(text) == text


@given(before=st.binary(max_size=60), after=st.binary(max_size=60), tail=st.binary(max_size=10))
def test_a_patch_leads_back_exactly(before: bytes, after: bytes, tail: bytes) -> None:
    patch = Patch.from_json(Patch.between(before, after).to_json())
    assert patch.back(after) == before


def test_a_patch_keeps_only_what_differs() -> None:
    before = b'{"secret": "s3cr3t",\n "x": 1}'
    patch = Patch.between(before, before.replace(b"1}", b"1, 2}"))
    assert b"s3cr3t" not in patch.removed + patch.inserted
    assert patch.back(b"more " + before.replace(b"1}", b"1, 2}")) == b"more " + before


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("[Billing](x) `rules`", "Billing rules"),
        ("a<!-- om-vault:end -->b", "ab"),
        ("x\n# heading\u2028y", "x # heading y"),
        ("word " * 40, "word word word word word word word word word word word word…"),
    ],
)
def test_a_phrase_from_a_repository_is_one_plain_line(text: str, short: str) -> None:
    assert phrase(text) == short
