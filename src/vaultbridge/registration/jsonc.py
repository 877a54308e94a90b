"""JSON with comments and trailing commas, edited in place: one member is set or removed, every other byte stays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_DEEPEST = 200


class Malformed(ValueError):
    """The text is no JSON, with or without comments; the message says where."""


@dataclass
class Member:
    """One `"key": value` of an object: where key and value start and end."""

    key: str
    start: int
    value: Node


@dataclass
class Node:
    """A value: `start` and `end` are its span; an object has `members`, every other kind its plain `value`."""

    start: int
    end: int
    kind: str
    members: list[Member] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    value: object = None

    def member(self, key: str) -> Member | None:
        """The last member of that name: what readers of JSON go by."""
        found = [member for member in self.members if member.key == key]
        return found[-1] if found else None

    def plain(self) -> object:
        """The value as json.loads would give it."""
        if self.kind == "object":
            return {member.key: member.value.plain() for member in self.members}
        return [item.plain() for item in self.items] if self.kind == "array" else self.value


def parse(text: str) -> Node | None:
    """The tree of `text`, None when it holds nothing but white space and comments. Raises Malformed."""
    reader = _Reader(text)
    at = reader.skip(1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    node = reader.value(at, 0)
    rest = reader.skip(node.end)
    if rest != len(text):
        raise reader.wrong(rest)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def wrong(self, at: int) -> Malformed:
        line = self.text.count("\n", 0, at) + 1
        return Malformed(f"line {line} column {at - self.text.rfind(chr(10), 0, at)} is not JSON")

    def skip(self, at: int) -> int:
        """Past white space and comments."""
        text = self.text
        while at < len(text):
            if text[at] in " \t\r\n":
                at += 1
            elif text.startswith("//", at):
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                if end < 0:
                    raise self.wrong(at)
                at = end + 2
            else:
                break
        return at

    def value(self, at: int, depth: int) -> Node:
        text = self.text
        if at >= len(text) or depth > _DEEPEST:
            raise self.wrong(at)
        if text[at] == "{":
            return self.object(at, depth)
        if text[at] == "[":
            return self.array(at, depth)
        if text[at] == '"':
            end, value = self.string(at)
            return Node(at, end, "string", value=value)
        for word, plain in (("true", True), ("false", False), ("null", None)):
            if text.startswith(word, at):
                return Node(at, at + len(word), "word", value=plain)
        number = _NUMBER.match(text, at)
        if not number:
            raise self.wrong(at)
        return Node(at, number.end(), "number", value=json.loads(number.group()))

    def string(self, at: int) -> tuple[int, str]:
        end = at + 1
        while end < len(self.text) and self.text[end] != '"':
            end += 2 if self.text[end] == "\\" else 1
        try:
            return end + 1, json.loads(self.text[at : end + 1])
        except ValueError:
            raise self.wrong(at) from None

    def object(self, at: int, depth: int) -> Node:
        node = Node(at, at, "object")
        at = self.skip(at + 1)
        while at < len(self.text) and self.text[at] == '"':
            start = at
            at, key = self.string(at)
            at = self.skip(at)
            if self.text[at : at + 1] != ":":
                raise self.wrong(at)
            value = self.value(self.skip(at + 1), depth + 1)
            node.members.append(Member(key, start, value))
            at = self.skip(value.end)
            if self.text[at : at + 1] != ",":
                break
            at = self.skip(at + 1)
        if self.text[at : at + 1] != "}":
            raise self.wrong(at)
        node.end = at + 1
        return node

    def array(self, at: int, depth: int) -> Node:
        node = Node(at, at, "array")
        at = self.skip(at + 1)
        while at < len(self.text) and self.text[at] != "]":
            node.items.append(self.value(at, depth + 1))
            at = self.skip(node.items[-1].end)
            if self.text[at : at + 1] != ",":
                break
            at = self.skip(at + 1)
        if self.text[at : at + 1] != "]":
            raise self.wrong(at)
        node.end = at + 1
        return node


def get(text: str, path: tuple[str, ...]) -> object:
    """The plain value at `path`, None when there is none. Raises Malformed."""
    node = _find(parse(text), path)
    return None if node is None else node.plain()


def put(text: str, path: tuple[str, ...], value: object) -> str:
    """`text` with `value` at `path`; objects on the way are added. Raises Malformed, also where one is no object."""
    root = parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    if root is None:
        whole = text.rstrip() + newline if text.strip("\ufeff \t\r\n") else text[:1] if text[:1] == "\ufeff" else ""
        return whole + _render(_nest(path, value), "", unit, newline) + newline
    node = root
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise Malformed(f"{'.'.join(path[:depth]) or 'the whole'} is not an object")
        member = node.member(key)
        if member is None:
            return _insert(text, node, key, _nest(path[depth + 1 :], value), unit, newline)
        node = member.value
    if node.plain() == value:
        return text
    lines = _render(value, _indent(text, node.start), unit, newline)
    return text[: node.start] + lines + text[node.end :]


def remove(text: str, path: tuple[str, ...]) -> str:
    """`text` without the member at `path` (its line and comma go with it). Raises Malformed."""
    holder = _find(parse(text), path[:-1])
    member = holder.member(path[-1]) if holder else None
    if holder is None or member is None:
        return text
    at = holder.members.index(member)
    return cut(text, member.start, member.value.end, holder.members[at - 1].value.end if at else None)


def cut(text: str, start: int, end: int, before: int | None) -> str:
    """`text` without the member or item from `start` to `end`; `before` is where the one before it ends."""
    reader = _Reader(text)
    comma = reader.skip(end)
    if text[comma : comma + 1] == ",":
        end = comma + 1
    elif before is not None:  # the last one: the comma before it has to go
        comma = reader.skip(before)
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
        if not text[comma:start].strip(" \t"):
            start = comma
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():  # alone on its lines
        stop = text.find("\n", end)
        if stop >= 0 and not text[end:stop].strip():
            return text[:line] + text[stop + 1 :]
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    return text[:start] + text[end:]


def _find(node: Node | None, path: tuple[str, ...]) -> Node | None:
    for key in path:
        member = node.member(key) if node else None
        if member is None:
            return None
        node = member.value
    return node


def _insert(text: str, node: Node, key: str, value: object, unit: str, newline: str) -> str:
    inner = text[node.start + 1 : node.end - 1]
    name = json.dumps(key, ensure_ascii=False) + ": "
    last = node.members[-1].value.end if node.members else 0
    comma = last and text[_Reader(text).skip(last) : _Reader(text).skip(last) + 1] != ","
    if node.members and "\n" not in inner:
        added = ("," if comma else "") + " " + name + json.dumps(value, ensure_ascii=False)
        tail = text[last : node.end - 1]
        if comma:
            return text[:last] + added + text[last:]
        return text[: node.end - 1 - len(tail) + len(tail.rstrip())] + added + text[node.end - 1 :]
    outer = _indent(text, node.start)
    first = node.members[0].start if node.members else 0
    own_line = first and not text[text.rfind("\n", 0, first) + 1 : first].strip()
    deeper = _indent(text, first) if own_line else outer + unit
    entry = deeper + name + _render(value, deeper, unit, newline)
    if comma:
        text = text[:last] + "," + text[last:]
        node = Node(node.start, node.end + 1, "object")
    close = node.end - 1
    content = text[node.start + 1 : close].rstrip()
    at = node.start + 1 + len(content)
    closing = text[at:close]
    if "\n" not in closing:
        closing = newline + outer
    return text[:at] + newline + entry + closing + text[close:]


def _nest(path: tuple[str, ...], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _render(value: object, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return newline.join([lines[0], *(indent + line for line in lines[1:])])


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "
