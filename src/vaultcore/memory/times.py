"""When something was true in the world, and when the vault knew it: two axes, half-open intervals."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_MOMENT = re.compile(r"^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(Z|[+-]\d{2}:?\d{2})?$", re.I)
ALWAYS = float("-inf")
NEVER = float("inf")


def moment(given: object, end_of_day: bool = False) -> float | None:
    """Seconds since the epoch for a date or a date with time, else None.

    A date alone is its first moment in the local time zone (`end_of_day`: the first moment of the next day);
    a time without a zone is local.
    """
    import datetime

    if isinstance(given, datetime.date):
        given = given.isoformat()
    if not isinstance(given, str):
        return None
    text = given.strip()
    try:
        if _DATE.match(text):
            start = datetime.datetime.strptime(text, "%Y-%m-%d")
            return (start + datetime.timedelta(days=1) if end_of_day else start).timestamp()
        found = _MOMENT.match(text)
        if not found:
            return None
        day, clock, zone = found.groups()
        clock = clock if len(clock) > 5 else clock + ":00"
        if "." in clock:
            clock = clock.split(".")[0] + "." + clock.split(".")[1].ljust(6, "0")
        value = datetime.datetime.strptime(
            f"{day} {clock}", "%Y-%m-%d %H:%M:%S.%f" if "." in clock else "%Y-%m-%d %H:%M:%S"
        )
        if zone:
            minutes = 0
            if zone.upper() != "Z":
                digits = zone[1:].replace(":", "")
                minutes = (int(digits[:2]) * 60 + int(digits[2:])) * (1 if zone[0] == "+" else -1)
            value = value.replace(tzinfo=datetime.timezone(datetime.timedelta(minutes=minutes)))
        return value.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def stamp(seconds: float | None = None) -> str:
    """UTC with milliseconds, as recorded_at and retired_at are written."""
    import datetime
    import time

    now = datetime.datetime.fromtimestamp(time.time() if seconds is None else seconds, datetime.timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


def today() -> str:
    """The local date."""
    import time

    return time.strftime("%Y-%m-%d")


def bounds(start: object, end: object) -> tuple[float, float]:
    """[start, end) in seconds; a missing or unreadable side is open."""
    first, last = moment(start), moment(end)
    return (ALWAYS if first is None else first, NEVER if last is None else last)
