"""What a kind of note must say in its properties: `frontmatter_required` of the manifest, applied.

    {"*": {"date": "date", "tags": "list"}, "incident": {"severity": "text"}}

A kind is a tag, or a folder with a slash at its end (`work/1-1/`). `*` (or `global`) is for every note. A list of names
instead of an object asks for presence only.
Types: text, list, number, checkbox, date, datetime, any.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultcore.properties import Properties

EVERY = ("*", "global")
USUAL = {"date": "date", "tags": "list", "aliases": "list"}


def required(rules: object, tags: list[str], rel: str = "") -> dict[str, str]:
    """Property -> type for a note with these tags at this path, in the order of the manifest."""
    found: dict[str, str] = {}
    if not isinstance(rules, dict):
        return found
    wanted = {tag.lstrip("#").lower() for tag in tags}
    for kind, fields in rules.items():
        inside = kind.endswith("/") and rel.lower().startswith(kind.lower())
        if kind not in EVERY and kind.lower() not in wanted and not inside:
            continue
        if isinstance(fields, list):
            found.update({field: USUAL.get(field, "any") for field in fields if isinstance(field, str)})
        elif isinstance(fields, dict):
            found.update({field: type if isinstance(type, str) else "any" for field, type in fields.items()})
    return found


def faults(properties: Properties, rules: object, rel: str = "") -> list[tuple[str, str]]:
    """(property, what is wrong with it) for everything that the rules ask for and the note does not say."""
    from vaultcore.properties import as_list

    found = []
    for name, type in required(rules, as_list(properties.get("tags")), rel).items():
        wrong = fault(properties.get(name), type)
        if wrong:
            found.append((name, wrong))
    return found


def fault(value: Any, kind: str) -> str:
    """Why `value` is not of this type, or ""."""
    if value is None or value == "" or value == []:
        return "is missing" if value is None else "is empty"
    if kind == "list":
        return "" if isinstance(value, (list, str)) else f"must be a list, not {_shown(value)}"
    if kind in ("date", "datetime"):
        return (
            "" if isinstance(value, str) and _is_date(value, kind) else f"must be a {_named(kind)}, not {_shown(value)}"
        )
    if kind == "number":
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return "" if number else f"must be a number, not {_shown(value)}"
    if kind in ("checkbox", "boolean"):
        return "" if isinstance(value, bool) else f"must be true or false, not {_shown(value)}"
    if kind == "text":
        plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
        return "" if plain and str(value).strip() else f"must be text, not {_shown(value)}"
    return ""


def _is_date(value: str, type: str) -> bool:
    day, _, time = value.strip().replace(" ", "T", 1).partition("T")
    parts = day.split("-")
    if len(day) != 10 or len(parts) != 3 or not all(part.isdigit() and part.isascii() for part in parts):
        return False
    year, month, date = (int(part) for part in parts)
    lengths = (
        31,
        29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28,
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    )
    if not (1 <= month <= 12 and 1 <= date <= lengths[month - 1]):
        return False
    return not time or type == "datetime" or time[:2].isdigit()


def _named(type: str) -> str:
    return "date (2026-01-31)" if type == "date" else "date and time (2026-01-31T09:30)"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value[:40]}"' if value.isprintable() else "this text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else str(value)[:40]
