"""Roots open exactly what they declare; never-expose withholds in any spelling."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultcore.patterns import Names, Roots, fold, loose


@pytest.mark.parametrize(
    ("entry", "opens", "keeps"),
    [
        ("brain", ["brain/a.md", "brain/x/y/a.md", "Brain/a.MD"], ["brainy/a.md", "x/brain/a.md", "brain.md"]),
        ("./brain/", ["brain/a.md"], ["brain.md"]),
        ("/brain", ["brain/a.md"], []),
        ("work/active", ["work/active/a.md"], ["work/a.md", "work/activeness/a.md", "work/1-1/a.md"]),
        ("Home.md", ["Home.md", "home.md"], ["x/Home.md", "Home.mdx"]),
        ("brain/*.md", ["brain/a.md", "brain/A b.MD"], ["brain/x/a.md", "brain/x.md/a.md", "a.md", "brain/.md/x.md"]),
        ("*.md", ["a.md"], ["x/a.md"]),
        ("perf/h*-*/", ["perf/h1-2026/a.md", "perf/h2-x/y/a.md"], ["perf/h1/a.md", "perf/h1-x.md", "perf/x/h1-2/a.md"]),
        ("work/*", ["work/a.md"], ["work/x/a.md"]),
        ("work/*/", ["work/x/a.md", "work/x/y/a.md"], ["work/a.md"]),
        ("work/**", ["work/a.md", "work/x/y/a.md"], ["work.md", "other/a.md"]),
        ("**/*.md", ["a.md", "x/y/a.md"], []),
        ("**/public/", ["public/a.md", "x/y/public/z/a.md"], ["public.md", "nonpublic/a.md"]),
        ("a**b/", ["axb/n.md"], ["a/b/n.md"]),
        ("202[45]/", ["2024/a.md", "2025/a.md"], ["2026/a.md", "2024[45]/a.md"]),
        ("20[!2]?/", ["2013/a.md"], ["2023/a.md", "20//a.md"]),
        ("x[", ["x[/a.md"], ["x/a.md"]),
        ("a.b+(c)/", ["a.b+(c)/n.md"], ["axb+(c)/n.md"]),
        ("Café", ["cafe\u0301/a.md", "CAFÉ/a.md"], ["cafe/a.md"]),
        ("Straße", ["strasse/a.md"], []),
        ("work\\active", ["work/active/a.md"], ["work/a.md"]),
    ],
)
def test_a_root_opens_what_it_declares_and_nothing_more(entry: str, opens: list[str], keeps: list[str]) -> None:
    roots = Roots([entry])
    assert [rel for rel in opens if not roots.match(rel)] == []
    assert [rel for rel in keeps if roots.match(rel)] == []


@pytest.mark.parametrize(
    ("entry", "withholds", "leaves"),
    [
        ("secret.md", ["secret.md", "x/y/Secret.MD", "secret.md/x.md"], ["secrets.md", "my secret.md"]),
        ("secret", ["secret.md", "x/secret.md", "x/secret/y.md", "SECRET./a.md"], ["secretary/a.md"]),
        (
            "notes/hr",
            ["notes/hr/2026/deep/x.md", "notes/HR/a.md", "notes/hr.md"],
            ["notes/hr-public/a.md", "x/notes/hr/a.md"],
        ),
        ("./Notes/Secret Place/", ["notes/secret place/a.md", "notes/Secret Place /a.md"], ["notes/secret/a.md"]),
        ("notes\\Ledger", ["notes/ledger/b.md"], ["ledger/b.md"]),
        ("notes//vault keys", ["notes/vault keys/c.md"], []),
        ("notes/Cafe\u0301", ["notes/Café/d.md", "notes/CAFÉ/d.md"], ["notes/cafe/d.md"]),
        ("*.key.md", ["a.key.md", "x/b.KEY.md"], ["key.md", "x/keys.md"]),
        ("private-*/", ["private-x/a.md", "y/private-z/w/a.md"], ["private/a.md"]),
        ("x/*/drafts", ["x/y/drafts/a.md"], ["x/drafts/a.md", "x/y/z/drafts/a.md"]),
        ("[drafts]", ["[drafts]/a.md", "d/x.md"], ["e/x.md"]),
        ("x/**/drafts", ["x/drafts/a.md", "x/y/z/drafts/a.md"], ["y/drafts/a.md"]),
    ],
)
def test_a_never_expose_entry_withholds_in_any_spelling(entry: str, withholds: list[str], leaves: list[str]) -> None:
    names = Names([entry])
    assert [rel for rel in withholds if not names.match(rel)] == []
    assert [rel for rel in leaves if names.match(rel)] == []


def test_entries_that_name_nothing_in_the_vault_are_left_out_and_named() -> None:
    roots = Roots(["brain", "", " ", "./", "../x", "a/../b", "brain", "./brain", "x" * 501])
    assert roots.entries == ["brain"]
    assert len(roots.unusable) == 6
    assert "../x" in roots.unusable[3]
    assert not Roots([]).match("a.md")
    assert not Names([]).match("a.md")


@given(st.text(max_size=30))
def test_spellings_of_one_name_fold_to_one(name: str) -> None:
    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, name)) == fold(name)
    assert fold(fold(name)) == fold(name)
    assert loose(f"a{name.replace('/', '')}b.") == loose(f"a{name.replace('/', '')}b")


@given(
    st.lists(st.text(st.sampled_from("ab*?[]!/.^-\\é "), max_size=12), max_size=4),
    st.text(st.sampled_from("ab/é."), max_size=12),
)
def test_any_pattern_is_a_pattern(entries: list[str], rel: str) -> None:
    Roots(entries).match(rel)
    Names(entries).match(rel)
