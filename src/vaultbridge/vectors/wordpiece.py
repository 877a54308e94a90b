"""Text as numbers, the way the sentence model learned it: lower case, accents off, words in pieces of a fixed
vocabulary.

vocabulary.txt.gz is that of BERT base uncased (Google, Apache License 2.0), one piece a line, its line its number.
"""

from __future__ import annotations

import gzip
import os
import re
from functools import lru_cache
from unicodedata import category, normalize

VOCABULARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vocabulary.txt.gz")
LONGEST = 100  # characters of a word that is taken apart
# Han stands alone, character by character; kana and Hangul do not.
_HAN = re.compile("([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002ceaf\uf900-\ufaff])")


class Pieces:
    """The vocabulary. `numbers` gives a text as the model takes it."""

    def __init__(self) -> None:
        with gzip.open(VOCABULARY, "rt", encoding="utf-8") as file:
            self.known = {line.rstrip("\n"): number for number, line in enumerate(file)}
        self.start, self.end, self.unknown = (self.known[mark] for mark in ("[CLS]", "[SEP]", "[UNK]"))
        self.of_word = lru_cache(20_000)(self._of_word)

    def numbers(self, text: str, most: int) -> list[int]:
        """At most `most` numbers, start and end mark included."""
        found = [self.start]
        for word in words(text):
            found += self.of_word(word)
            if len(found) >= most:
                break
        return [*found[: most - 1], self.end]

    def _of_word(self, word: str) -> list[int]:
        """The longest known beginnings, one after the other; one unknown mark when that gets stuck."""
        if len(word) > LONGEST:
            return [self.unknown]
        found = []
        at = 0
        while at < len(word):
            head = "##" if at else ""
            for end in range(len(word), at, -1):
                number = self.known.get(head + word[at:end])
                if number is not None:
                    found.append(number)
                    at = end
                    break
            else:
                return [self.unknown]
        return found


def words(text: str) -> list[str]:
    """The words and the single marks of punctuation of a text, lower case and without accents."""
    if text.isascii():
        plain = text.lower()
    else:
        plain = "".join(c for c in normalize("NFD", text.lower()) if category(c) != "Mn")
        plain = _HAN.sub(r" \1 ", plain)
    return [part for word in plain.split() for part in _parts(word)]


def _parts(word: str) -> list[str]:
    if word.isalnum():
        return [word]
    found: list[str] = []
    run = ""
    for c in word:
        if _is_mark(c):
            found += [run, c] if run else [c]
            run = ""
        elif not _is_unseen(c):
            run += c
    return [*found, run] if run else found


def _is_mark(c: str) -> bool:
    if c.isascii():
        return not c.isalnum() and c.isprintable() and c != " "
    return category(c).startswith("P")


def _is_unseen(c: str) -> bool:
    return c == "\ufffd" or category(c).startswith("C")
