"""The one reader of properties: the block at the top of a note, read as Obsidian reads it.

The flat subset that Obsidian writes is read by `flatyaml`, fast and with the standard library. Anything beyond goes
to PyYAML where it is installed (`fullyaml`); what is not valid is read line by line (`recovery`), reported, and never
counts as whole.
"""

from __future__ import annotations

import re

from vaultcore import flatyaml
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
    flat = flatyaml.load(block)
    if flat is not None:
        props.values, props.shadowed, problems = flat
        props.problems += problems
        props.state = "whole"
    else:
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


def _beyond(block: str, props: Properties) -> None:
    """Read what the flat reader cannot: with PyYAML, else line by line."""
    from vaultcore import fullyaml, recovery

    mended = recovery.quote_colons(block)
    flat = flatyaml.load(mended) if mended else None
    if flat is not None:
        # `title: Plan: two` is no YAML, and still every line is understood: reported, and as good as whole
        props.values, props.shadowed, problems = flat
        props.problems += recovery.faults(block) + problems
        props.state = "whole"
        return
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
            props.problems.append(flatyaml.twice(key, line + 2))
        props.values[key] = value
    # A comment sign or a second key can hide a mark from YAML, never from us.
    if props.state == "whole":
        kept = {"private", "tags", "tag"}
        props.shadowed += [(key, value) for key, value, _, _ in recovery.pairs(block) if key.lower() in kept]


def _template(block: str, props: Properties) -> None:
    for number, line in enumerate(block.split("\n"), 2):
        if ("{{" in line and "}}" in line) or ("<%" in line and "%>" in line):
            message = "template code that was never filled in"
            props.problems.append(Problem("", message, line=number, fix="Replace it by a value."))
            return
