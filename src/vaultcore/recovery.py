"""What can still be read from properties that are not valid YAML, and what is wrong with them in plain words."""

from __future__ import annotations

import re

from vaultcore import scalars
from vaultcore.errors import Problem

_KEY = re.compile(r"""("[^"\n]*"|'[^'\n]*'|[^\s:#\-*\[\]{}"'|>&!%@`][^:\n]{0,200}?)[ \t]*:(?:[ \t]+(.*))?\Z""")
_ITEM = re.compile(r"[ \t]*[-*+](?:[ \t]+(.*))?\Z")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\Z")
_PART = re.compile(r"""[ \t]*("[^"\\]*(?:\\.[^"\\]*)*"|'[^']*(?:''[^']*)*'|[^,]*)[ \t]*(?:,|\Z)""")
_MOST = 5


def pairs(block: str) -> list[tuple[str, object, int, int]]:
    """Return (key, value, line, 0) of what looks like `key: value` at the margin, with the list items below it."""
    found: list[tuple[str, object, int, int]] = []
    items: list[object] | None = None
    text: list[str] | None = None
    for number, raw in enumerate(block.split("\n")):
        line = raw.rstrip(" \t\r")
        if not line or line[0] == "#":
            continue
        key = _KEY.match(line)
        if key is not None:
            rest = key.group(2) or ""
            items = text = None
            value: object
            if not rest or rest[0] == "#":
                value = items = []
                if rest[1:2] not in ("", " ", "\t"):
                    items.append(rest)
            elif _BLOCK_SCALAR.match(rest):
                value, text = "", []
            else:
                value = lenient(rest)
            found.append((_unquoted(key.group(1)), value, number, 0))
            continue
        item = _ITEM.match(line)
        if text is not None and line[0] in " \t":
            text.append(line.strip())
            last = found[-1]
            found[-1] = (last[0], " ".join(text), last[2], last[3])
        elif item is not None and items is not None:
            items.append(lenient(item.group(1) or ""))
        elif line[0] in " \t" and found and isinstance(found[-1][1], str):
            last = found[-1]
            found[-1] = (last[0], f"{last[1]} {line.strip()}", last[2], last[3])
    return [(key, value if value != [] else None, line, column) for key, value, line, column in found]


def quote_colons(block: str) -> str | None:
    """Return `block` with quotes around one-line values that only a colon makes invalid; None if there is no such line.

    A private mark in such a value is not guessed at: then the block stays invalid, and the note withheld.
    """
    lines = block.split("\n")
    changed = False
    for number, raw in enumerate(lines):
        key = _KEY.match(raw.rstrip(" \t\r"))
        rest = (key.group(2) or "") if key else ""
        if key is None or not rest or len(rest) > 300 or rest[0] in "\"'[]{}&*!|>%@`#,?-" or " #" in rest:
            continue
        if ": " in rest or ":\t" in rest or rest[-1] == ":":
            if _unquoted(key.group(1)).strip().lower() in ("private", "tags", "tag"):
                return None
            lines[number] = f"{key.group(1)}: {scalars.quoted(rest)}"
            changed = True
    return "\n".join(lines) if changed else None


def lenient(rest: str) -> object:
    """Read a value as its writer most likely meant it."""
    if not rest:
        return None
    if rest[0] == "[":
        inner = rest[1:].split(" #")[0].rstrip().rstrip("]")
        return [lenient(part.strip("[] \t")) for part in _PART.findall(inner) if part.strip("[] \t")]
    if rest[0] in "\"'":
        return _unquoted(rest)
    if rest[0] == "#":
        return rest
    return scalars.resolve(re.split(r"(?<![ \t])[ \t]+#", rest, maxsplit=1)[0])


def _unquoted(text: str) -> str:
    bare = re.split(r"(?<=[\"'])[ \t]+#", text, maxsplit=1)[0].rstrip()
    if len(bare) > 1 and bare[0] == bare[-1] == "'":
        return bare[1:-1].replace("''", "'")
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        undone = scalars.unescape(bare[1:-1])
        return bare[1:-1] if undone is None else undone
    return text


def prose(block: str) -> bool:
    """Tell whether an invalid block is text rather than properties: paragraphs, quotes, lists after blank lines."""
    strange = 0
    gap = False
    open_key = False
    for raw in block.split("\n"):
        line = raw.rstrip(" \t\r")
        if not line:
            gap = True
            continue
        if line[0] == "#":
            gap = gap or line.lstrip("#")[:1] == " "
            continue
        key = _KEY.match(line)
        if key is not None and len(key.group(1).split()) <= 4:
            gap = False
            open_key = True
            continue
        if line[0] in " \t]}" or (_ITEM.match(line) and open_key and not gap):
            continue
        open_key = False
        strange += 1
        if gap or strange > 2:
            return True
    return False


def faults(block: str) -> list[Problem]:
    """Return the commonest mistakes, certain without a YAML parser, in words that say what to type."""
    found: list[Problem] = []
    long_text = False
    for number, raw in enumerate(block.split("\n")):
        text = raw.rstrip(" \t\r")
        if not text or text[0] == "#" or len(found) >= _MOST or (long_text and text[0] == " "):
            continue
        key = _KEY.match(text)
        rest = (key.group(2) or "") if key else ""
        long_text = _BLOCK_SCALAR.match(rest) is not None
        if text[0] == "\t":
            found.append(_at(number, "a tab is used to indent, which YAML does not allow", "Use two spaces."))
        elif text.lstrip(" \t")[:1] in ("*", "+") and _ITEM.match(text):
            found.append(_at(number, f"list items start with -, not with {text.strip()[0]}", "Write `- ` instead."))
        elif rest.startswith(("{{", "<%")):
            continue  # reported once, as template code
        elif key and rest[:1] not in ("", '"', "'", "[", "{", "|", ">", "#") and _needs_quotes(rest):
            fix = f"Put it in quotes: {key.group(1)}: {scalars.quoted(rest)[:80]}"
            found.append(_at(number, f"the value of {key.group(1)} is not valid YAML without quotes", fix))
    return found


def explain(block: str, message: str, line: int, column: int) -> list[Problem]:
    """Return what is wrong, line numbers as in the file; the parser's own message where no common mistake is found."""
    found = faults(block)
    if not found:
        lines = block.split("\n")
        if any("{{" in text or "<%" in text for text in lines[line : line + 1]):
            return found  # template code: said once, by the reader
        for number in (line - 1, line):
            text = lines[number].rstrip(" \t\r") if 0 <= number < len(lines) else ""
            if text and text[0] not in " \t]}#" and not _KEY.match(text) and not _ITEM.match(text):
                line, column = number, 0
                message = f"{text[:40]!r} is no line of `key: value`"
                break
        message = f"the properties are not valid YAML: {message}"
        found.append(Problem("", message, line=line + 2, column=column + 1, fix="Mend that line."))
    return found


def _needs_quotes(rest: str) -> bool:
    return ": " in rest or rest[-1] == ":" or rest[0] in "@`%," or rest[:2] in ("- ", "? ") or ":\t" in rest


def _at(number: int, message: str, fix: str) -> Problem:
    return Problem("", message, line=number + 2, fix=fix)
