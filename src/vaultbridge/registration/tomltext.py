"""TOML, edited in place: one table is set or removed, every other byte stays."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*\[(?!\[)\s*(.+?)\s*\]\s*(#.*)?$")
_PART = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)""")


class Malformed(ValueError):
    """The text is no TOML, or our table cannot be put into it; the message says why."""


def parse(text: str) -> dict[str, object] | None:
    """The document as tomllib reads it; None where this Python has no tomllib. Raises Malformed."""
    import importlib

    for name in ("tomllib", "tomli"):  # Python 3.10 has no tomllib; tomli is the package that became it
        try:
            tomllib = importlib.import_module(name)
            break
        except ModuleNotFoundError:
            continue
    else:  # neither: only the forms that surely clash with a table of ours are known
        if re.search(r"""(?m)^\s*["']?(mcp_servers["']?\s*[.=]|om["']?\s*[.=])""", text):
            raise Malformed("mcp_servers is no plain table, and this Python has no tomllib to check it") from None
        return None
    try:
        document: dict[str, object] = tomllib.loads(text.lstrip("\ufeff").replace("\r\n", "\n"))
    except ValueError as error:
        raise Malformed(str(error)) from None
    return document


def table(text: str, path: tuple[str, ...]) -> str | None:
    """The lines of table `path` and its sub-tables, or None."""
    span = _span(text, path)
    return text[span[0] : span[1]] if span else None


def put(text: str, path: tuple[str, ...], lines: list[str]) -> str:
    """`text` with `[path]` holding `lines`, in its old place or at the end. Raises Malformed when the outcome would not
    be TOML (the parent is an inline table, say) or would change anything else."""
    newline = "\r\n" if "\r\n" in text else "\n"
    before = parse(text)
    span = _span(text, path)
    block = newline.join([f"[{'.'.join(path)}]", *lines]) + newline
    if span:
        old = text[span[0] : span[1]]
        own, rest = _foreign(old, {line.split("=")[0].strip() for line in lines})
        tail = old[len(old.rstrip()) :]
        after = text[: span[0]] + (block + own + rest).rstrip() + tail + text[span[1] :]
    else:
        lead = text if not text or text.endswith("\n") else text + newline
        gap = newline if lead.strip("\ufeff \t\r\n") and not lead.endswith(newline * 2) else ""
        after = lead + gap + block
    _unchanged(before, parse(after), path)
    return after


def remove(text: str, path: tuple[str, ...]) -> str:
    """`text` without table `path`, its sub-tables and the blank line before it. Raises Malformed."""
    span = _span(text, path)
    if not span:
        return text
    start, end = span
    head = text[:start]
    for blank in ("\r\n\r\n", "\n\n"):
        if head.endswith(blank) and (end == len(text) or text[end - 1] == "\n"):
            head = head[: -len(blank) // 2]
            break
    after = head + text[end:]
    _unchanged(parse(text), parse(after), path)
    return after


def _unchanged(before: dict[str, object] | None, after: dict[str, object] | None, path: tuple[str, ...]) -> None:
    if before is not None and after is not None and _without(before, path) != _without(after, path):
        raise Malformed(f"{'.'.join(path)} cannot be changed without changing something else")


def _without(document: dict[str, object], path: tuple[str, ...]) -> dict[str, object]:
    copy = dict(document)
    inner = copy.get(path[0])
    if len(path) == 1:
        copy.pop(path[0], None)
    elif isinstance(inner, dict):
        rest = _without(inner, path[1:])
        if rest:
            copy[path[0]] = rest
        else:
            copy.pop(path[0])
    return copy


def _span(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Where table `path` with its sub-tables lies: from its header to the next foreign one, without the comments and
    blank lines that lead up to that one."""
    start = end = -1
    kept = 0
    for at, line in _statements(text):
        header = _HEADER.match(line)
        if header or line.lstrip().startswith("[["):
            name = _parts(header.group(1)) if header else ()
            if name[: len(path)] == path:
                start = at if start < 0 else start
            elif start >= 0:
                end = kept
                break
        if start >= 0 and line.strip() and not line.lstrip().startswith("#"):
            kept = at + len(line)
    if start < 0:
        return None
    end = end if end >= 0 else kept
    if text[end : end + 1] == "\n":
        end += 1
    return start, end


def _foreign(old: str, ours: set[str]) -> tuple[str, str]:
    """What a person added to our table: (further keys of it, its sub-tables)."""
    statements = _statements(old)[1:]
    sub = next((at for at, line in statements if line.lstrip().startswith("[")), len(old))
    own = [line for at, line in statements if at < sub and line.strip() and line.split("=")[0].strip() not in ours]
    return "".join(line + "\n" for line in own), old[sub:]


def _parts(name: str) -> tuple[str, ...]:
    found = [part for match in _PART.finditer(name) for part in match.groups() if part is not None]
    return tuple(found)


def _statements(text: str) -> list[tuple[int, str]]:
    """(offset, text) of each statement's first line, with the rest of a multi-line string or array joined to it."""
    found: list[tuple[int, str]] = []
    offset, open_quote, depth = 0, "", 0
    for line in text.split("\n"):
        inside = bool(open_quote) or depth > 0
        open_quote, depth = _scan(line, open_quote, depth)
        if inside and found:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line)
        else:
            found.append((offset, line))
            depth = 0 if _HEADER.match(line) else depth
        offset += len(line) + 1
    return found


def _scan(line: str, quote: str, depth: int) -> tuple[str, int]:
    """(the multi-line quote still open, bracket depth) after a line."""
    at = 0
    while at < len(line):
        if quote:
            if quote == '"""' and line[at] == "\\":
                at += 2
                continue
            if line.startswith(quote, at):
                at += 3
                quote = ""
                continue
            at += 1
        elif line.startswith(('"""', "'''"), at):
            quote = line[at : at + 3]
            at += 3
        elif line[at] in "\"'":
            single = re.compile(r'"(?:[^"\\]|\\.)*"' if line[at] == '"' else r"'[^']*'").match(line, at)
            at = single.end() if single else len(line)
        elif line[at] == "#":
            break
        else:
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(line[at], 0)
            at += 1
    return quote, max(depth, 0)
