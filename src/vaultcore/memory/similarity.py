"""Whether a new memory only says again what a held one says, in any script, without taking its sibling for its twin."""

from __future__ import annotations

import re

from . import forms, record, updates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .record import Record

DUPLICATE = 0.75
TITLE_SHARE = 0.6
_VALUE = re.compile(r"\d")
_VOWEL = re.compile("[aeiouy]")
# words that only say that something is to be done: beside them nothing is narrowed down
_LIGHT = frozenset(("need", "requir", "want", "use", "alway", "pleas", "just", "also"))


class Match:
    """A held memory that `score` (0 to 1) says is the same. `kind` is "same", "evasive" or "near"."""

    __slots__ = ("record", "score", "kind")

    def __init__(self, r: Record, score: float, kind: str) -> None:
        self.record = r
        self.score = score
        self.kind = kind


class Text:
    """What of a memory is compared, worked out once."""

    __slots__ = (
        "title",
        "trim",
        "bare",
        "uncounted",
        "letters",
        "whole",
        "title_words",
        "body",
        "body_words",
        "claims",
        "negations",
    )

    def __init__(self, r: Record) -> None:
        self.title = r.flat_title
        self.trim = forms.trimmed(r.title)
        self.bare = forms.bare_title(r.title)
        self.uncounted = forms.uncounted(self.bare)
        self.letters = forms.letters(self.bare)
        self.whole = forms.letters(r.title)
        self.title_words = kernel(forms.words(self.bare)) or kernel(forms.words(self.bare, keep_stops=True))
        core = record.core(r.body)
        self.body = forms.value(core)
        self.body_words = kernel(forms.words(core[:20_000])) or kernel(forms.words(core[:20_000], keep_stops=True))
        self.claims = updates.claims(r.title, core)
        self.negations = updates.polarity(self.title) + updates.polarity(self.body)


def kernel(words: list[str]) -> frozenset[str]:
    """What `words` speak of, each in one form whatever its ending, without those that narrow nothing down."""
    stems = frozenset(map(_stem, words))
    return stems - _LIGHT or stems


def _stem(word: str) -> str:
    """An English word without what its form adds (retrying, retried: retry; cached, caching, cache: cach)."""
    if len(word) < 5 or not (word.isascii() and word.isalpha()):
        return word
    for ending, instead in (("ied", "y"), ("ing", ""), ("ed", ""), ("e", ""), ("s", "")):
        if word.endswith(ending):
            stem = word[: -len(ending)] + instead
            if len(stem) < 3 or not _VOWEL.search(stem) or (ending == "s" and stem[-1] in "sui"):
                return word
            return stem[:-1] if ending in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    return word


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared over all words. Two texts without a word are not alike: nothing says that they are."""
    both = len(a & b)
    return both / (len(a) + len(b) - both) if both else 0.0


def same(a: Text, b: Text) -> bool:
    """Whether both say the same text, whatever its case, blanks, width, quotes and final dot."""
    return a.body == b.body and (a.title == b.title or (a.whole == b.whole != ""))


def compare(new: Text, held: Text) -> tuple[float, str]:
    """How alike they are and in what way; 0 when something says that they are two claims.

    Never alike: opposite polarity; a qualifier more in one title ("rate limit", "rate limit south"); another value
    in the same sentence.
    """
    if same(new, held):
        return 1.0, "same"
    body = jaccard(new.body_words, held.body_words)
    if new.negations % 2 != held.negations % 2:
        return 0.0, ""
    if new.letters and new.title != held.title:
        repeats = _repeats(new, held)
        if repeats:
            return (max(body, DUPLICATE), "evasive") if body >= repeats else (0.0, "")
    if _qualified(new.title_words, held.title_words):
        return 0.0, ""
    if _another_value(new, held):
        return 0.0, ""
    score = TITLE_SHARE * jaccard(new.title_words, held.title_words) + (1 - TITLE_SHARE) * body
    if new.body == held.body and len(new.body_words) >= 6 and not _numbers_differ(new.title_words, held.title_words):
        score = max(score, 0.9)
    return score, "near"


def _repeats(new: Text, held: Text) -> float:
    """How alike two bodies must be when one title is the other with a suffix (0: it is not).

    Little, when exactly one of them carries the suffix that says "the same again"; much, when only punctuation
    differs, or when both carry one, which may well be two versions of a thing.
    """
    if new.bare == held.bare:
        suffixes = (new.bare != new.trim) + (held.bare != held.trim)
        return (0.6, 0.3, DUPLICATE)[suffixes]
    if new.letters == held.letters:
        return 0.6
    if new.uncounted == held.bare or new.bare == held.uncounted:
        return 0.5
    return 0.0


def _qualified(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether one title is the other with words more."""
    return (a < b or b < a) and bool(a and b)


def _numbers_differ(a: frozenset[str], b: frozenset[str]) -> bool:
    return any(_VALUE.search(w) for w in a ^ b)


def _another_value(new: Text, held: Text) -> bool:
    """Whether the titles, or the whole bodies, differ only in what they state: a span replaced by another span."""
    if _numbers_differ(new.title_words, held.title_words):
        return True
    if new.title == held.title:
        return _replaced(new.body, held.body)
    if any(updates.same_slot(a, b) or updates.same_slot(b, a) for a in new.claims[:2] for b in held.claims[:2]):
        return True
    return _replaced(new.title, held.title)


def _replaced(a: str, b: str) -> bool:
    """Whether one run of words stands in `b` where another stands in `a`, everything around it being the same."""
    x, y = a.split(), b.split()
    if len(x) < 3 or len(y) < 3:
        return False
    n = 0
    while n < min(len(x), len(y)) and x[n] == y[n]:
        n += 1
    m = 0
    while m < min(len(x), len(y)) - n and x[-1 - m] == y[-1 - m]:
        m += 1
    one, two = x[n : len(x) - m], y[n : len(y) - m]
    if not (one and two) or n + m < 2 or max(len(one), len(two)) > 4 or {*one} & {*two}:
        return False
    return not (_spoken(one) & _spoken(two))  # the same words in another form are no other value


def _spoken(span: list[str]) -> frozenset[str]:
    return kernel(forms.words(" ".join(span)))
