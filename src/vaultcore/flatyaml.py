"""The flat subset of YAML that Obsidian writes: scalars, and lists of scalars, one property after the other.

Fast, and exact where it answers: whatever it does not fully understand it leaves to a YAML parser.
"""

from __future__ import annotations

import re

from vaultcore import scalars
from vaultcore.errors import Problem

_KEY = re.compile(r"\w[\w \-./]*\Z")
_ITEM = re.compile(r"( *)-(?:[ \t]+(.*))?\Z")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(?:[ \t]+#.*)?\Z')
_SINGLE = re.compile(r"'([^']*(?:''[^']*)*)'(?:[ \t]+#.*)?\Z")
# Compiled at first use.
_FLOW = (
    r"""[ \t]*(?:"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*|'([^']*(?:''[^']*)*)'[ \t]*"""
    r"""|((?:[^\s\[\]{},"'#&*!|>%@`:?\-]|-(?=[^\s,\[\]{}]))(?:[^\[\]{},#:]|:(?![\s,\[\]{}]))*))([,\]])"""
)
_FLOW_END = re.compile(r"[ \t]*\]")
_SPECIAL = frozenset("\"'[]{}&*!|>%@`#,?:-")
_BEYOND = object()
_known: set[str] = set()


def load(block: str) -> tuple[dict[str, object], list[tuple[str, object]], list[Problem]] | None:
    """Return the values, those that lost to a later value or a comment sign, and the problems of a flat block.

    None when a line is beyond the subset, or wrong.
    """
    if _ODD.search(block):
        return None
    values: dict[str, object] = {}
    shadowed: list[tuple[str, object]] = []
    problems: list[Problem] = []
    number = 1
    key = ""
    items: list[object] | None = None
    open_key = False
    width = 0
    for raw in block.split("\n"):
        number += 1
        line = raw.rstrip(" \t")
        if not line:
            continue
        first = line[0]
        if first == "#":
            continue
        if first == " " or first == "-" or first == "\t":
            item = _ITEM.match(line)
            if item is None:
                if first != "\t" and line.lstrip(" ")[0] == "#":
                    continue
                return None
            if not open_key:
                return None
            if items is None:
                items = values[key] = []
                width = item.end(1)
            elif item.end(1) != width:
                return None
            rest = item.group(2)
            value = _value(rest) if rest else None
            if value is _BEYOND:
                return None
            if rest and rest[0] == "#":
                _comment(key, rest, number, shadowed, problems)
            items.append(value)
            continue
        name, colon, rest = line.partition(":")
        if not colon or (rest and rest[0] not in " \t"):
            return None
        if name not in _known:
            if not _KEY.match(name):
                return None
            if len(_known) < 1000:
                _known.add(name)
        key = name.rstrip(" \t")
        rest = rest.strip(" \t")
        value = _value(rest) if rest else None
        if value is _BEYOND:
            return None
        if key in values:
            shadowed.append((key, values[key]))
            problems.append(twice(key, number))
        values[key] = value
        items = None
        open_key = not rest or rest[0] == "#"
        if rest and rest[0] == "#":
            _comment(key, rest, number, shadowed, problems)
    return values, shadowed, problems


def _value(text: str) -> object:
    """Return what the text after `key:` or `-` means, or _BEYOND."""
    first = text[0]
    if first not in _SPECIAL:
        if " #" in text or "\t#" in text:
            text = re.split(r"(?<![ \t])[ \t]+#", text, maxsplit=1)[0]
        if ": " in text or text[-1] == ":" or ":\t" in text:
            return _BEYOND
        return scalars.resolve(text)
    if first == '"':
        match = _DOUBLE.match(text)
        if match is None:
            return _BEYOND
        inner = match.group(1)
        if "\\" not in inner:
            return inner
        undone = scalars.unescape(inner)
        return _BEYOND if undone is None else undone
    if first == "'":
        match = _SINGLE.match(text)
        return _BEYOND if match is None else match.group(1).replace("''", "'")
    if first == "[":
        return _flow(text)
    if first == "#":
        return None
    if first in "-?:" and text[1:2] not in ("", " ", "\t"):
        if " #" in text or "\t#" in text or ": " in text or ":\t" in text or text[-1] == ":":
            return _BEYOND
        return scalars.resolve(text)
    return _BEYOND


def _flow(text: str) -> object:
    """Read `[a, "b", 'c']` on one line, or give up."""
    found: list[object] = []
    part = re.compile(_FLOW)
    at = 1
    while True:
        end = _FLOW_END.match(text, at)
        if end:
            break
        match = part.match(text, at)
        if match is None:
            return _BEYOND
        double, single, plain, mark = match.groups()
        if plain is not None:
            found.append(scalars.resolve(plain.rstrip(" \t")))
        elif single is not None:
            found.append(single.replace("''", "'"))
        else:
            undone = scalars.unescape(double) if "\\" in double else double
            if undone is None:
                return _BEYOND
            found.append(undone)
        at = match.end()
        if mark == "]":
            end = match
            break
    rest = text[end.end() :]
    return found if not rest or (rest[0] in " \t" and rest.lstrip(" \t")[:1] in ("", "#")) else _BEYOND


def twice(key: str, line: int) -> Problem:
    """Return the problem of a property that is given twice."""
    message = f"the property {key} stands there twice; the last one counts"
    return Problem("", message, line=line, fix="Keep one of them.")


def _comment(key: str, rest: str, line: int, shadowed: list[tuple[str, object]], problems: list[Problem]) -> None:
    """Note a value that YAML takes for a comment: `tags: #private` says nothing to YAML, but its writer meant it."""
    if len(rest) > 1 and rest[1] not in " \t#":
        shadowed.append((key, rest))
        message = f"the value of {key} starts with #, which makes it a comment"
        problems.append(Problem("", message, line=line, fix="Leave out the #."))
