"""YAML scalars as Obsidian reads them: what a plain or quoted value means, and how any value is written on one line."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS: dict[str, object] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None,
}  # fmt: skip
# Numbers as JSON writes them. 010, +49, 0x1f and 1_000 stay what people wrote.
_INTEGER = re.compile(r"(?:0|-?[1-9][0-9]{0,299})\Z")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)\Z")
_MAYBE = frozenset("-0123456789tTfFnN~")

# As text where they are not needed to read most notes: compiled at first use, which spares every hook.
_ESCAPE = r"(?s)\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))"
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip

# Plain when written: starts with a letter and holds nothing that any YAML reader could take for syntax.
_PLAIN = (
    r"[^\W\d_](?:[^\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff:#\"'\[\]{},&*!|>%@`\\]|:(?=[^\s]))*\Z"
)
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?\Z"
_OTHER_WORDS = frozenset(("yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))
_UNSAFE = "[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"


def resolve(plain: str) -> object:
    """Return what an unquoted value means: true/false, null, a number, else the text itself (dates, 12:30, no, 010)."""
    if not plain:
        return None
    if plain[0] not in _MAYBE:
        return plain
    if plain in _WORDS:
        return _WORDS[plain]
    if _INTEGER.match(plain):
        return int(plain)
    if _FLOAT.match(plain):
        number = float(plain)
        return plain if number in (float("inf"), float("-inf")) else number
    return plain


def unescape(text: str) -> str | None:
    """Undo the escapes of a double-quoted value (without its quotes); None if one of them is not YAML."""
    try:
        found = re.sub(_ESCAPE, _escape, text)
    except (KeyError, ValueError, OverflowError):
        return None
    return clean(found) if "\\u" in text else found


def _escape(match: re.Match[str]) -> str:
    digits = match.group(1) or match.group(2) or match.group(3)
    return chr(int(digits, 16)) if digits else _ESCAPES[match.group(4)]


def clean(text: str) -> str:
    """Turn JSON's spelling of a character beyond 16 bits (two escapes) into that character, a lone half into U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def scalar(value: object) -> str:
    """Return `value` (text, number, boolean, None) as YAML on one line that reads back to the same value.

    Half a character (a lone surrogate), which no file can hold, becomes U+FFFD.
    """
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        text = repr(value)
        return text if resolve(text) == value else f'"{text}"'
    text = str(value)
    if re.match(_DATE, text):
        return text
    if re.match(_PLAIN, text) and text[-1] not in " :" and text.lower() not in _OTHER_WORDS:
        return text
    if ("\\" in text or '"' in text) and not re.search(_UNSAFE, text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + re.sub(_UNSAFE, _unsafe, clean(text).replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _unsafe(match: re.Match[str]) -> str:
    char = match.group()
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    return short or (f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}")


def key(name: str) -> str:
    """Return a property name as YAML."""
    return name if re.match(r"[^\W\d][\w \-./]*\Z", name) and name[-1] != " " and scalar(name) == name else quoted(name)


def quoted(text: str) -> str:
    """Return `text` in double quotes, whatever it holds."""
    return '"' + re.sub(_UNSAFE, _unsafe, clean(text).replace("\\", "\\\\").replace('"', '\\"')) + '"'


def lines(name: str, value: object, indent: str = "") -> list[str]:
    """Return the lines of one property; a list becomes a block list."""
    start = f"{indent}{key(name)}:"
    if value is None:
        return [start]
    if isinstance(value, (list, tuple)):
        return [start, *(f"{indent}  - {scalar(item)}" for item in value)] if value else [f"{start} []"]
    return [f"{start} {scalar(value)}"]


def dump(values: Mapping[str, object]) -> str:
    """Return a whole block of properties for a new note, keys in the given order, lists as block lists."""
    return "\n".join(["---", *(line for name, value in values.items() for line in lines(name, value)), "---", ""])
