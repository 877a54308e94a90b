"""Arguments of a call against the tool's own schema: exact where it matters, forgiving where clients are known to slip.

Accepted besides the exact form, and said in the reply: a list, object, number or boolean written as text (JSON; for a
list of text also `a, b`, and empty text for no items). `null` for an optional argument is the same as leaving it out.
Text is made safe: lone surrogates become U+FFFD, control characters other than newline and tab are dropped.
"""

from __future__ import annotations

import json
import math
import re

from vaultcore.errors import Refusal
from vaultcore.numerals import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEXT = 262_144  # characters of one string, unless the schema has a smaller maxLength
ITEMS = 1_000
DEPTH = 12
REPORTED = 5

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_ENDING = re.compile(r"</(?:[a-z]+:)?(?:parameter|invoke|function_calls|arguments?|tool_call|tool_use)>\s*\Z")
_PARAMETER = re.compile(r"<(?:[a-z]+:)?(?:parameter|argument|arg)\s+name\s*=\s*[\"']?([\w-]+)")


def parse(schema: dict[str, Any], given: Any, writes: bool = False) -> tuple[dict[str, Any], list[str]]:
    """The arguments as the tool gets them, and a phrase for each that was read as something else than it was written.

    Raises Refusal with everything that is wrong (the first few): unknown names with the nearest one, missing ones,
    wrong types, bounds. `writes`: also refuse text in which the client's own call syntax got stuck, because what it
    swallowed would be stored.
    """
    reading = _Reading()
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise Refusal(
            "wrong-type", f"the arguments are {_kind(given)}, not an object", "send an object of named arguments"
        )
    values = reading.object(schema, given, "", 0)
    if writes and not reading.problems:
        _check_markup(values, set(schema.get("properties", ())), reading)
    if reading.problems:
        code = reading.problems[0][0]
        shown = [sentence for _, sentence in reading.problems[:REPORTED]]
        more = len(reading.problems) - len(shown)
        why = "; ".join(shown) + (f"; and {more} more" if more else "")
        raise Refusal(code, why, "correct this and call again: nothing was done")
    return values, reading.understood


class _Reading:
    """One pass over the arguments: what is wrong, and what was understood."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []
        self.understood: list[str] = []

    def wrong(self, code: str, sentence: str) -> None:
        self.problems.append((code, sentence))

    def object(self, schema: dict[str, Any], given: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
        known: dict[str, Any] = schema.get("properties", {})
        required = schema.get("required", ())
        values: dict[str, Any] = {}
        for name, value in given.items():
            path = f"{where}{name}"
            if name not in known:
                if schema.get("additionalProperties", True) is False:
                    self.wrong("unknown-argument", f"there is no argument {_shown(path)}{_nearest(str(name), known)}")
                else:
                    values[str(name)] = value
            elif value is not None or "null" in _types(known[name]):
                values[name] = self.value(known[name], value, path, depth)
        for name in required:
            if name not in values and not (name in given and given[name] is not None):
                self.wrong("missing-argument", f"the argument {_shown(where + name)} is missing")
        for name, sub in known.items():
            if name not in values and "default" in sub and name not in given:
                values[name] = sub["default"]
        return values

    def value(self, schema: dict[str, Any], value: Any, where: str, depth: int) -> Any:
        if depth > DEPTH:
            self.wrong("too-deep", f"{_shown(where)} is nested too deeply")
            return None
        types = _types(schema)
        if isinstance(value, str) and types and "string" not in types:
            value = self.from_text(schema, types, value, where)
        if isinstance(value, float) and "integer" in types and "number" not in types and value.is_integer():
            value = int(value)
        if types and not any(_is(kind, value) for kind in types):
            wanted = " or ".join(_WORDS.get(kind, kind) for kind in types)
            self.wrong("wrong-type", f"{_shown(where)} must be {wanted}, not {_kind(value)}")
            return None
        if isinstance(value, str):
            value = self.text(schema, value, where)
        elif isinstance(value, list):
            value = self.list(schema, value, where, depth)
        elif isinstance(value, dict):
            value = self.object(schema, value, f"{where}.", depth + 1)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            self.number(schema, value, where)
        allowed = schema.get("enum")
        if allowed is not None and value not in allowed:
            words = ", ".join(str(item) for item in allowed)
            self.wrong("not-allowed", f"{_shown(where)} must be one of {words}, not {_shown(value)}")
        return value

    def from_text(self, schema: dict[str, Any], types: tuple[str, ...], text: str, where: str) -> Any:
        """What a client meant that sent text where something else belongs; the text itself when that is unclear."""
        short = text.strip()
        if len(short) > TEXT:
            return text
        try:
            meant = json.loads(short)
        except (ValueError, RecursionError):
            meant = short
        if isinstance(meant, str) and "array" in types and not short.startswith(("[", "{")):
            if "string" in _types(schema.get("items", {})):
                meant = [item.strip() for item in meant.split(",") if item.strip()]
        elif isinstance(meant, str) and "boolean" in types and meant.lower() in ("true", "false"):
            meant = meant.lower() == "true"
        elif "array" in types and not isinstance(meant, (list, str)) and "string" in _types(schema.get("items", {})):
            meant = [short]
        if any(_is(kind, meant) for kind in types):
            what = f"a list of {len(meant)}" if isinstance(meant, list) else _kind(meant)
            self.understood.append(f"{where} (sent as text) is {what}")
            return meant
        return text

    def text(self, schema: dict[str, Any], text: str, where: str) -> str:
        most = min(schema.get("maxLength", TEXT), TEXT)
        if len(text) > most:
            self.wrong("too-long", f"{_shown(where)} has {len(text):,} characters, at most {most:,} are taken")
            return ""
        safe = _CONTROL.sub("", _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")))
        if len(safe) < schema.get("minLength", 0):
            state = "too short" if safe else "empty"
            self.wrong(state.replace(" ", "-"), f"{_shown(where)} is {state}")
        pattern = schema.get("pattern")
        if pattern is not None and re.search(pattern, safe) is None:
            self.wrong("wrong-form", f"{_shown(where)} must have the form {pattern}, not {_shown(safe)}")
        return safe

    def list(self, schema: dict[str, Any], items: list[Any], where: str, depth: int) -> list[Any]:
        most = min(schema.get("maxItems", ITEMS), ITEMS)
        if len(items) > most:
            self.wrong("too-many", f"{_shown(where)} has {counted(len(items), 'item')}, at most {most} are taken")
            return []
        if len(items) < schema.get("minItems", 0):
            self.wrong("too-few", f"{_shown(where)} needs at least {counted(schema['minItems'], 'item')}")
        inner = schema.get("items", {})
        return [self.value(inner, item, f"{where}[{at}]", depth + 1) for at, item in enumerate(items)]

    def number(self, schema: dict[str, Any], value: float, where: str) -> None:
        low, high = schema.get("minimum"), schema.get("maximum")
        if isinstance(value, float) and not math.isfinite(value):
            self.wrong("out-of-range", f"{_shown(where)} must be a finite number")
        elif (low is not None and value < low) or (high is not None and value > high):
            bounds = (
                f"at least {low}" if high is None else f"at most {high}" if low is None else f"from {low} to {high}"
            )
            self.wrong("out-of-range", f"{_shown(where)} must be {bounds}, not {_shown(value)}")


_WORDS = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip


def _types(schema: Any) -> tuple[str, ...]:
    kind = schema.get("type", ()) if isinstance(schema, dict) else ()
    return (kind,) if isinstance(kind, str) else tuple(kind)


def _is(kind: str, value: Any) -> bool:
    if kind == "null":
        return value is None
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "number":
        return isinstance(value, (int, float))
    wanted = {"string": str, "integer": int, "array": list, "object": dict}.get(kind)
    return wanted is not None and isinstance(value, wanted)


def _kind(value: Any) -> str:
    for kind, word in _WORDS.items():
        if _is(kind, value):
            return word
    return type(value).__name__


def _shown(value: Any) -> str:
    from .fence import flat

    return f"`{flat(value, 80)}`"


def _nearest(name: str, known: dict[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:80].lower(), list(known), 1, 0.5)
    if near:
        return f": did you mean `{near[0]}`?"
    return f": the arguments are {', '.join(known)}" if known else ": this tool takes no arguments"


def _check_markup(values: dict[str, Any], known: set[str], reading: _Reading) -> None:
    for name, value in values.items():
        if not isinstance(value, str) or "<" not in value:
            continue
        text = _CODE.sub("", value)
        stuck = [found for found in _PARAMETER.findall(text) if found in known]
        own = re.search(rf"</{re.escape(name)}>\s*\Z", text)
        if stuck or own or _ENDING.search(text):
            what = f"the argument `{stuck[0]}`" if stuck else "a closing tag"
            reading.wrong(
                "call-markup",
                f"`{name}` holds {what} of the call itself as text, so what follows it was not read as an argument",
            )
