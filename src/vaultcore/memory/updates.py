"""Whether a new sentence gives the slot that a held one fills another value."""

from __future__ import annotations

import re

from . import forms
from .contradictions import has_cue, opposed, polarity, reversal
from .vocabulary import DENSE_VALUE, FUNCTION, NOW, NUMBER, PARTICIPLE, PRONOUN, UNIT, VERBS

__all__ = ["bucket", "claims", "has_cue", "opposed", "polarity", "reversal", "same_slot", "sentences"]

_END = re.compile(r"[.。!！\s]+$")
_ENDS = (",", ":", ";", ".", "!", "?")
LONGEST_TAIL = 12

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*|\n+")
_TOPIC = re.compile("^(.{2,40}?(?:は|が|を|の値は|是|为|為|改为|使用|用|在|需要|은|는|이|가|을|를)\\s?)(.{1,40})$")


def sentences(text: str, most: int = 4) -> list[str]:
    """The first sentences of a text, without list marks."""
    found = []
    for piece in _SENTENCE.split(text[:2_000]):
        piece = piece.strip().lstrip("-*+>#0123456789.) ").strip() if not piece[:1].isdigit() else piece.strip()
        if len(piece) > 3:
            found.append(piece)
            if len(found) == most:
                break
    return found


def claims(title: str, body: str) -> list[str]:
    """The sentences by which a memory can replace another: its title and the opening of its body."""
    return list(dict.fromkeys([title.strip(), *sentences(body, 3)]))


def bucket(sentence: str) -> str:
    """Sentences of one slot share this: the first words, or the first characters where words have no spaces."""
    if forms.starts_dense(sentence):
        return sentence[:2]
    return " ".join(w.lower() for w in sentence.split(None, 3)[:3])


def same_slot(held: str, new: str) -> bool:
    """Whether `new` gives the slot that `held` fills another value.

    Both share an opening of at least three words (40 % of the shorter) that holds a finite verb; the two tails hold
    none, are short and are no clause; the sentence does not open with a pronoun. Or they differ in one value only (a
    number, a name) that is no part of the subject. In scripts without spaces: the same topic up to its particle or
    copula, with short different tails, or one number or foreign word replaced.
    """
    if forms.starts_dense(held) and forms.starts_dense(new):
        return _same_topic(held, new) or _dense_value(held, new)
    if held[:1].casefold() != new[:1].casefold():
        return False
    a, b = _bare(held), _bare(new)
    if not a or not b or a[0].casefold().strip(".,:;") in PRONOUN:
        return False
    n = 0
    while n < min(len(a), len(b)) and a[n].casefold() == b[n].casefold():
        n += 1
    first, second = a[n:], b[n:]
    # "is now X" after "is X": the adverb is no part of the value
    if second and second[0].casefold() in NOW:
        second = second[1:]
    if first and first[0].casefold() in NOW:
        first = first[1:]
    return _value_replaced(a[:n], first, second) or _tail_replaced(a[:n], first, second)


def _tail_replaced(head: list[str], first: list[str], second: list[str]) -> bool:
    n = len(head)
    if n < 3 or not first or not second or n < 0.4 * (n + min(len(first), len(second))):
        return False
    # a verb that opens the sentence is an order or a definition ("Return a list"), not a statement about something
    if not any(w.casefold() in VERBS for w in head[1:]):
        return False
    # "The Beatles" and "Los Angeles" are names; "the queue" and "in March" are clauses
    if first[0] in FUNCTION or second[0] in FUNCTION:
        return False
    if n < 5 and any(w.endswith(_ENDS) for w in head):
        return False
    if max(len(first), len(second)) > LONGEST_TAIL:
        return False
    # "is counted per user" and "is reset at noon" say two things of one subject
    if PARTICIPLE.match(first[0]) or PARTICIPLE.match(second[0]):
        return False
    return not any(w.casefold() in VERBS for w in (*first, *second)) and not _only_adds(first, second)


def _value_replaced(head: list[str], first: list[str], second: list[str]) -> bool:
    """Whether both sentences are the same but for one number or name behind the subject."""
    m = 0
    while m < min(len(first), len(second)) and first[-1 - m].casefold() == second[-1 - m].casefold():
        m += 1
    one, two, rest = first[: len(first) - m], second[: len(second) - m], first[len(first) - m :]
    if not one or not two or max(len(one), len(two)) > 3 or len(head) + m < 3 or len(head) < 2:
        return False
    if all(map(_number, one)) and all(map(_number, two)):
        # a number right behind the first noun names the thing: "Case 17 shows", "Version 3 of"
        return len(head) >= 3 or head[-1].casefold() in VERBS
    if not (all(map(_named, one)) and all(map(_named, two))):
        return False
    return (
        len(head) >= 3 and any(w.casefold() in VERBS for w in head[1:]) and not any(w.casefold() in VERBS for w in rest)
    )


def _number(word: str) -> bool:
    return bool(NUMBER.match(word.strip(".,;()")) or UNIT.match(word.strip(".,;()")))


def _named(word: str) -> bool:
    """Whether a word inside a sentence is a name or an identifier."""
    bare = word.strip(".,;:()'\"")
    return bool(bare) and (
        bare[0].isupper()
        or any(c.isdigit() for c in bare)
        or any(c in bare[1:] for c in "._/@:#")
        or bare != bare.lower()
    )


def _dense_value(held: str, new: str) -> bool:
    a, b = _END.sub("", held), _END.sub("", new)
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    m = 0
    while m < min(len(a), len(b)) - n and a[-1 - m] == b[-1 - m]:
        m += 1
    one, two = a[n : len(a) - m], b[n : len(b) - m]
    return n >= 2 and n + m >= 4 and bool(DENSE_VALUE.match(one) and DENSE_VALUE.match(two))


def _bare(sentence: str) -> list[str]:
    return _END.sub("", sentence).split()


def _only_adds(first: list[str], second: list[str]) -> bool:
    """Whether one tail is the other with something added: a qualifier, not another value."""
    short, long = sorted(([w.casefold() for w in first], [w.casefold() for w in second]), key=len)
    return long[: len(short)] == short or long[-len(short) :] == short


def _same_topic(held: str, new: str) -> bool:
    a, b = _END.sub("", held), _END.sub("", new)
    if a == b:
        return False
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    # the shared opening must reach past a topic mark
    found = _TOPIC.match(a)
    cut = 0
    while found:
        mark = cut + found.end(1)
        if mark > n:
            break
        cut = mark
        found = _TOPIC.match(a[cut:])
    if cut < 3 or cut < 0.3 * min(len(a), len(b)):
        return False
    m = 0
    while m < min(len(a), len(b)) - n and a[-1 - m] == b[-1 - m]:
        m += 1
    first, second = a[cut : len(a) - m], b[cut : len(b) - m]
    if not first or not second or max(len(first), len(second)) > 16:
        return False
    short, long = sorted((first, second), key=len)
    if m == 0 and len(long) > 8 and not (DENSE_VALUE.match(first) and DENSE_VALUE.match(second)):
        return False  # another predicate: two things said of one topic
    return polarity(a) == polarity(b) and not long.startswith(short) and not long.endswith(short)
