"""Text as the index and the resolver compare it: name keys, words, and scripts that are written without spaces."""

from __future__ import annotations

import re

# Marks that show nothing: direction marks, zero-width space, word joiner, BOM, soft hyphen.
_UNSEEN = dict.fromkeys(
    [0x00AD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_JOINERS = "\u200c\u200d"  # meaningful inside a word or an emoji, noise around a name
_SPACES = re.compile(r"\s+")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Han, kana, Hangul, and the South-East Asian scripts, whose words run together.
_DENSE = (
    "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
    "\U00020000-\U0003ffff\u0e01-\u0e4e\u0e80-\u0edf\u1000-\u109f\u1780-\u17d3"
)
_CAMEL = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
# A word as the tokenizer of the index sees it: letters, digits and marks, nothing else. Python's \w has no category
# M, hence the range list.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903"
    "\u093a-\u094f\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b4d\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c4d\u0c81-\u0c83\u0cbc-\u0ccd"
    "\u0d00-\u0d03\u0d3b-\u0d4d\u0dca-\u0ddf"
)
_patterns: dict[str, re.Pattern[str]] = {}
STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me my"
    " no not of on or our shall should so that the their them then there these they this those to was we were what when"
    " where which who whom why will with would you your about after also any because being between both during each few"
    " he her him his more most other out over own same she some such than too under until up very while".split()
)
MAX_TERMS = 32
MAX_QUERY = 10_000  # characters of a query that are looked at


def dense() -> re.Pattern[str]:
    """Matches a run of characters of scripts that are written without spaces."""
    # Compiled at first use: the character classes cost milliseconds that a hook does not have.
    if "dense" not in _patterns:
        _patterns["dense"] = re.compile(f"[{_DENSE}]+")
    return _patterns["dense"]


def _word() -> re.Pattern[str]:
    if "word" not in _patterns:
        letter = f"(?:[^\\W_]|[{_MARKS}])"
        _patterns["word"] = re.compile(f"(?:[^\\W_]|[{_MARKS}{_DENSE}])+(?:['’]{letter}+)?")
    return _patterns["word"]


def clean(text: str) -> str:
    """Make `text` storable: no lone surrogates, no NUL."""
    if "\0" in text:
        text = text.replace("\0", " ")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def fold(name: str) -> str:
    """The form under which link targets and file names are compared: NFC, case folded, invisible marks ignored,
    spaces single.
    """
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFC", normalize("NFC", name.translate(_UNSEEN)).casefold()).strip(_JOINERS)
    else:
        name = name.lower()
    return _SPACES.sub(" ", name).strip()


def key(name: str) -> str:
    """The form under which search compares names: `fold`, and compatibility forms (full width, ligatures) made
    equal.
    """
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFKC", clean(name))
    return fold(name)


def segment(text: str) -> str:
    """`text` as it goes into the full-text index: compatibility forms unified, dense scripts cut into overlapping
    pairs.
    """
    text = clean(text)
    if text.isascii():
        return text
    from unicodedata import normalize

    return dense().sub(_pairs, normalize("NFKC", text.translate(_UNSEEN)))


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join([run[i : i + 2] for i in range(len(run) - 1)]) + " "


def words(text: str) -> list[str]:
    """The words of `text` in order, lower case, dense scripts as pairs."""
    return [w.lower() for w in _word().findall(segment(text))]


def terms(query: str, limit: int = MAX_TERMS) -> list[str]:
    """The words of a query worth looking for: each once, English stop words dropped unless nothing else is there."""
    found = words(query[:MAX_QUERY])
    kept = [w for w in found if w not in STOP and w.split("'")[0].split("’")[0] not in STOP]
    return list(dict.fromkeys(kept or found))[:limit]


def name_words(name: str) -> str:
    """A path or identifier with its words apart: folders, dashes, camelCase and snake_case split; the whole stays as
    well.
    """
    split = _CAMEL.sub(" ", name)
    return name.replace("/", " ") if split == name else f"{name.replace('/', ' ')} {split.replace('/', ' ')}"


def match_expression(query: str) -> str:
    """An FTS5 expression for any query: its parts joined by OR; "" if it holds no word."""
    return " OR ".join(match_parts(query))


def match_parts(query: str) -> list[str]:
    """An FTS5 expression for any query: every term quoted, joined by OR, a quoted phrase kept as one more term; "" if
    it holds no word.
    """
    query = query[:MAX_QUERY]
    parts = []
    for phrase in re.findall(r'["“„«]([^"“”„«»]+)["”“»]', query)[:8]:
        inside = words(phrase)[:MAX_TERMS]
        if len(inside) > 1:
            parts.append('"' + " ".join(inside) + '"')
    for term in terms(query):
        # One character of a dense script is no pair: it matches as the beginning of one.
        prefix = "*" if len(term) == 1 and dense().match(term) else ""
        parts.append(f'"{term}"{prefix}')
    return list(dict.fromkeys(parts))
