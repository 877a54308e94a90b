"""Changing properties line by line, so that a user's other bytes stay as they are."""

from __future__ import annotations

import re

from vaultcore import properties, scalars
from vaultcore.errors import VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_BOM = b"\xef\xbb\xbf"
_START = re.compile(r"""([ ]*(?:"[^"\n]*"|'[^'\n]*'|[^:\n]*?)[ \t]*:)([ \t]*)(.*?)(\r?)\Z""", re.DOTALL)
_QUOTED = re.compile(r""""[^"\\]*(?:\\.[^"\\]*)*"|'[^']*(?:''[^']*)*'""")
_COMMENT = re.compile(r"(?<![ \t])[ \t]+(?:#|\Z)|\Z")
_ITEM = re.compile(r"([ ]*)-(?:[ \t]|\r?\Z)")


def edit(data: bytes, changes: Mapping[str, object | None]) -> bytes:
    """See `properties.edit`."""
    wanted = {name: _checked(name, value) for name, value in changes.items()}
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise VaultError("The file is saved as UTF-16 and cannot be edited line by line: save it as UTF-8 first.")
    bom = _BOM if data.startswith(_BOM) else b""
    text = data[len(bom) :].decode("utf-8", "surrogateescape")
    before = properties.read(text)
    if before.state == "unreadable":
        raise VaultError(f"The properties cannot be edited: {before.problems[0].sentence()}")
    pending = {
        name: value
        for name, value in wanted.items()
        if not (_same(before.values[name], value) if name in before.values and value is not None else False)
        and not (value is None and name not in before.values)
    }
    if not pending:
        return data
    if before.state == "absent":
        after = _with_block(text, pending)
    else:
        after = text[: before.start] + _changed(text[before.start : before.end], text, pending) + text[before.end :]
    _verify(before, properties.read(after), wanted)
    return bom + after.encode("utf-8", "surrogateescape")


def _checked(name: str, value: object) -> object:
    if not name or not isinstance(name, str):
        raise VaultError(f"{name!r} is no name for a property: use text.")
    if isinstance(value, str):
        return scalars.clean(value)
    if isinstance(value, (list, tuple)):
        if all(item is None or isinstance(item, (str, int, float)) for item in value):
            return [scalars.clean(item) if isinstance(item, str) else item for item in value]
    elif value is None or isinstance(value, (int, float)):
        return value
    raise VaultError(f"The property {name} cannot hold a {type(value).__name__}: use text, numbers or a list of them.")


def _same(old: object, new: object) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    return type(old) is type(new) and old == new


def _with_block(text: str, values: dict[str, object]) -> str:
    newline = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    return scalars.dump(values).replace("\n", newline) + text


def _changed(block: str, text: str, values: dict[str, object]) -> str:
    newline = "\r" if text.partition("\n")[0].endswith("\r") else ""
    lines = block.split("\n")[:-1]
    spans, indent = _spans(block, lines)
    added: list[str] = []
    for name, value in values.items():
        own = [span for span in spans if span[0] == name]
        if not own:
            added += [line + newline for line in scalars.lines(name, value, indent)]
            continue
        for _, first, last in own[:-1]:
            _drop(lines, first, last)
        _, first, last = own[-1]
        if value is None:
            _drop(lines, first, last)
        else:
            new = _rewritten(lines[first:last], name, value, indent, newline)
            lines[first] = "\n".join(new)
            _drop(lines, first + 1, last)
    kept = [line for line in lines if line is not _GONE]
    return "".join(line + "\n" for line in [*kept, *added])


_GONE = "\0gone"


def _drop(lines: list[str], first: int, last: int) -> None:
    # Marked, not deleted: the line numbers of the other spans must stay true.
    for number in range(first, last):
        lines[number] = _GONE


def _spans(block: str, lines: list[str]) -> tuple[list[tuple[str, int, int]], str]:
    """Return (key, first line, line after the last) of every property, and the indentation of the keys."""
    from vaultcore import fullyaml, recovery

    plain = block.replace("\r\n", "\n")
    try:
        found = fullyaml.load(plain)
    except (fullyaml.Invalid, ImportError):
        found = recovery.pairs(plain)
    spans = []
    for index, (key, _, first, _) in enumerate(found):
        last = found[index + 1][2] if index + 1 < len(found) else len(lines)
        if last <= first:
            raise VaultError("The properties stand on one line and cannot be edited safely: write one per line.")
        while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].startswith("#")):
            last -= 1
        spans.append((key, first, last))
    return spans, " " * (found[0][3] if found else 0)


def _rewritten(lines: list[str], name: str, value: object, indent: str, newline: str) -> list[str]:
    """Return the new lines of one property, keeping its spacing, its comment and the list items that stay."""
    start = _START.match(lines[0])
    whole = [line + newline for line in scalars.lines(name, value, indent)]
    if start is None:
        return whole
    head, space, rest, ending = start.groups()
    old, comment = _split(rest)
    if isinstance(value, list):
        if len(lines) == 1 and old.startswith("["):
            return [f"{head}{space or ' '}[{', '.join(map(scalars.scalar, value))}]{comment}{ending}"]
        if not value:
            return [f"{head} []{_spaced(comment)}{ending}"]
        return [f"{head}{_spaced(comment)}{ending}", *_items(lines[1:] if not old else [], value, indent, newline)]
    if len(lines) > 1 and old:
        return whole
    return [f"{head}{space if old else ' '}{scalars.scalar(value)}{comment if old else _spaced(comment)}{ending}"]


def _spaced(comment: str) -> str:
    return f" {comment.lstrip()}" if comment.strip() else comment


def _split(rest: str) -> tuple[str, str]:
    """Split what stands after `key:` into the value and the blanks and comment behind it."""
    if not rest or rest[0] == "#":
        return "", rest
    quoted = _QUOTED.match(rest)
    at = quoted.end() if quoted else 0
    if rest[0] == "[":
        at = rest.rfind("]") + 1
        mark = _COMMENT.search(rest, rest.find("]") + 1)
        at = mark.start() if mark and "#" not in rest[: rest.find("]") + 1] else at
    found = _COMMENT.search(rest, at)
    end = found.start() if found else len(rest)
    return rest[:end], rest[end:]


def _items(old: list[str], values: list[object], indent: str, newline: str) -> list[str]:
    """Return the lines of a block list; items that stay keep their line, added ones follow the style of the first."""
    first = next((match for match in map(_ITEM.match, old) if match), None)
    lead = first.group(1) if first else indent + "  "
    known: list[tuple[object, str]] = []
    for line in old:
        read = properties.read(f"---\nx:\n{line.rstrip()}\n---\n").values.get("x")
        if isinstance(read, list) and len(read) == 1:
            known.append((read[0], line))
    kept = [value for value, _ in known]
    if old and len(values) >= len(kept) and _same(values[: len(kept)], kept):
        return [*old, *(f"{lead}- {scalars.scalar(item)}{newline}" for item in values[len(kept) :])]
    lines = []
    for item in values:
        pair = next((pair for pair in known if _same(pair[0], item)), None)
        if pair is not None:
            known.remove(pair)
            lines.append(pair[1])
        else:
            lines.append(f"{lead}- {scalars.scalar(item)}{newline}")
    return lines


def _verify(before: properties.Properties, after: properties.Properties, wanted: dict[str, object]) -> None:
    good = after.state == before.state or before.state == "absent"
    for name, value in wanted.items():
        present = name in after.values
        good = good and (not present if value is None else present and _same(after.values[name], value))
    rest = [name for name in {**before.values, **after.values} if name not in wanted]
    good = good and all(_same(before.values.get(name), after.values.get(name)) for name in rest)
    if not good:
        names = ", ".join(wanted)
        raise VaultError(f"The properties cannot be edited safely ({names}): mend them by hand, then try again.")
