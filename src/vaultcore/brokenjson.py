"""Where a key stands in a JSON text, and what can be read of a broken one (merge markers, stray commas, cut off)."""

from __future__ import annotations

import json
import re

from vaultcore.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MARKER = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(?: .*)?\r?$", re.MULTILINE)
_MEMBER = re.compile(r'"((?:[^"\\\n]|\\.)*)"[ \t\r\n]*:[ \t\r\n]*')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_STRAY = re.compile(r",(\s*[\]}])")
_NOTE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def locate(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    """Return line and column (from 1) of the key at `path`; (0, 0) if it cannot be found."""
    start, depth = 0, 1
    found = -1
    for key in path:
        found = _member(text, start, key, depth)
        if found < 0:
            return 0, 0
        start, depth = found, 2
    return position(text, found)


def position(text: str, offset: int) -> tuple[int, int]:
    """Return line and column (from 1) of an offset."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def recover(name: str, text: str, error: Exception) -> tuple[dict[str, Any], Problem]:
    """Return the top-level keys that can be read of a broken JSON text, and what is wrong with it."""
    marker = _MARKER.search(text)
    if marker:
        line, column = position(text, marker.start())
        fix = "Settle the merge and remove the markers; until then the upper side counts."
        problem = Problem(name, "holds markers of an unfinished merge", line=line, column=column, fix=fix)
        text = _upper_side(text)
    elif isinstance(error, json.JSONDecodeError):
        if not text.strip():
            problem = Problem(name, "is empty", line=1, column=1, fix="Write {} or restore it from git.")
        else:
            message = f"is not valid JSON: {error.msg.lower()}"
            problem = Problem(name, message, line=error.lineno, column=error.colno, fix="Mend that place.")
    else:
        problem = Problem(name, f"is not valid JSON ({type(error).__name__})", line=1, column=1, fix="Mend it.")
    mended = _STRAY.sub(r"\1", _NOTE.sub(_without_note, text))
    for attempt in (text, mended):
        try:
            whole = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        if isinstance(whole, dict):
            return whole, problem
    return _members(mended), problem


def _members(text: str) -> dict[str, Any]:
    """Read key by key at the first key's indentation, skipping what does not parse."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] = {}
    first = _MEMBER.search(text)
    if first is None or not text[: first.start()].strip().startswith("{"):
        return found
    indent = first.start() - text.rfind("\n", 0, first.start())
    at = 0
    while True:
        member = _MEMBER.search(text, at)
        if member is None:
            return found
        at = member.end()
        if member.start() - text.rfind("\n", 0, member.start()) != indent and member is not first:
            continue
        try:
            value, at = decoder.raw_decode(text, member.end())
            found[json.loads(f'"{member.group(1)}"')] = value
        except (ValueError, RecursionError):
            continue


def _upper_side(text: str) -> str:
    kept: list[str] = []
    side = "both"
    for line in text.splitlines(keepends=True):
        if line.startswith("<<<<<<<"):
            side = "upper"
        elif side != "both" and line.startswith(("|||||||", "=======")):
            side = "lower"
        elif side != "both" and line.startswith(">>>>>>>"):
            side = "both"
        elif side != "lower":
            kept.append(line)
    return "".join(kept)


def _without_note(match: re.Match[str]) -> str:
    return match.group() if match.group().startswith('"') else ""


def _member(text: str, start: int, key: str, depth: int) -> int:
    """Return the offset of the key `key` at nesting `depth`, looking from `start` on (the last of equal ones)."""
    level = depth - 1 if depth > 1 else 0
    at, found = start, -1
    while at < len(text):
        char = text[at]
        if char == '"':
            string = _STRING.match(text, at)
            if string is None:
                break
            member = _MEMBER.match(text, at)
            if level == depth and member and _decoded(member.group(1)) == key:
                found = at
                if depth > 1:
                    return found
            at = member.end() if member else string.end()
            continue
        if char in "{[":
            level += 1
        elif char in "}]":
            level -= 1
            if level < depth - 1:
                break
        at += 1
    return found


def _decoded(raw: str) -> str:
    try:
        return str(json.loads(f'"{raw}"'))
    except ValueError:
        return raw
