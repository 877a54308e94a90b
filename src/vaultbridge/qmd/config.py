"""qmd's configuration of an index, edited in place: one key of one collection, every other byte as it was.

qmd has no command for ignore rules, so its YAML has to be written. What comes out is parsed and compared before it is
installed.
"""

from __future__ import annotations

import json
from typing import Any

from vaultbridge.registration import files
from vaultcore import qmd
from vaultcore.errors import VaultError

HEAD = "collections:\n"


def put(path: str, collection: str, changes: dict[str, Any]) -> bool:
    """Set keys (`path`, `pattern`, `ignore`, `context`) of one collection; None or an empty value removes the key.

    Makes file and collection when they are missing. True when something was written. VaultError when the file is no
    YAML, or written in a form in which one key cannot be replaced; nothing is changed then.
    """
    before = files.read(path)
    text = "" if before is None else _decoded(before, path)
    wanted = _applied(qmd.configuration(path), collection, changes)
    if before is not None and wanted == qmd.configuration(path):
        return False
    edited = _edited(text, path, collection, changes)
    if _parsed(edited) != wanted:
        raise VaultError(f"{path} is written in a way om cannot edit: put {collection} under collections by hand")
    files.install(path, before, edited.encode())
    return True


def drop(path: str, collection: str) -> bool:
    """Take a collection out of the configuration. True when others are left in it; a file without any is removed."""
    before = files.read(path)
    held = qmd.configuration(path)
    every = held.get("collections")
    if before is None or not isinstance(every, dict) or collection not in every:
        return bool(every)
    left = {name: entry for name, entry in every.items() if name != collection}
    if not left:
        files.install(path, before, None)
        return False
    import yaml

    text = _decoded(before, path)
    lines = text.splitlines(keepends=True)
    for name, node in _value(yaml.compose(text, Loader=yaml.SafeLoader), "collections").value:
        if name.value == collection:
            first = name.start_mark.line
            lines = lines[:first] + lines[_end(lines, node, first, name.start_mark.column) :]
    if _parsed("".join(lines)) != {**held, "collections": left}:
        raise VaultError(f"{path} is written in a way om cannot edit: take {collection} out of it by hand")
    files.install(path, before, "".join(lines).encode())
    return True


def rules(path: str, collection: str) -> list[str]:
    """The ignore rules of a collection as they are."""
    held = qmd.configuration(path).get("collections")
    entry = held.get(collection) if isinstance(held, dict) else None
    ignore = entry.get("ignore") if isinstance(entry, dict) else None
    return [rule for rule in ignore if isinstance(rule, str)] if isinstance(ignore, list) else []


def _applied(held: dict[str, Any], collection: str, changes: dict[str, Any]) -> dict[str, Any]:
    every = held.get("collections")
    every = dict(every) if isinstance(every, dict) else {}
    entry = every.get(collection)
    entry = dict(entry) if isinstance(entry, dict) else {}
    for key, value in changes.items():
        if value:
            entry[key] = value
        else:
            entry.pop(key, None)
    return {**held, "collections": {**every, collection: entry}}


def _edited(text: str, path: str, collection: str, changes: dict[str, Any]) -> str:
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader) if text.strip() else None
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise VaultError(f"{path} is no mapping: mend or remove it")
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    every = _value(root, "collections")
    if every is None or not every.value:
        # No collection yet, whether the key is missing or empty: qmd writes it first, so do we.
        kept = lines if every is None else _without(lines, root, "collections")
        return HEAD + "".join(_entry(collection, changes, "  ")) + "".join(kept)
    if every.flow_style:
        return text
    entry = _value(every, collection)
    if entry is None:
        at = every.value[0][0].start_mark
        lines[at.line : at.line] = _entry(collection, changes, " " * at.column)
        return "".join(lines)
    if not isinstance(entry, yaml.MappingNode) or entry.flow_style or not entry.value:
        return text
    for key, value in changes.items():
        lines = _with(lines, collection, key, value)
    return "".join(lines)


def _with(lines: list[str], collection: str, key: str, value: Any) -> list[str]:
    """The lines with one key of a block-style collection replaced, added behind the last one, or removed."""
    import yaml

    root = yaml.compose("".join(lines), Loader=yaml.SafeLoader)
    entry = _value(_value(root, "collections"), collection)
    column = entry.value[0][0].start_mark.column
    new = _member(key, value, " " * column) if value else []
    for name, node in entry.value:
        if name.value == key:
            first = name.start_mark.line
            return lines[:first] + new + lines[_end(lines, node, first, column) :]
    name, node = next(((n, v) for n, v in entry.value if n.value == "pattern"), entry.value[-1])
    at = _end(lines, node, name.start_mark.line, column)
    return lines[:at] + new + lines[at:]


def _end(lines: list[str], node: Any, first: int, column: int) -> int:
    """The line behind a member: a block's end mark lies where the next thing begins, so blank lines and comments that
    belong to that one are given back."""
    block = (isinstance(node.value, list) and not node.flow_style) or node.end_mark.column == 0
    end: int = max(node.end_mark.line + (not block), first + 1)
    while end > first + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    while end > first + 1 and not lines[end - 1].startswith(" " * column):
        end -= 1
    return end


def _without(lines: list[str], root: Any, key: str) -> list[str]:
    name, node = next((name, node) for name, node in root.value if name.value == key)
    first = name.start_mark.line
    return lines[:first] + lines[_end(lines, node, first, 0) :]


def _value(node: Any, key: str) -> Any:
    for name, value in getattr(node, "value", None) or ():
        if getattr(name, "value", None) == key:
            return value
    return None


def _entry(collection: str, changes: dict[str, Any], indent: str) -> list[str]:
    lines = [f"{indent}{_key(collection)}:\n"]
    for key, value in changes.items():
        if value:
            lines += _member(key, value, indent * 2)
    return lines


def _member(key: str, value: Any, indent: str) -> list[str]:
    """One key of a collection in block style; every text is quoted, as JSON is YAML."""
    if isinstance(value, list):
        return [f"{indent}{key}:\n", *(f"{indent}  - {_quoted(item)}\n" for item in value)]
    if isinstance(value, dict):
        return [f"{indent}{key}:\n", *(f"{indent}  {_quoted(name)}: {_quoted(item)}\n" for name, item in value.items())]
    return [f"{indent}{key}: {_quoted(value)}\n"]


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=not str(value).isprintable())


def _key(name: str) -> str:
    return name if name.replace("-", "a").replace("_", "a").isalnum() and name[0].isalpha() else json.dumps(name)


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise VaultError(f"{path} is not UTF-8: mend or remove it") from None


def _parsed(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None
