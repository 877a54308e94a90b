"""JSON for processes that live for ten milliseconds.

`import json` pulls in `re` and its enums, which is as long as a whole hook may take. The C scanner that the json
package itself uses can be had alone; where it cannot, the package serves. Same grammar, same results.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Options:
    """What the C scanner asks its caller for."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}


def loads(text: str) -> Any:
    """Read one JSON value; ValueError for anything else, nesting beyond the interpreter's limit included."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return _bounded(lambda: json.loads(text, strict=False))
    body = text.strip(" \t\r\n")
    options: Any = _Options()

    def scan() -> Any:
        try:
            value, end = make_scanner(options)(body, 0)
        except (StopIteration, SystemError):  # the scanner alone reports some ends of text as neither
            raise ValueError("not JSON") from None
        if end != len(body):
            raise ValueError("more than one JSON value")
        return value

    return _bounded(scan)


def _bounded(scan: Any) -> Any:
    try:
        return scan()
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def dumps(value: object) -> str:
    """One line of JSON for str, int, float, bool, None, list, tuple and dict; UTF-8 can always carry it."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if value - value == 0 else "null"
    if isinstance(value, dict):
        return "{" + ",".join([_quoted(str(k)) + ":" + dumps(v) for k, v in value.items()]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([dumps(v) for v in value]) + "]"
    raise TypeError(f"cannot write {type(value).__name__} as JSON")


def _quoted(text: str) -> str:
    # A lone surrogate is legal in JSON text but refused by strict readers, one agent's among them.
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    try:
        from _json import encode_basestring
    except ImportError:
        import json

        return json.dumps(text, ensure_ascii=False)
    return encode_basestring(text)
