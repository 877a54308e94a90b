"""A property is changed by editing its lines; every other byte of the file stays what it was."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.test_properties import ANYTHING, joined
from vaultcore.errors import VaultError
from vaultcore.properties import edit, read

NOTE = """---
# kept by hand
title:   "A: b"
extra_key:   "007"
seen_on: 2026-02-03   # by the owner
aliases: [ 'Old way',"older way" ]
tags:
    - one
    # why two
    - "two" # because

folded: >-
  some text
  over lines
empty:
---
Old body line that stays.\x20\x20

* star item
"""


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"seen_on": "2026-03-01"}, "seen_on: 2026-02-03   # by the owner\n", "seen_on: 2026-03-01   # by the owner\n"),
        ({"title": "New"}, 'title:   "A: b"\n', "title:   New\n"),
        ({"extra_key": 7}, 'extra_key:   "007"\n', "extra_key:   7\n"),
        ({"aliases": ["Old way", "x: y"]}, "aliases: [ 'Old way',\"older way\" ]\n", 'aliases: [Old way, "x: y"]\n'),
        ({"tags": ["one", "two", "three"]}, '    - "two" # because\n', '    - "two" # because\n    - three\n'),
        ({"tags": ["two"]}, '    - one\n    # why two\n    - "two" # because\n', '    - "two" # because\n'),
        ({"tags": ["zero", "two"]}, "    - one\n    # why two\n", "    - zero\n"),
        ({"tags": []}, 'tags:\n    - one\n    # why two\n    - "two" # because\n', "tags: []\n"),
        ({"tags": "one"}, 'tags:\n    - one\n    # why two\n    - "two" # because\n', "tags: one\n"),
        ({"folded": "short"}, "folded: >-\n  some text\n  over lines\n", "folded: short\n"),
        ({"empty": "full"}, "empty:\n", "empty: full\n"),
        ({"empty": ["a", "b"]}, "empty:\n", "empty:\n  - a\n  - b\n"),
        ({"title": ["a"]}, 'title:   "A: b"\n', "title:\n  - a\n"),
        ({"extra_key": None}, 'extra_key:   "007"\n', ""),
        ({"folded": None}, "folded: >-\n  some text\n  over lines\n", ""),
        ({"tags": None}, 'tags:\n    - one\n    # why two\n    - "two" # because\n', ""),
        ({"new": "v"}, "empty:\n---\n", "empty:\nnew: v\n---\n"),
        ({"new": ["v", "w"]}, "empty:\n---\n", "empty:\nnew:\n  - v\n  - w\n---\n"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_only_the_lines_of_the_property_change(
    changes: dict[str, object], before: str, after: str, ending: str, bom: str
) -> None:
    old = (bom + NOTE).replace("\n", ending)
    wanted = (bom + NOTE).replace(before, after).replace("\n", ending)
    assert NOTE.count(before) == 1
    assert edit(old.encode(), changes).decode() == wanted


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "A: b"},
        {"extra_key": "007"},
        {"tags": ["one", "two"]},
        {"missing": None},
        {"folded": "some text over lines"},
        {},
    ],
)
def test_a_change_to_the_same_value_changes_nothing(changes: dict[str, object]) -> None:
    assert edit(NOTE.encode(), changes) == NOTE.encode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("text", "---\na: 1\n---\ntext"),
        ("", "---\na: 1\n---\n"),
        ("\ufefftext\r\nmore", "\ufeff---\r\na: 1\r\n---\r\ntext\r\nmore"),
        ("---\n---\ntext", "---\na: 1\n---\ntext"),
        ("---\r\nb: 2\r\n---", "---\r\nb: 2\r\na: 1\r\n---"),
        ("---\nb: 2\n...\n\n\n", "---\nb: 2\na: 1\n...\n\n\n"),
        ("---\na: 2\nb: 3\na: 4\n---\n", "---\nb: 3\na: 1\n---\n"),
        ("---\n  b: 2\n  a: {x: y}\n---\n", "---\n  b: 2\n  a: 1\n---\n"),
        ('---\n"a": x\n---\n', '---\n"a": 1\n---\n'),
        ("---\na : x\n---\n", "---\na : 1\n---\n"),
        ("---\na: # note\n---\n", "---\na: 1 # note\n---\n"),
        ("---\na:\n- x\n- y\n# c\nb: 2\n---\n", "---\na: 1\n# c\nb: 2\n---\n"),
        ("---\na: 'x # y'   # c  \n---\n", "---\na: 1   # c  \n---\n"),
        ("---\na: [x, 'y]'] # c\n---\n", "---\na: 1 # c\n---\n"),
        ("---\na: [x,\n  y]\nb: 2\n---\n", "---\na: 1\nb: 2\n---\n"),
        ("---\nt: x: y\na: 2\n---\n", "---\nt: x: y\na: 1\n---\n"),
        ("---\nt:\n\t- x\na: 2\n---\n", "---\nt:\n\t- x\na: 1\n---\n"),
    ],
)
def test_a_block_is_found_or_made(old: str, new: str) -> None:
    assert edit(old.encode(), {"a": 1}).decode() == new


def test_bytes_that_are_not_utf8_stay_in_the_body() -> None:
    assert edit(b"---\na: 2\n---\ncaf\xe9 \xff\n", {"a": 1}) == b"---\na: 1\n---\ncaf\xe9 \xff\n"


@pytest.mark.parametrize(
    ("data", "changes", "said"),
    [
        (b"---\na: 1\n\nopen", {"a": 2}, "never closed"),
        ("---\na: 1\n---\n".encode("utf-16"), {"a": 2}, "UTF-16"),
        (b"---\na: 1\n---\n", {"a": {"b": "c"}}, "cannot hold a dict"),
        (b"---\na: 1\n---\n", {"a": [["b"]]}, "cannot hold a list"),
        (b"---\na: 1\n---\n", {"": "x"}, "no name"),
        (b"---\n{a: 1, b: 2}\n---\n", {"a": 2}, "cannot be edited safely"),
    ],
)
def test_what_cannot_be_edited_is_refused_in_words(data: bytes, changes: dict[str, object], said: str) -> None:
    with pytest.raises(VaultError, match=said):
        edit(data, changes)


KEYS = st.sampled_from(["title", "tags", "a", "with space", "größe", "x-y", "new"])
VALUES = ANYTHING | st.integers(-(10**20), 10**20) | st.booleans() | st.lists(ANYTHING | st.integers(), max_size=3)
OLD_VALUES = st.sampled_from(
    [
        "", " x", "   spaced   ", " [a, 'b, c']  # note", '\n- one\n-   "two"', "\n    - one\n\n    # c\n    - two # d",
        " # only a comment", ' "quoted # text" # note', " 'it''s'", " >-\n  folded\n\n  text",
        " |\n  # not a comment\n  x",
        " [a,\n   b]", " {a: b}", " 12:30", " plain\n  continued", " [[Note]]", "\t tabbed", ' "a\n  b"', " 2026-01-01",
    ]
)  # fmt: skip
BLOCKS = st.lists(
    st.tuples(KEYS, OLD_VALUES, st.sampled_from(["", "\n", "\n# comment", "\n\n  # deep", "  "])),
    max_size=5,
    unique_by=lambda t: t[0],
).map(lambda rows: "".join(f"{key}:{value}{tail}\n" for key, value, tail in rows))


@settings(max_examples=1200, deadline=None)
@given(
    BLOCKS,
    st.sampled_from(["body\n", "", "no newline", "\n\n---\nrule: x\n", "tail \n\n\n"]),
    st.dictionaries(KEYS, VALUES | st.none(), max_size=3),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
)
def test_an_edit_reads_back_and_leaves_all_other_lines_alone(
    block: str, body: str, changes: dict[str, object], ending: str, bom: str
) -> None:
    old = (bom + f"---\n{block}---\n{body}").replace("\n", ending)
    before = read(old)
    if before.state != "whole":
        return
    data = edit(old.encode(), changes)
    new = data.decode()
    after = read(new)
    assert after.state == "whole"
    for name, value in changes.items():
        if value is None:
            assert name not in after.values
        else:
            wanted = [joined(item) for item in value] if isinstance(value, list) else joined(value)
            assert after.values[name] == wanted
    kept = {name: value for name, value in before.values.items() if name not in changes}
    assert {name: value for name, value in after.values.items() if name not in changes} == kept
    assert new[after.body :] == old[before.body :]
    assert new[: after.start] == old[: before.start]
    untouched = [line for line in old.split("\n") if line.split(":")[0] in kept]
    lines = new.split("\n")
    assert [line for line in lines if line.split(":")[0] in kept] == untouched
    if not changes:
        assert new == old


@pytest.mark.parametrize("text", [" ", "\t", "#", ": ", '"', "a #", ",", "]"])
@pytest.mark.parametrize("lead", ["x", '"', "[", "[x"])
def test_a_hostile_value_is_read_and_edited_in_linear_time(lead: str, text: str) -> None:
    def cost(size: int) -> float:
        data = f"---\nk: {lead}{text * (size // len(text))}y\nz: 1\n---\nbody\n".encode()
        started = time.process_time()
        read(data.decode())
        try:
            edit(data, {"k": "v"})
        except VaultError:
            pass  # what cannot be edited safely is refused; that takes no longer
        return time.process_time() - started

    cost(500)
    assert cost(32_000) < 64 * max(cost(2_000), 0.003)  # sixteen times the text; quadratic would be 256
