"""The part of a note that shows why it was found: one line of text around the densest match."""

from __future__ import annotations

import re

from vaultcore import text

WIDTH = 280  # characters of a snippet
_SPACES = re.compile(r"\s+")


class Pattern:
    """The words of a query, found again in plain text: endings may differ, accents and case do not matter."""

    def __init__(self, terms: list[str]) -> None:
        self.terms = terms
        self._stems: dict[str, list[str]] = {}
        for term in terms:
            self._stems.setdefault(_stem(flatten(term)), []).append(term)
        parts = []
        for stem in sorted(self._stems, key=len, reverse=True):
            # A pair of a dense script may stand anywhere; a word begins where a word begins.
            parts.append(re.escape(stem) if text.dense().match(stem) else rf"(?<![^\W_]){re.escape(stem)}")
        self._find = re.compile("|".join(parts)) if parts else None

    def found(self, line: str) -> set[str]:
        """Which of the words are in `line`."""
        if self._find is None:
            return set()
        return {term for m in self._find.finditer(flatten(line)) for term in self._stems.get(m[0], ())}

    def first(self, line: str) -> int:
        """Where the first of them is, 0 if none."""
        match = self._find.search(flatten(line)) if self._find else None
        return match.start() if match else 0


def _stem(term: str) -> str:
    if len(term) <= 4 or text.dense().match(term):
        return term
    return term[: max(4, len(term) - 3)]


class _Bare(dict[int, int]):
    """Character -> the same without case and accent; filled as characters come by."""

    def __missing__(self, code: int) -> int:
        from unicodedata import normalize

        c = chr(code)
        base = c if text.dense().match(c) else normalize("NFKD", c)[:1]
        low = base.lower()
        self[code] = found = ord(low) if len(low) == 1 else code
        return found


_BARE = _Bare()


def flatten(line: str) -> str:
    """Case and accents gone; the same length as `line`, so that positions hold."""
    return line.lower() if line.isascii() else line.translate(_BARE)


def cut(note: str, line0: int, line1: int, pattern: Pattern) -> tuple[int, str, set[str]]:
    """(line, snippet, words found) for the lines `line0` to `line1` of a note: the line with most words of the query,
    and as much around it as fits."""
    lines = note.split("\n")
    line0 = min(max(1, line0), len(lines))
    piece = [line[:8000].rstrip("\r") for line in lines[line0 - 1 : max(line0, line1)]]
    found = [pattern.found(line) for line in piece]
    best = max(range(len(piece)), key=lambda i: (len(found[i]), bool(piece[i].strip()), -i))
    every = set().union(*found)
    if len(piece[best]) > WIDTH:
        at = max(0, pattern.first(piece[best]) - WIDTH // 3)
        inside = piece[best][at : at + WIDTH]
        return line0 + best, _clean(inside, at > 0, at + WIDTH < len(piece[best])), every
    low = high = best
    size = len(piece[best])
    while size < WIDTH:
        if high + 1 < len(piece) and size + len(piece[high + 1]) <= WIDTH + 40:
            high += 1
            size += len(piece[high]) + 1
        elif low > 0 and size + len(piece[low - 1]) <= WIDTH + 40:
            low -= 1
            size += len(piece[low]) + 1
        else:
            break
    return line0 + best, _clean("\n".join(piece[low : high + 1]), False, high + 1 < len(piece)), every


def _clean(piece: str, before: bool, after: bool) -> str:
    flat = _SPACES.sub(" ", text.clean(piece)).strip()
    return ("… " if before else "") + flat + (" …" if after else "")
