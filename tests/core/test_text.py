"""Words, names and queries in every script; any text is a safe query."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultcore import chunks, text
from vaultcore.index.schema import TOKENIZE
from vaultcore.markdown import parse


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("Café", "cafe\u0301"), ("ＡＢＣ", "abc"), ("ﬁne", "fine"), ("\u200fתוכנית\u200f", "תוכנית"),
        ("a  b\tc", "A B C"),
        ("ｶﾞ", "ガ"), ("STRASSE", "straße"), ("\ufeffx", "x"),
    ],
)  # fmt: skip
def test_names_that_look_the_same_compare_the_same(name: str, same: str) -> None:
    assert text.key(name) == text.key(same)


def test_a_folded_name_keeps_the_letters_of_every_script() -> None:
    for name in ("計画", "план", "योजना", "ต้นไม้", "🚀 lift", "ὀδός"):
        assert text.fold(name) == name.casefold()
    assert text.fold("Über") != text.fold("uber")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("the quick brown fox", ["quick", "brown", "fox"]),
        ("how do I", ["how", "do", "i"]),
        ("蓝色水泵", ["蓝色", "色水", "水泵"]),
        ("設", ["設"]),
        ("can't wait", ["wait"]),
        ("km/h C++ 11.7", ["km", "h", "c", "11", "7"]),
        ("!!! … ---", []),
    ],
)
def test_the_terms_of_a_query(query: str, expected: list[str]) -> None:
    assert text.terms(query) == expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("work/myProject_plan", {"work", "my", "Project", "plan"}),
        ("HTTPServer", {"HTTP", "Server", "HTTPServer"}),
        ("plain name", {"plain", "name"}),
    ],
)
def test_names_are_split_at_case_and_underscores(name: str, words: set[str]) -> None:
    assert words <= set(text.name_words(name).split())


@given(st.text(max_size=300) | st.text(alphabet="\"'*^():-+ ANDORNT設水\ud800\0", max_size=60))
def test_any_text_is_a_query_that_runs(query: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"create virtual table f using fts5(body, {TOKENIZE})")
    connection.execute("insert into f values(?)", (text.segment(query),))
    expression = text.match_expression(query)
    if expression:
        connection.execute("select count(*) from f where f match ?", (expression,)).fetchone()
    connection.close()


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("上周我们修好了蓝色水泵", "水泵"), ("昨日は庭で青い傘をさした", "青い傘"),
        ("어제 정원에서 빨간우산을 폈다", "빨간우산"),
        ("ฉันปลูกต้นไม้ไว้ในสวน", "ต้นไม้"),
        ("हमारी योजना अच्छी है", "योजना"), ("Crème brûlée", "creme brulee"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("end-of-season km/h C++ 11.7", "season"), ("running deploys", "run deploy"), ("設計図", "設"),
    ],
)  # fmt: skip
def test_a_word_in_any_script_is_found(note: str, query: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"create virtual table f using fts5(body, {TOKENIZE})")
    connection.execute("insert into f values(?)", (text.segment(note),))
    expression = text.match_expression(query)
    assert connection.execute("select count(*) from f where f match ?", (expression,)).fetchone()[0] == 1
    connection.close()


def test_a_note_is_cut_along_its_headings_and_short_sections_join_the_next() -> None:
    body = "word " * 100
    note = f"---\na: b\n---\n# Title\nintro\n## One\n{body}\n## Two\nshort\n### Three\n{body}\n"
    found = chunks.cut(parse(note), "Title")
    assert [(c.heading, c.line0, c.line1) for c in found] == [("", 4, 5), ("One", 6, 7), ("Two", 8, 12)] or [
        (c.heading, c.line0, c.line1) for c in found
    ] == [("", 4, 7), ("Two", 8, 12)]


@given(st.lists(st.sampled_from(["# A", "## B", "text", "", "```", "x" * 700, "y" * 5000, "- i"]), max_size=40))
def test_chunks_are_bounded_in_order_and_cover_every_line_of_text(lines: list[str]) -> None:
    note = "\n".join(lines)
    found = chunks.cut(parse(note))
    covered = {n for c in found for n in range(c.line0, c.line1 + 1)}
    fences = {n for f in parse(note).fences for n in range(f.line0, f.line1 + 1)}
    for number, line in enumerate(lines, 1):
        assert not line.strip() or number in covered
    assert all(a.line0 <= b.line0 for a, b in zip(found, found[1:], strict=False))
    assert all(len(c.text) <= chunks.FENCE + 2 * chunks.HARD for c in found) or fences
