"""The one loader of the manifest: `vault-manifest.json`, with `vault-manifest.local.json` read over it."""

from __future__ import annotations

import json
import os
import re

from vaultcore.errors import Problem
from vaultcore.keys import KEYS, SEGMENT, Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["KEYS", "LOCAL", "NAME", "Key", "Manifest", "find_root", "load"]

NAME = "vault-manifest.json"
LOCAL = "vault-manifest.local.json"
_LIMIT = 1_000_000


_POLICY = ("mcp_exposed_roots", "mcp_never_expose", "user_content_roots", "memory_root")


class Manifest:
    """What a vault declares. `values` holds the keys that were given and are valid, by dotted name.

    `lost`: policy keys that a broken file may have given but that could not be read; exposure then fails closed.
    """

    __slots__ = ("_fingerprint", "lost", "problems", "root", "values")

    def __init__(self, root: str, values: dict[str, Any], problems: list[Problem], lost: frozenset[str]) -> None:
        self.root = root
        self.values = values
        self.problems = problems
        self.lost = lost
        self._fingerprint = ""

    def get(self, name: str) -> Any:
        """Return the value of a dotted key, or its default; never a value of another type. KeyError if unknown."""
        if name in self.values:
            return self.values[name]
        default = KEYS[name].default
        return default.copy() if isinstance(default, (list, dict)) else default

    @property
    def fingerprint(self) -> str:
        """A text that changes exactly when a value changes."""
        if not self._fingerprint:
            import hashlib

            state = json.dumps([self.values, sorted(self.lost)], sort_keys=True)
            self._fingerprint = hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return self._fingerprint


_loaded: dict[str, tuple[object, Manifest]] = {}


def load(root: str) -> Manifest:
    """Return the manifest of the vault at `root`; parsed again only when a file has changed.

    Never raises for what the files hold: whatever is wrong stands in `problems`, the rest is used. A vault
    without a manifest has every default.
    """
    stamp = (_stamp(os.path.join(root, NAME)), _stamp(os.path.join(root, LOCAL)))
    known = _loaded.get(root)
    if known is not None and known[0] == stamp:
        return known[1]
    found = _load(root)
    if _settled(stamp):
        if len(_loaded) > 50:
            _loaded.clear()
        _loaded[root] = (stamp, found)
    else:
        _loaded.pop(root, None)
    return found


def find_root(start: str) -> str | None:
    """Return the real path of the nearest folder at or above `start` that holds a manifest."""
    folder = os.path.realpath(start)
    while True:
        if os.path.isfile(os.path.join(folder, NAME)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _stamp(path: str) -> tuple[int, int, int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino


def _settled(stamp: tuple[tuple[int, int, int, int] | None, ...]) -> bool:
    """Tell whether a later write must show in the stamp: some file systems tick every two seconds only."""
    import time

    now = time.time_ns()
    return all(part is None or not -2_000_000_000 < now - max(part[1], part[2]) < 2_000_000_000 for part in stamp)


def _load(root: str) -> Manifest:
    problems: list[Problem] = []
    lost: set[str] = set()
    merged: dict[str, Any] = {}
    for name in (NAME, LOCAL):
        text = _text(root, name, problems, lost)
        if text is not None:
            raw = _parse(name, text, problems, lost)
            merged.update(_valid(name, text, raw, problems, lost, merged))
    return Manifest(root, merged, problems, frozenset(lost))


def _text(root: str, name: str, problems: list[Problem], lost: set[str]) -> str | None:
    path = os.path.join(root, name)
    try:
        with open(path, "rb") as file:
            data = file.read(_LIMIT + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        problems.append(Problem(name, f"cannot be read ({error.strerror})", fix="Check its permissions."))
        lost.update(_POLICY)
        return None
    if len(data) > _LIMIT:
        problems.append(Problem(name, "is larger than 1 MB and is not read", fix="Move long texts elsewhere."))
        lost.update(_POLICY)
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(Problem(name, "is not UTF-8", line=line, fix="Save it as UTF-8."))
        return data.decode("utf-8", "replace")


def _parse(name: str, text: str, problems: list[Problem], lost: set[str]) -> dict[str, Any]:
    """Return the object in `text`; of broken text what can be read of its top-level keys."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            keys = [key for key, _ in items]
            twice.extend(key for key in found if keys.count(key) > 1)
        return found

    try:
        raw = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        from vaultcore import brokenjson

        raw, problem = brokenjson.recover(name, text, error)
        problems.append(problem)
        lost.update(key for key in _POLICY if key not in raw)
        return raw
    for key in twice:
        from vaultcore import brokenjson

        line, column = brokenjson.locate(text, (key,))
        message = f"the key {key} stands there twice; the last one counts"
        problems.append(Problem(name, message, line=line, column=column, fix="Keep one of them."))
    if isinstance(raw, dict):
        return raw
    problems.append(Problem(name, f"must hold an object, not {_kind(raw)}", line=1, column=1, fix="Start it with {."))
    lost.update(_POLICY)
    return {}


def _valid(
    name: str, text: str, raw: dict[str, Any], problems: list[Problem], lost: set[str], below: dict[str, Any]
) -> dict[str, Any]:
    """Return the known keys of one file by dotted name, objects merged into those of the file below."""
    found: dict[str, Any] = {}
    groups = {key.split(".")[0] for key in KEYS if "." in key}
    for key, value in raw.items():
        parts: list[tuple[tuple[str, ...], str, Any]] = [((key,), key, value)]
        if key in groups and isinstance(value, dict):
            parts = [((key, inner), f"{key}.{inner}", part) for inner, part in value.items()]
        for path, dotted, part in parts:
            if dotted == "$schema" or dotted.startswith("//"):
                continue
            if dotted not in KEYS:
                _problem(problems, name, text, path, f"the key {dotted} is not known", _like(dotted))
                continue
            cleaned, wrong = _check(KEYS[dotted], part)
            if wrong:
                _problem(problems, name, text, path, f"{dotted} {wrong}", "")
            if cleaned is None:
                if dotted in _POLICY:
                    lost.add(dotted)
                continue
            lost.discard(dotted)
            if isinstance(cleaned, dict) and isinstance(below.get(dotted), dict):
                cleaned = _deep(below[dotted], cleaned)
            found[dotted] = cleaned
    return found


def _check(key: Key, value: Any) -> tuple[Any, str]:
    """Return (usable value or None, what is wrong or "")."""
    kind = key.type
    if kind == "string":
        return (value, "") if isinstance(value, str) else (None, f"must be text, not {_kind(value)}")
    if kind == "strings":
        if isinstance(value, str):
            return [value], "must be a list of texts; the one text is taken as a list"
        if not isinstance(value, list):
            return None, f"must be a list of texts, not {_kind(value)}"
        kept = [item for item in value if isinstance(item, str)]
        wrong = [_kind(item) for item in value if not isinstance(item, str)]
        return kept, f"must hold only texts; {wrong[0]} was left out" if wrong else ""
    if kind == "segment":
        safe = isinstance(value, str) and re.match(SEGMENT + r"\Z", value.strip())
        if safe and value.strip()[-1] != ".":
            return value.strip(), ""
        return None, f"must be the name of one folder, not {json.dumps(value)[:60]}"
    if kind == "integer":
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value, ""
        return None, f"must be a whole number above 0, not {json.dumps(value)[:60]}"
    if kind == "boolean":
        return (value, "") if isinstance(value, bool) else (None, f"must be true or false, not {_kind(value)}")
    if kind == "choice":
        if isinstance(value, str) and value in key.choices:
            return value, ""
        return None, f"must be one of {', '.join(key.choices)}, not {json.dumps(value)[:60]}"
    return (value, "") if isinstance(value, dict) else (None, f"must be an object, not {_kind(value)}")


def _deep(below: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _deep(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _problem(problems: list[Problem], name: str, text: str, path: tuple[str, ...], message: str, fix: str) -> None:
    from vaultcore import brokenjson

    if len(problems) < 50:
        line, column = brokenjson.locate(text, path)
        problems.append(Problem(name, message, line=line, column=column, fix=fix))


def _like(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(KEYS), 1)
    return f"Did you mean {near[0]}?" if near else "Remove it, or check its spelling."


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {str: "text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "something else")
