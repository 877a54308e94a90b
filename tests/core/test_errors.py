"""Errors and problems are sentences."""

from __future__ import annotations

from vaultcore.errors import Problem, Refusal


def test_a_refusal_says_why_and_what_to_do() -> None:
    error = Refusal("exists", "a.md exists already.", "Choose another name.", {"path": "a.md"})
    assert str(error) == "a.md exists already. Choose another name."
    assert (error.code, error.details) == ("exists", {"path": "a.md"})
    assert str(Refusal("x", "Why.")) == "Why."


def test_a_problem_is_one_line_with_its_place() -> None:
    assert (
        Problem("a.md", "is broken", line=2, column=3, fix="Mend it.").sentence()
        == "a.md line 2 column 3: is broken. Mend it."
    )
    assert Problem("a.md", "is\nbroken.").sentence() == "a.md: is broken."
    assert Problem("", "is broken", line=2).at("b.md") == Problem("b.md", "is broken", line=2)
    assert Problem("", "x").sentence() == "x"
