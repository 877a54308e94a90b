"""What qmd is asked: typed lists in one call, never its own expansion, never the reranker.

It joins the words of a list by AND, so that one list of a whole question is empty nearly always (349 of 500 judged
questions): without vectors it gets several.
"""

from __future__ import annotations

import re
from typing import Any

from vaultcore import text

MOST_LISTS = 10
LONGEST = 2_000  # characters of one list
LIMIT = 50
CANDIDATES = 100
_QUESTION = re.compile(r"(?i)^\s*(who|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|should)\b")


def arguments(query: str, collection: str, vectors: bool, rerank: bool = False) -> dict[str, Any]:
    """The arguments of the `query` tool. `vectors`: an embedding model and vectors are there; `rerank`: so is its model
    and the manifest wants it."""
    return {
        "searches": lists(query, vectors),
        "collections": [collection],
        "rerank": rerank,
        "limit": LIMIT,
        "candidateLimit": CANDIDATES,
    }


def lists(query: str, vectors: bool) -> list[dict[str, str]]:
    """The typed sub-queries. Beside vectors there is one list of words only: many of them would drown the vectors."""
    words = [word for term in text.terms(query) if (word := plain(term))]
    line = plain(query)
    if not vectors:
        return [{"type": "lex", "query": found[:LONGEST]} for found in _alternatives(words)]
    found = [{"type": "lex", "query": " ".join(words)[:LONGEST]}] if words else []
    if line:
        found.append({"type": "vec", "query": line[:LONGEST]})
        if asks(query):
            found.append({"type": "hyde", "query": statement(line)[:LONGEST]})
    return found


def _alternatives(words: list[str]) -> list[str]:
    """All words together, then neighbours, then single words, at most ten lists."""
    pairs = [f"{a} {b}" for a, b in zip(words, words[1:], strict=False)]
    every = dict.fromkeys([" ".join(words), *pairs[:4], *sorted(words, key=len, reverse=True)])
    return [one for one in every if one][:MOST_LISTS]


def asks(query: str) -> bool:
    """Whether this is a question of four words or more, for which an imagined answer is worth looking for."""
    return len(query.split()) >= 4 and ("?" in query or bool(_QUESTION.match(query)))


def statement(question: str) -> str:
    """A question turned into the beginning of an answer, as far as dropping its first words does that."""
    rest = re.sub(r"(?i)^\s*(who|what|when|where|which|why|how)\s+", "", question)
    rest = re.sub(r"(?i)^(is|are|was|were|do|does|did|can|could|should|has|have|to)\s+", "", rest)
    return rest.rstrip(" ?") + "."


def plain(words: str) -> str:
    """One line without qmd's own syntax: quotes, and a dash that would exclude a word."""
    return " ".join(re.sub(r'["“”„«»]', " ", re.sub(r"(?<!\S)-+", " ", " ".join(words.split()))).split())
