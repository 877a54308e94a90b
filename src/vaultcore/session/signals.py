"""What a prompt is about, by phrases from one data file and the vault's manifest.

A phrase matches whole words. `*` at its end lets the last word go on (`decid*`), ` … ` lets up to GAP other
characters stand between two parts of one sentence. Scripts without blanks between words match anywhere.
"""

from __future__ import annotations

import os

from vaultcore import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "signals.json")
GAP = 48  # characters between the two parts of a phrase with a gap
ENDS = "\n.!?;。！？"  # no phrase reaches over the end of a sentence


class Signals:
    """The phrases by category, in the order in which they may claim words of a prompt."""

    __slots__ = ("categories", "never", "silences")

    def __init__(self, data: dict[str, Any], extra: dict[str, Any] | None = None) -> None:
        extra = extra or {}
        self.never = _phrases(data["never"]) + _listed(extra.get("never"))
        self.categories = []
        self.silences: dict[str, list[str]] = {}  # a category -> those that its hint stands for as well
        for name, entry in data["categories"].items():
            phrases = _phrases(entry["phrases"]) + _listed(extra.get(name))
            self.categories.append((name, entry["hint"], bool(entry.get("claims")), phrases))
            self.silences[name] = entry.get("silences") or []

    def of(self, text: str) -> list[tuple[str, str]]:
        """(category, hint) for everything that `text`, as `own_words` gives it, is about."""
        text = "\n" + text + "\n"
        for phrase in self.never:
            text = _erase(text, phrase)
        found = []
        for name, hint, claims, phrases in self.categories:
            hit = False
            for phrase in phrases:
                if find(text, phrase, 0)[0] >= 0:
                    hit = True
                    if not claims:
                        break
                    text = _erase(text, phrase)
            if hit:
                found.append((name, hint))
        silent = {other for name, _ in found for other in self.silences[name]}
        return [each for each in found if each[0] not in silent]


def load(extra: dict[str, Any] | None = None) -> Signals:
    """The shipped phrases and those of a vault (`signals` in its manifest: category -> phrases)."""
    with open(DATA, encoding="utf-8") as file:
        return Signals(fastjson.loads(file.read()), extra)


def find(text: str, phrase: str, start: int) -> tuple[int, int]:
    """The span of the first match of `phrase` at or after `start`, or (-1, -1)."""
    first, gap, second = phrase.partition(" … ")
    while True:
        at, end = _find_words(text, first, start)
        if at < 0 or not gap:
            return at, end
        after, stop = _find_words(text, second, end)
        if after < 0:
            return -1, -1
        between = text[end:after]
        if len(between) <= GAP and not any(mark in between for mark in ENDS):
            return at, stop
        start = at + 1


def _find_words(text: str, words: str, start: int) -> tuple[int, int]:
    whole = not words.endswith("*")
    if not whole:
        words = words[:-1]
    while True:
        at = text.find(words, start)
        if at < 0:
            return -1, -1
        end = at + len(words)
        if not (is_letter(words[0]) and is_letter(text[at - 1])):
            if not whole:
                while is_letter(text[end]):
                    end += 1
                return at, end
            if not (is_letter(words[-1]) and is_letter(text[end])):
                return at, end
        start = at + 1


def is_letter(character: str) -> bool:
    """True for what continues a word in scripts that separate words: Latin letters, digits, the underscore."""
    return character <= "\u024f" and (character.isalnum() or character == "_")


def _erase(text: str, phrase: str) -> str:
    at, end = find(text, phrase, 0)
    while at >= 0:
        text = text[:at] + "\x00" * (end - at) + text[end:]
        at, end = find(text, phrase, end)
    return text


def _phrases(by_language: dict[str, list[str]]) -> list[str]:
    return [phrase for phrases in by_language.values() for phrase in phrases]


def _listed(value: object) -> list[str]:
    """A vault's own phrases, made to match as the prompt is read; anything that is no list of text is left out."""
    from vaultcore.session.own_words import clean

    items = value if isinstance(value, list) else []
    return [words for words in [clean(item.lower()) for item in items if isinstance(item, str)] if words]
