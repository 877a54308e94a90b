"""The one reader of properties: the block at the top of a note, read as Obsidian reads it.

The flat subset that Obsidian writes (scalars and lists) is read here, fast and with the standard library. Anything
beyond goes to PyYAML where it is installed (`fullyaml`); what is not valid is read line by line (`recovery`),
reported, and never counts as whole.
"""

from __future__ import annotations

import re

from vaultcore import scalars
from vaultcore.errors import Problem
from vaultcore.scalars import dump, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LIMIT", "Properties", "as_list", "decode", "dump", "edit", "read", "scalar"]

LIMIT = 65_536
"""The longest block that is read, in characters."""

_OPEN = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSE = re.compile(r"(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
# Rarely needed, so compiled at first use: every hook pays for what is compiled at import.
_LATE = r"(?:[ \t]*\r?\n)+---[ \t]*\r?\n[^\W\d][\w \-]*:(?:[ \t\r]|\n)"
_KEY = re.compile(r"\w[\w \-./]*\Z")
_ITEM = re.compile(r"( *)-(?:[ \t]+(.*))?\Z")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(?:[ \t]+#.*)?\Z')
_SINGLE = re.compile(r"'([^']*(?:''[^']*)*)'(?:[ \t]+#.*)?\Z")
_FLOW = (
    r"""[ \t]*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|'([^']*(?:''[^']*)*)'"""
    r"""|((?:[^\s\[\]{},"'#&*!|>%@`:?\-]|-(?=[^\s,\[\]{}]))(?:[^\[\]{},#:]|:(?![\s,\[\]{}]))*))[ \t]*([,\]])"""
)
_FLOW_END = re.compile(r"[ \t]*\]")
_SPECIAL = frozenset("\"'[]{}&*!|>%@`#,?:-")
_BEYOND = object()
_known: set[str] = set()


class Properties:
    """What the block at the top of a note says.

    `state`: "absent", "whole", "recovered" (not valid, or not checked: read line by line) or "unreadable" (never
    closed or too long: no values). `start`/`end`: offsets in the text of what stands between the fences. `body`:
    offset of what follows. `checked`: False when PyYAML was needed and is not installed. `shadowed`: values that
    lost to a later value of the same key or to a comment sign; they still count for privacy.
    """

    __slots__ = ("body", "checked", "end", "problems", "shadowed", "start", "state", "values")

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.problems: list[Problem] = []
        self.shadowed: list[tuple[str, object]] = []
        self.state = "absent"
        self.start = 0
        self.end = 0
        self.body = 0
        self.checked = True

    def get(self, name: str) -> object:
        """Return the value of the property `name`, spelled in any case; None if there is none."""
        if name in self.values:
            return self.values[name]
        wanted = name.lower()
        return next((value for key, value in self.values.items() if key.lower() == wanted), None)


def decode(data: bytes) -> tuple[str, str | None]:
    """Return the text of a note without its byte order mark, and a remark if it is not UTF-8."""
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    elif data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        name = "utf-16-le" if data[:1] == b"\xff" else "utf-16-be"
        return data[2:].decode(name, "replace"), "the file is saved as UTF-16; save it as UTF-8"
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        remark = f"the file is not UTF-8 (first strange byte in line {line}); it was read as Windows-1252"
        return data.decode("cp1252", "replace"), remark


def read(text: str) -> Properties:
    """Read the properties of a note. Never raises; what is wrong stands in `problems`, with its line in the file."""
    props = Properties()
    first = 1 if text[:1] == "\ufeff" else 0
    props.body = first
    opening = _OPEN.match(text, first)
    if opening is None:
        if text[first : first + 1] in ("\n", "\r", " ", "\t") and re.match(_LATE, text[first : first + 1000]):
            line = text.count("\n", 0, text.index("---", first)) + 1
            props.problems.append(
                Problem(
                    "",
                    "the properties do not start on the first line, so they are not read",
                    line=line,
                    fix="Remove the blank lines above the opening ---.",
                )
            )
        return props
    props.start = props.end = opening.end()
    closing = _close(text, props.start, props.start + LIMIT)
    if closing is None:
        return _unclosed(text, props)
    props.end, props.body = closing.span()
    block = text[props.start : props.end]
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    if _ODD.search(block) or not _flat(block, props):
        _beyond(block, props)
        if props.state == "unreadable":
            props.body = first
    if "{{" in block or "<%" in block:
        _template(block, props)
    return props


def edit(data: bytes, changes: Mapping[str, object | None]) -> bytes:
    """Return the file with some properties changed and every other byte as it was.

    Only the lines of the changed properties are touched: order, comments, quoting, line ends, byte order mark and
    trailing blanks stay. None deletes a property; a block is added when there is none. VaultError when the
    block cannot be edited safely (never closed, UTF-16, a value that is no scalar or list).
    """
    from vaultcore.edits import edit as edited

    return edited(data, changes)


def as_list(value: object) -> list[str]:
    """Return text or a list (nested lists too) as a list of stripped, non-empty strings."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in as_list(item)]
    if isinstance(value, dict):
        return [text for item in value for text in as_list(item)]
    if value is True or value is False:
        return ["true" if value else "false"]
    text = str(value).strip()
    return [text] if text else []


def _close(text: str, start: int, stop: int) -> re.Match[str] | None:
    """Find the first line after `start` that is --- or ... and nothing else."""
    best: re.Match[str] | None = None
    for fence in ("\n---", "\n..."):
        at = start - 1
        limit = best.start() if best else stop + len(fence)
        while True:
            at = text.find(fence, at, limit)
            if at < 0:
                break
            found = _CLOSE.match(text, at + 1)
            if found:
                best = found
                break
            at += 1
    return best


def _unclosed(text: str, props: Properties) -> Properties:
    from vaultcore import recovery

    props.state = "unreadable"
    later = _close(text, props.start, len(text))
    if later is not None and not recovery.prose(text[props.start : props.start + LIMIT]):
        props.end, props.body = later.span()
        fix = "Shorten them: long text belongs in the body."
        props.problems.append(Problem("", "the properties are longer than 64 KB", line=1, fix=fix))
    else:
        props.problems.append(_not_closed())
    return props


def _not_closed() -> Problem:
    message = "the properties are opened but never closed: the closing --- is missing"
    return Problem("", message, line=1, fix="Add a line with --- after the last property.")


def _flat(block: str, props: Properties) -> bool:
    """Read the flat subset; False, and nothing kept, when a line is beyond it."""
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
                return False
            if not open_key:
                return False
            if items is None:
                items = values[key] = []
                width = item.end(1)
            elif item.end(1) != width:
                return False
            rest = item.group(2)
            value = _value(rest) if rest else None
            if value is _BEYOND:
                return False
            if rest and rest[0] == "#":
                _comment(key, rest, number, shadowed, problems)
            items.append(value)
            continue
        name, colon, rest = line.partition(":")
        if not colon or (rest and rest[0] not in " \t"):
            return False
        if name not in _known:
            if not _KEY.match(name):
                return False
            if len(_known) < 1000:
                _known.add(name)
        key = name.rstrip(" \t")
        rest = rest.strip(" \t")
        value = _value(rest) if rest else None
        if value is _BEYOND:
            return False
        if key in values:
            shadowed.append((key, values[key]))
            problems.append(_twice(key, number))
        values[key] = value
        items = None
        open_key = not rest or rest[0] == "#"
        if rest and rest[0] == "#":
            _comment(key, rest, number, shadowed, problems)
    props.values, props.shadowed, props.state = values, shadowed, "whole"
    props.problems += problems
    return True


def _value(text: str) -> object:
    """Return what the text after `key:` or `-` means, or _BEYOND."""
    first = text[0]
    if first not in _SPECIAL:
        if " #" in text or "\t#" in text:
            text = re.split(r"[ \t]+#", text, maxsplit=1)[0]
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


def _beyond(block: str, props: Properties) -> None:
    """Read what the flat reader cannot: with PyYAML, else line by line."""
    from vaultcore import fullyaml, recovery

    pairs: list[tuple[str, object, int, int]]
    try:
        pairs = fullyaml.load(block)
        props.state = "whole"
    except fullyaml.Invalid as error:
        if recovery.prose(block):
            # Text up to a rule far below, not properties: Obsidian's own reading of it would be no better.
            props.state = "unreadable"
            props.end = props.start
            props.problems.append(_not_closed())
            return
        props.state = "recovered"
        props.problems += recovery.explain(block, error.message, error.line, error.column)
        pairs = recovery.pairs(block)
    except ImportError:
        faults = recovery.faults(block)
        props.state, props.checked = "recovered", bool(faults)
        message = "the properties go beyond plain values and lists, and PyYAML is not installed: not checked"
        props.problems += faults or [Problem("", message, line=1, fix="Run `om.py setup`.")]
        pairs = recovery.pairs(block)
    for key, value, line, _column in pairs:
        if key in props.values:
            props.shadowed.append((key, props.values[key]))
            props.problems.append(_twice(key, line + 2))
        props.values[key] = value
    # A comment sign or a second key can hide a mark from YAML, never from us.
    if props.state == "whole":
        kept = {"private", "tags", "tag"}
        props.shadowed += [(key, value) for key, value, _, _ in recovery.pairs(block) if key.lower() in kept]


def _twice(key: str, line: int) -> Problem:
    message = f"the property {key} stands there twice; the last one counts"
    return Problem("", message, line=line, fix="Keep one of them.")


def _comment(key: str, rest: str, line: int, shadowed: list[tuple[str, object]], problems: list[Problem]) -> None:
    """Note a value that YAML takes for a comment: `tags: #private` says nothing to YAML, but its writer meant it."""
    if len(rest) > 1 and rest[1] not in " \t#":
        shadowed.append((key, rest))
        message = f"the value of {key} starts with #, which makes it a comment"
        problems.append(Problem("", message, line=line, fix="Leave out the #."))


def _template(block: str, props: Properties) -> None:
    for number, line in enumerate(block.split("\n"), 2):
        if ("{{" in line and "}}" in line) or ("<%" in line and "%>" in line):
            message = "template code that was never filled in"
            props.problems.append(Problem("", message, line=number, fix="Replace it by a value."))
            return
