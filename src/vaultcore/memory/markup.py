"""Markup of a tool call that ended up inside an argument: a field has swallowed what came after it."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_MARKUP = re.compile(
    r"<\s*/?\s*(?:[\w-]+:)?(?:parameter\s+name\s*=|invoke\b|function_calls\b|tool_call\b|tool_use\b)|<\s*/\s*(?:[\w-]+:)?parameter\s*>",
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


def explain(arguments: dict[str, object]) -> str | None:
    """A sentence naming the field that holds markup, which of the two ways it broke, and what arrived; else None.

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
            rest = find(_TRAILING.sub("", item))
            received = ", ".join(sorted(arguments))
            if rest is None:
                how = (
                    f"trailing: only the end of {where} is wrong, its text is whole. "
                    "Check that every field you meant is in the list of received fields, then send it again without that tail"
                )
            else:
                how = f"swallowed: {where} goes on into the fields that came after it, which may be lost. Send all fields again"
            flat = " ".join(text.split())[:40]
            return f"{where} holds tool markup ({flat!r} at character {offset} of {len(item)}), {how}. Received: {received}"
    return None
