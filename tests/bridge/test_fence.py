"""Content of notes is data: no content can close its frame or forge a line of ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbridge import fence

ANY = st.text(st.characters(), max_size=400)


@given(ANY)
def test_whatever_is_flattened_is_one_line(text: str) -> None:
    assert len(fence.flat(text).splitlines()) <= 1


@given(ANY, st.integers(20, 300))
def test_a_flattened_line_keeps_to_its_limit(text: str, limit: int) -> None:
    assert len(fence.flat(text, limit)) <= limit


@given(ANY, ANY)
def test_no_content_closes_its_own_frame(text: str, path: str) -> None:
    mark = fence.tag()
    framed = fence.frame("note", mark, text, path=path)
    assert framed.endswith(f"\n</note-{mark}>")
    assert framed.count(f"</note-{mark}>") == 1
    assert framed.splitlines()[0].startswith(f"<note-{mark} path=") or not path


@given(ANY)
def test_a_frame_can_always_be_sent(text: str) -> None:
    fence.frame("note", fence.tag(), text, title=text).encode("utf-8")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('"slow" wheel', '"\\"slow\\" wheel"'),
        ("two\nlines", '"two lines"'),
        ("\u202eexe.md", '"exe.md"'),
        ("back\\slash", '"back\\\\slash"'),
        ("\ud800", '"\ufffd"'),
    ],
)
def test_an_attribute_is_quoted_so_that_it_reads_back(value: str, shown: str) -> None:
    assert fence.attribute(value) == shown


def test_every_reply_draws_another_tag() -> None:
    assert len({fence.tag() for _ in range(50)}) == 50


def test_a_cut_ends_at_a_line_and_counts_the_rest() -> None:
    head, left = fence.cut("one line\n" * 100, 100)
    assert head.endswith("\n") and len(head) <= 100 and len(head) + left == 900
