"""Links resolve as Obsidian resolves them, and the other candidates are told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultcore.links import KINDS, Resolver

VAULT = [
    "Note.md", "b/Note.md", "x/ab/Note.md", "notes/a/README.md", "notes/b/README.md", "C# notes.md", "C.md",
    "img/p.png", "Harbour.md", "harbour.md", "2026.02.md", "a/Plan.md", "café.md", "deep/er/Only.md",
]  # fmt: skip
ALIASES = {"計画": "a/Plan.md", "The cook's plan": "a/Plan.md", "Twice": ["C.md", "a/Plan.md"], "Note": "C.md"}


@pytest.mark.parametrize(
    ("target", "source", "rel", "kind", "ambiguous"),
    [
        ("Only", "", "deep/er/Only.md", "name", False),
        ("only", "x.md", "deep/er/Only.md", "name", False),
        ("Note", "b/z.md", "Note.md", "path", False),
        ("b/Note", "q.md", "b/Note.md", "path", False),
        ("b/Note.md", "q.md", "b/Note.md", "path", False),
        ("ab/Note", "q.md", "x/ab/Note.md", "suffix", False),
        ("README", "notes/a/x.md", "notes/a/README.md", "suffix", False),
        ("README", "notes/b/x.md", "notes/b/README.md", "suffix", False),
        ("README", "notes/c/y.md", "notes/a/README.md", "suffix", True),
        ("README", "", "notes/a/README.md", "suffix", True),
        ("/b/Note", "z.md", "b/Note.md", "path", False),
        ("/ab/Note", "z.md", None, "missing", False),
        ("../b/README", "notes/a/x.md", "notes/b/README.md", "relative", False),
        ("./README", "notes/b/x.md", "notes/b/README.md", "relative", False),
        ("./README", "z.md", None, "missing", False),
        ("../../../etc/Note", "a/z.md", None, "missing", False),
        ("p.png", "z.md", "img/p.png", "name", False),
        ("2026.02", "z.md", "2026.02.md", "name", False),
        ("C# notes", "z.md", "C# notes.md", "name", False),
        ("C# notes#^id", "z.md", "C# notes.md", "name", False),
        ("C#x", "z.md", "C.md", "name", False),
        ("#Part", "a/Plan.md", "a/Plan.md", "self", False),
        ("Harbour", "z.md", "Harbour.md", "path", False),
        ("harbour", "z.md", "harbour.md", "path", False),
        ("cafe\u0301", "z.md", "café.md", "name", False),
        ("\u200fCAFÉ\u200f", "z.md", "café.md", "name", False),
        ("計画", "z.md", "a/Plan.md", "alias", False),
        ("the COOK's plan#Part", "z.md", "a/Plan.md", "alias", False),
        ("Twice", "z.md", "C.md", "alias", True),
        ("nope", "z.md", None, "missing", False),
        ("nope/Plan", "z.md", None, "missing", False),
    ],
)
def test_a_link_leads_where_the_app_leads(
    target: str, source: str, rel: str | None, kind: str, ambiguous: bool
) -> None:
    found = Resolver(VAULT, ALIASES).resolve(target, source)
    assert (found.rel, found.kind, found.ambiguous) == (rel, kind, ambiguous)


def test_the_other_candidates_are_listed_the_one_meant_first() -> None:
    found = Resolver(VAULT).resolve("README", "notes/b/x.md")
    assert found.candidates == ["notes/b/README.md", "notes/a/README.md"]


@pytest.mark.parametrize(
    ("target", "subpath"),
    [("Only#A#B", "A#B"), ("C# notes#^id", "^id"), ("#Part", "Part"), ("Only", ""), ("nope#x", "x")],
)
def test_what_follows_the_path_is_kept(target: str, subpath: str) -> None:
    assert Resolver(VAULT).resolve(target, "a.md").subpath == subpath


@pytest.mark.parametrize(
    ("typed", "meant"), [("Readm", "README"), ("Habour", "arbour"), ("Harbuor", "arbour"), ("cook plan", "Plan")]
)
def test_names_spelled_alike_are_suggested(typed: str, meant: str) -> None:
    assert any(meant in rel for rel in Resolver(VAULT, ALIASES).nearest(typed, 3))


NAMES = st.text(alphabet="abAB#. é/\u0301", min_size=1, max_size=8)


@given(st.lists(NAMES, max_size=6), NAMES, NAMES)
def test_any_target_resolves_to_a_file_of_the_vault_or_to_nothing(names: list[str], target: str, source: str) -> None:
    paths = sorted({name.strip("/ ") + ".md" for name in names if name.strip("/ ")})
    found = Resolver(paths).resolve(target, source)
    assert found.kind in KINDS
    assert found.rel is None or found.rel in paths or found.kind == "self"
    assert found.candidates[:1] == ([found.rel] if found.rel else [])


@given(st.sampled_from(VAULT))
def test_a_whole_path_always_names_its_file(rel: str) -> None:
    assert Resolver(VAULT, ALIASES).resolve("/" + rel, "x/y.md").rel == rel
