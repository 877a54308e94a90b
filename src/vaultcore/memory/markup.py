"""Markup of a tool call that ended up inside an argument: a field has swallowed what came after it."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_MARKUP = re.compile(
    r"<\s*/?\s*(?:[\w-]+:)?(?:parameter\s+name\s*=|invoke\b|function_calls\b|tool_call\b|tool_use\b)|"
    r"<\s*/\s*(?:[\w-]+:)?parameter\s*>",
    re.I,
)
_TRAILING = re.compile(r"(?:\s*<\s*/\s*[\w:.-]{1,40}\s*>)+\s*$")
_CODE = re.compile(r"`[^`\n]*`")


def find(text: str) -> tuple[int, str] | None:
    """Offset and text of the first markup outside inline code, or None."""
    if "<" not in text:
        return None
    shown = _CODE.sub(lambda m: " " * len(m.group()), text)
    found = _MARKUP.search(shown)
    return (found.start(), text[found.start() : found.end()]) if found else None


def explain(arguments: dict[str, object]) -> tuple[str, str] | None:
    """Which field holds markup and which of the two ways it broke, and what to do; None when none does.

    Values are never repeated beyond the markup itself.
    """
    for field, value in arguments.items():
        items = value if isinstance(value, list) else [value]
        for i, item in enumerate(items):
            if not isinstance(item, str):
                continue
            found = find(item)
            if found is None:
                continue
            where = f"{field}[{i}]" if isinstance(value, list) else field
            offset, text = found
            flat = " ".join(text.split())[:40]
            why = f"{where} holds tool markup ({flat!r} at character {offset} of {len(item)}), "
            received = f"Received: {', '.join(sorted(arguments))}."
            if find(_TRAILING.sub("", item)) is None:
                why += f"trailing: only the end of {where} is wrong, its text is whole."
                return why, f"Check that every field you meant was received, then send it without that tail. {received}"
            why += f"swallowed: {where} goes on into the fields that came after it, which may be lost."
            return why, f"Send all fields again. {received}"
    return None
