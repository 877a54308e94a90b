"""The placeholders of Obsidian's templates: `{{title}}`, `{{date}}`, `{{time}}`, with an optional Moment format."""

from __future__ import annotations

import re
from datetime import datetime

QUOTED_DATE = re.compile(r'^([^\n:]+: )"(\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?)"$', re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{\s*(title|date|time)\s*(?::([^{}\n]{1,80}))?\s*\}\}", re.IGNORECASE)
TOKEN = re.compile(
    r"\[([^\]]*)\]|YYYY|YY|MMMM|MMM|MM|M|DDDD|DDD|DD|Do|D|dddd|ddd|HH|H|hh|h|mm|m|ss|s|A|a|Q|GGGG|WW|W|ww|gggg"
)
FORMATS = {"date": "YYYY-MM-DD", "time": "HH:mm"}


def fill(text: str, title: str, when: datetime, formats: dict[str, str] | None = None) -> str:
    """`text` with its placeholders replaced. Others, such as Templater's, stay as they are.

    In the properties a title is escaped for the double quotes that a template puts around it, and dates lose theirs,
    which only the placeholder needed.
    """
    wanted = {**FORMATS, **(formats or {})}
    head = re.match(r"---\n.*?\n---[ \t]*\n", text, re.DOTALL)
    end = head.end() if head else 0

    def value(match: re.Match[str], quoted: bool) -> str:
        name = match.group(1).lower()
        if name == "title":
            return title.replace("\\", "\\\\").replace('"', '\\"') if quoted else title
        return moment((match.group(2) or wanted[name]).strip(), when)

    top = PLACEHOLDER.sub(lambda match: value(match, True), text[:end])
    top = QUOTED_DATE.sub(r"\1\2", top)
    return top + PLACEHOLDER.sub(lambda match: value(match, False), text[end:])


def moment(pattern: str, when: datetime) -> str:
    """A date in a Moment.js format; English names; what is no token stays."""
    return TOKEN.sub(lambda match: token(match.group(), match.group(1), when), pattern)


def token(name: str, literal: str | None, when: datetime) -> str:
    if literal is not None:
        return literal
    year, week, _ = when.isocalendar()
    values = {
        "YYYY": f"{when.year:04}", "YY": f"{when.year % 100:02}", "Q": str((when.month + 2) // 3),
        "MMMM": f"{when:%B}", "MMM": f"{when:%b}", "MM": f"{when.month:02}", "M": str(when.month),
        "DDDD": f"{when:%j}", "DDD": str(int(f"{when:%j}")), "DD": f"{when.day:02}", "D": str(when.day),
        "Do": ordinal(when.day), "dddd": f"{when:%A}", "ddd": f"{when:%a}",
        "HH": f"{when.hour:02}", "H": str(when.hour),
        "hh": f"{when.hour % 12 or 12:02}", "h": str(when.hour % 12 or 12),
        "mm": f"{when.minute:02}", "m": str(when.minute), "ss": f"{when.second:02}", "s": str(when.second),
        "A": "AM" if when.hour < 12 else "PM", "a": "am" if when.hour < 12 else "pm",
        "GGGG": str(year), "gggg": str(year), "WW": f"{week:02}", "ww": f"{week:02}", "W": str(week),
    }  # fmt: skip
    return values[name]


def ordinal(day: int) -> str:
    ending = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
