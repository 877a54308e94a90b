"""Properties are read as Obsidian reads them; what is broken is named, and what is beyond us is left to PyYAML."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultcore import flatyaml, fullyaml, properties
from vaultcore.private import why_private
from vaultcore.properties import as_list, decode, dump, read, scalar


def block(*lines: str) -> str:
    return "---\n" + "".join(line + "\n" for line in lines) + "---\nbody\n"


def one(line: str) -> object:
    props = read(block(f"x: {line}"))
    assert props.state == "whole", props.problems
    return props.values["x"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True), ("True", True), ("FALSE", False), ("yes", "yes"), ("no", "no"), ("on", "on"), ("Off", "Off"),
        ("y", "y"), ("null", None), ("~", None), ("", None), ("12:30", "12:30"), ("010", "010"), ("0", 0), ("42", 42),
        ("-7", -7), ("+49", "+49"), ("0x1f", "0x1f"), ("1_000", "1_000"), ("1.5", 1.5), ("1.10", 1.1), ("1e3", 1000.0),
        ("1e999", "1e999"), (".5", ".5"), ("-0", "-0"), ("2026-01-01", "2026-01-01"), ("2026-02-31", "2026-02-31"),
        ("2026-02-03 09:30:00", "2026-02-03 09:30:00"), ("2026-02-03T10:30:00", "2026-02-03T10:30:00"),
        ("http://a.b/c#d", "http://a.b/c#d"), ("a # comment", "a"), ("C#", "C#"), ("-5 degrees", "-5 degrees"),
        ('"a: b # c"', "a: b # c"), ("'it''s'", "it's"), ('"say \\"hi\\""', 'say "hi"'), ('"\\u2028\\e"', "\u2028\x1b"),
        ('"\\ud83d\\ude00"', "😀"), ("計画", "計画"), ("a\u2028b", "a\u2028b"), ("9" * 400, "9" * 400),
        (".inf", ".inf"),
        ("[]", []), ("[a, b]", ["a", "b"]), ('[a, "b, c", \'d\'\'e\', 1, true, ]', ["a", "b, c", "d'e", 1, True]),
        ("[12:30, a:b, -x, don't]", ["12:30", "a:b", "-x", "don't"]), ("[a] # note", ["a"]), ("{a: 1}", {"a": 1}),
        ("[[Note]]", [["Note"]]), ("<% tp.now %>", "<% tp.now %>"),
    ],
)  # fmt: skip
def test_a_value_means_what_obsidian_takes_it_for(written: str, meant: object) -> None:
    found = one(written)
    assert found == meant
    assert type(found) is type(meant)


def test_block_lists_are_read_at_any_indentation() -> None:
    props = read(
        block("a:", "- x", "- 'y, z'", "b:", "    - 1", "    # between", "", "    - two # why", "c:", "  -", "d: e")
    )
    assert props.values == {"a": ["x", "y, z"], "b": [1, "two"], "c": [None], "d": "e"}
    assert props.state == "whole"
    assert props.problems == []


@pytest.mark.parametrize(
    ("text", "state", "body"),
    [
        ("", "absent", ""),
        ("no properties", "absent", "no properties"),
        ("---\n---\n", "whole", ""),
        ("---\n---", "whole", ""),
        ("---\na: 1\n---", "whole", ""),
        ("---\na: 1\n---\nbody", "whole", "body"),
        ("---\r\na: 1\r\n---\r\nbody", "whole", "body"),
        ("\ufeff---\na: 1\n---\nbody", "whole", "body"),
        ("\ufeffbody", "absent", "body"),
        ("---\na: 1\n...\nbody", "whole", "body"),
        ("--- \t\na: 1\n---  \nbody", "whole", "body"),
        ("---\na: 1\n----\nb: 2\n---\nbody", "recovered", "body"),
        ("----\na: 1\n---\n", "absent", "----\na: 1\n---\n"),
        ("--- a\n---\n", "absent", "--- a\n---\n"),
        (" ---\na: 1\n---\n", "absent", " ---\na: 1\n---\n"),
    ],
)
def test_where_the_block_starts_and_ends(text: str, state: str, body: str) -> None:
    props = read(text)
    assert (props.state, text[props.body :]) == (state, body)
    if state == "whole" and "a: 1" in text:
        assert props.values == {"a": 1}
        assert text[props.start : props.end].strip() == "a: 1"


def test_a_block_below_a_blank_line_is_none_and_the_reader_says_so() -> None:
    props = read("\n---\ntitle: Blank\nprivate: true\n---\nbody\n")
    assert props.state == "absent"
    assert why_private(props) is None
    assert "do not start on the first line" in props.problems[0].sentence()
    assert props.problems[0].line == 2
    assert read("\n\n---\n\nA rule, then text.\n").problems == []


@pytest.mark.parametrize(
    ("lines", "values", "said", "line"),
    [
        (["tags:", "\t- topic", "a: b"], {"tags": ["topic"], "a": "b"}, "tab", 3),
        (["aliases:", "  * one", "  * two"], {"aliases": ["one", "two"]}, "start with -", 3),
        (["title: 'kind' decides"], {"title": "'kind' decides"}, "", 2),
        (["who: @mill", "x: y"], {"who": "@mill", "x": "y"}, "quotes", 2),
        (["a: b", "just a word"], {"a": "b"}, "not valid YAML", 3),
        (["tags: [a, b", "c: d"], {"tags": ["a", "b"], "c": "d"}, "not valid YAML", None),
        (["- a", "- b"], {}, "key: value", 2),
        (["a: &x 1", "b: *y"], {"a": "&x 1", "b": "*y"}, "", None),
    ],
)
def test_a_broken_block_is_read_line_by_line_and_the_line_is_named(
    lines: list[str], values: dict[str, object], said: str, line: int | None
) -> None:
    props = read(block(*lines))
    assert props.state == "recovered"
    assert props.values == values
    assert said in " ".join(problem.sentence() for problem in props.problems)
    if line is not None:
        assert props.problems[0].line == line
    assert why_private(props) is not None


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: Open\ntags: [topic]\n\nhalfmarker text [[cut]]\n",
        "---\ntitle: Cut\ndescr",
        "---\n",
        "---",
        "---\ntitle: Open\n\nSome prose stands here.\n\nMore of it.\n\n---\n\nbelow a rule\n",
        "---\ntitle: Open\n# Heading\nProse under it\n- a point\n\n---\nmore\n",
        "---\ntitle: Open\n\n> a quote\n\n---\nmore\n",
        "---\ntitle: Open\n\n- a point of a list\n- another\n\nText\n---\nmore\n",
        "---\nOnce upon a time\nthere was a rule\nabove and below\n---\n",
        "---\ntitle: x\n\n```\ncode\n```\n---\n",
    ],
)
def test_a_block_that_is_never_closed_is_unreadable_and_private(text: str) -> None:
    props = read(text)
    assert props.state == "unreadable"
    assert props.values == {}
    assert "never closed" in props.problems[0].sentence()
    assert text[props.body :] == text
    assert "cannot be read whole" in (why_private(props) or "")


def test_a_block_over_64_kb_is_unreadable() -> None:
    longest = "a: " + "x" * (properties.LIMIT - 5)
    assert read(block(longest)).state == "whole"
    props = read(block(longest + "xxxxx"))
    assert props.state == "unreadable"
    assert "longer than 64 KB" in props.problems[0].sentence()
    assert why_private(props)


def test_a_key_given_twice_is_reported_and_hides_nothing() -> None:
    props = read(block("tags: [private]", "title: x", "tags: [topic]"))
    assert props.state == "whole"
    assert props.values["tags"] == ["topic"]
    assert "tags stands there twice" in props.problems[0].sentence()
    assert props.problems[0].line == 4
    assert why_private(props)
    nested = read(block("tags: [private]", "more: {a: b}", "tags: [topic]"))
    assert why_private(nested)
    assert "tags stands there twice" in nested.problems[0].sentence()


def test_keys_stay_text_as_they_are_written() -> None:
    props = read(block("2026: a", "true: b", "null: c", '"quoted key": d', "with space: e", "größe: f", "a/b.c-d: g"))
    assert list(props.values) == ["2026", "true", "null", "quoted key", "with space", "größe", "a/b.c-d"]
    assert read(block("? [a, b]", ": c")).state == "recovered"


def test_an_alias_bomb_is_bounded() -> None:
    lines = ["title: Bomb", "a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    for at in range(8):
        before, letter = "abcdefghi"[at : at + 2]
        lines.append(f"{letter}: &{letter} [{', '.join(['*' + before] * 9)}]")
    props = read(block(*lines, "tags: *i"))
    assert props.state == "recovered"
    assert props.values["title"] == "Bomb"
    assert "too many values" in props.problems[0].sentence()
    assert read(block("a: &a [*a]")).state == "recovered"
    fine = read(block("a: &a [x, y]", "b: *a"))
    assert (fine.state, fine.values) == ("whole", {"a": ["x", "y"], "b": ["x", "y"]})


@pytest.mark.parametrize(
    ("lines", "values", "line"),
    [
        (["title: Plan: two", "date: 2026-01-01"], {"title": "Plan: two", "date": "2026-01-01"}, 2),
        (["a: 1", "title: ends with:"], {"a": 1, "title": "ends with:"}, 3),
        (['title: it\'s: a "b"', "tags: [x]"], {"title": 'it\'s: a "b"', "tags": ["x"]}, 2),
    ],
)
def test_a_colon_in_a_title_is_reported_and_withholds_nothing(
    lines: list[str], values: dict[str, object], line: int
) -> None:
    props = read(block(*lines))
    assert (props.state, props.values) == ("whole", values)
    assert "quotes" in props.problems[0].sentence() and props.problems[0].line == line
    assert why_private(props) is None


@pytest.mark.parametrize("lines", [["private: yes: sure"], ["tags: private: x"], ["a: b: c", "private: true"]])
def test_a_colon_never_hides_a_private_mark(lines: list[str]) -> None:
    assert why_private(read(block(*lines))) is not None


@pytest.mark.parametrize("text", ["[" * 30_000, "{" * 30_000, "- " * 30_000, "? " * 30_000, "a: " * 20_000])
def test_deep_or_strange_blocks_are_bounded(text: str) -> None:
    assert read(f"---\nx: {text}\n---\n").state == "recovered"
    assert read(f"---\n{text}\n---\n").state in ("recovered", "unreadable")


def test_template_code_is_one_clear_problem() -> None:
    pasted = read(block("title: {{title}}", "date: {{date}}", 'created: "{{date:YYYY}}"', "x: <% tp.x %>"))
    assert [problem.message for problem in pasted.problems if "template code" in problem.message] == [
        "template code that was never filled in"
    ]
    assert len(pasted.problems) == 1
    assert pasted.values["title"] == "{{title}}"


def test_what_goes_beyond_the_flat_subset_is_read_by_pyyaml() -> None:
    props = read(
        block("a: >-", "  folded", "  text", "b: {c: [1, no]}", "d: |-", "  private: true", "e: !!str 12", "f: 12:30")
    )
    assert props.state == "whole"
    assert props.checked
    assert props.values == {"a": "folded text", "b": {"c": [1, "no"]}, "d": "private: true", "e": "12", "f": "12:30"}
    assert why_private(props) is None


def test_without_pyyaml_the_rest_is_recovered_and_marked_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    props = read(block("title: T", "a: >-", "  folded", "  text", "tags: [x]"))
    assert (props.state, props.checked) == ("recovered", False)
    assert props.values == {"title": "T", "a": "folded text", "tags": ["x"]}
    assert "PyYAML is not installed" in props.problems[0].sentence()
    assert read(block("title: T", "tags: [x]")).checked
    for lines, said in (
        (("aliases:", "  * one"), "start with -"),
        (("who: @mill",), "quotes"),
        (("tags:", "\t- x"), "tab"),
    ):
        faulty = read(block(*lines))
        assert (faulty.state, faulty.checked) == ("recovered", True)
        assert said in faulty.problems[0].sentence()
    assert not read(block("a: |", "  * one", "  b: c: d")).checked


def test_strange_encodings_are_read_and_named() -> None:
    assert decode(b"\xef\xbb\xbfa\xc3\xa4") == ("aä", None)
    assert decode("ä".encode("utf-16"))[0] == "ä"
    assert "UTF-16" in (decode("ä".encode("utf-16"))[1] or "")
    text, remark = decode(b"one\ncaf\xe9 \x93x\x94")
    assert text == "one\ncafé “x”"
    assert "line 2" in (remark or "")


def test_as_list_takes_text_and_lists() -> None:
    assert as_list("a, b") == ["a, b"]
    assert as_list([" x ", None, 3, ["[y]"], "", True]) == ["x", "3", "[y]", "true"]
    assert as_list(None) == []


KEYS = st.sampled_from(["title", "tags", "a", "with space", "größe", "x-y", "k_1", "2026", "true"])
PLAIN = st.text(
    st.sampled_from("abcXYZ019 -_.:/#,'\"[]{}&*!|>%@`?~=+()$äé漢😀\\")
    | st.characters(codec="utf-8", exclude_categories=["C", "Z"]),
    max_size=20,
)
QUOTED = PLAIN.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"') | PLAIN.map(
    lambda text: "'" + text.replace("'", "''") + "'"
)
WORDS = st.sampled_from(
    "true no on 12:30 010 1.5 -3 0 null ~ 2026-01-01 1e5 .5 0x1F +1 [] [a] [a,b] {} {a: b} # - ? : | > *x &x !y".split(
        " "
    )
)
VALUE = PLAIN | QUOTED | WORDS | st.lists(QUOTED | WORDS, max_size=3).map(lambda items: f"[{', '.join(items)}]")
ITEMS = st.tuples(st.integers(0, 4), st.lists(VALUE, min_size=1, max_size=3)).map(
    lambda pair: "".join(f"\n{' ' * pair[0]}- {value}" for value in pair[1])
)
LINE = (
    st.tuples(KEYS, VALUE | ITEMS).map(lambda pair: f"{pair[0]}: {pair[1]}")
    | PLAIN
    | st.sampled_from(["", "# note", "  # in"])
)


@settings(max_examples=1500, deadline=None)
@given(st.lists(LINE, max_size=5).map("\n".join))
def test_the_flat_reader_and_pyyaml_agree(text: str) -> None:
    content = text + "\n"
    flat = flatyaml.load(content)
    if flat is None:
        return
    meant: dict[str, Any] = {key: value for key, value, _, _ in fullyaml.load(content)}
    assert flat[0] == meant
    assert repr(flat[0]) == repr(meant)


ANYTHING = st.text(max_size=60) | st.text(st.characters(), max_size=10) | st.sampled_from(
    [
        "'kind' decides the shape", '"slow" wheel', "- minus in front", "`name` in front", "@mill meeting", "% of it",
        "2026", "true", "null", "# sign in front", "[[Other]] in front", "stops at a colon:", "{curly} in front",
        "tab\there",
        "back\\slash", "a: b", "a #b", "---", "...", "$& $$ \\1", "line\nbreak", "---\nx: y\n---", "", " ", " lead",
        "trail ",
        "yes", "~", "12:30", "010", "1.0", "=", "<<", "\u2028", "\x85", "\x00", "\x1b[31m", "\ud800", "x" * 300,
        "é" * 300,
        "Infinity", "-", "?", ":", "|", ">-", "!x", "&a", "*a", "2026-01-01", "2026-01-01T10:00:00+02:00", "\ufeff",
        "e\u0301",
    ]
)  # fmt: skip


@settings(max_examples=1500, deadline=None)
@given(ANYTHING | st.integers(-(10**200), 10**200) | st.floats() | st.booleans() | st.none())
def test_a_scalar_is_one_line_that_reads_back(value: object) -> None:
    written = scalar(value)
    assert "\n" not in written
    assert "\r" not in written
    for text in (block(f"x: {written}"), block("x:", f"  - {written}"), block(f"x: [{written}]")):
        props = read(text)
        assert (props.state, props.problems) == ("whole", []) or "{{" in written or "<%" in written
        found = props.values["x"]
        found = found[0] if isinstance(found, list) else found
        wanted = str(value) if isinstance(value, float) and (value != value or abs(value) == float("inf")) else value
        assert found == joined(wanted)
        assert type(found) is type(wanted)
    assert {key: value for key, value, _, _ in fullyaml.load(f"x: {written}\n")}["x"] == joined(wanted)


def joined(value: object) -> object:
    """Two halves of one character side by side are that character; a lone half is no text that a file can hold."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def test_a_new_block_keeps_the_order_and_reads_back() -> None:
    values = {
        "date": "2026-02-03",
        "description": "a: b",
        "tags": ["memory"],
        "n": 3,
        "empty": None,
        "list": [],
        "ok": True,
    }
    written = dump(values)
    assert written == (
        '---\ndate: 2026-02-03\ndescription: "a: b"\ntags:\n  - memory\nn: 3\nempty:\nlist: []\nok: true\n---\n'
    )
    assert read(written).values == values


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(ANYTHING.filter(bool), ANYTHING | st.lists(ANYTHING, max_size=3), max_size=4))
def test_any_new_block_reads_back(values: dict[str, object]) -> None:
    props = read(dump(values))
    clean = {
        joined(key): [joined(item) for item in value] if isinstance(value, list) else joined(value)
        for key, value in values.items()
    }
    assert props.values == clean


@settings(max_examples=600, deadline=None)
@given(st.text(max_size=200) | st.text(st.sampled_from("-. \t\r\n:#[]{}'\"ab&*!|>%@`\ufeff"), max_size=80))
def test_reading_never_fails(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n", f"---\n{text}"):
        props = read(whole)
        why_private(props)
        assert 0 <= props.body <= len(whole)
        assert all(problem.sentence() for problem in props.problems)
