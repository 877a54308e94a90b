"""Lists inside JSON with comments: one item is added at the end or taken out, every other byte stays."""

from __future__ import annotations

import json

from vaultbridge.registration import jsonc
from vaultbridge.registration.jsonc import Malformed, Node


def append(text: str, path: tuple[str, ...], value: object) -> str:
    """`text` with `value` at the end of the list at `path`, which is made where it is missing. Raises Malformed."""
    node = _list(text, path)
    if node is None or not node.items:
        return jsonc.put(text, path, [value])
    newline = "\r\n" if "\r\n" in text else "\n"
    last = node.items[-1].end
    after = jsonc._Reader(text).skip(last)
    comma = text[after : after + 1] != ","
    if "\n" not in text[node.start : node.end]:
        rest = text[last if comma else after + 1 :]
        return (
            text[: last if comma else after + 1]
            + (", " if comma else " ")
            + json.dumps(value, ensure_ascii=False)
            + rest
        )
    close = node.end - 1
    if comma:
        text = text[:last] + "," + text[last:]
        close += 1
    indent = jsonc._indent(text, node.items[0].start)
    at = node.start + 1 + len(text[node.start + 1 : close].rstrip())
    closing = text[at:close]
    if "\n" not in closing:
        closing = newline + jsonc._indent(text, node.start)
    entry = indent + jsonc._render(value, indent, jsonc._unit(text), newline)
    return text[:at] + newline + entry + closing + text[close:]


def drop(text: str, path: tuple[str, ...], index: int) -> str:
    """`text` without item `index` of the list at `path`; an emptied list goes as a member. Raises Malformed."""
    node = _list(text, path)
    if node is None or index >= len(node.items):
        return text
    if len(node.items) == 1:
        return jsonc.remove(text, path)
    item = node.items[index]
    return jsonc.cut(text, item.start, item.end, node.items[index - 1].end if index else None)


def _list(text: str, path: tuple[str, ...]) -> Node | None:
    node = jsonc._find(jsonc.parse(text), path)
    if node is not None and node.kind != "array":
        raise Malformed(f"{'.'.join(path)} is not a list")
    return node
