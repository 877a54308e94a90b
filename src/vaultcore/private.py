"""Whether a note is private. Only its properties say so; text in the body never does."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.markdown import Document
    from vaultcore.properties import Properties

_YES = ("true", "yes", "on", "1", "1.0", "y")
_TAG = re.compile(r"(?i)#*private(?:/.*)?$")
_SPOKEN = re.compile(r"(?i)(?<!\S)#private(?![\w-])")
IN_BODY = "#private in the text never withholds a note"
MEND = "put `private` into the tags of its properties"


def why_private(props: Properties) -> str | None:
    """Return why these properties withhold their note, or None.

    `private` in any spelling of yes, a `private` tag in any form of list, or properties that cannot be read whole.
    A key that is given twice withholds if any of its values does.
    """
    for key, value in [*props.values.items(), *props.shadowed]:
        name = key.strip().lower()
        if name == "private" and _yes(value):
            return f"its properties say {key.strip()}: {_shown(value)}"
        if name in ("tags", "tag") and _tagged(value):
            return "it carries the tag private"
    if props.state == "unreadable" or props.state == "recovered":
        first = props.problems[0].sentence() if props.problems else "they are broken"
        return f"its properties cannot be read whole ({first})"
    return None


def is_tag(tag: str) -> bool:
    """Whether this is the tag that withholds a note, or one nested in it."""
    return bool(_TAG.match(tag.strip()))


def line_in_body(document: Document) -> int:
    """The line (from 1) of the first `#private` in a note's text, where it does nothing; 0 without one."""
    if not any(is_tag(tag) for tag in document.tags):
        return 0
    found = _SPOKEN.search(document.clean, document.body)
    return document.clean.count("\n", 0, found.start()) + 1 if found else document.body_line


def _yes(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return any(_yes(item) for item in value)
    if isinstance(value, dict):
        return any(_yes(item) for item in value) or any(_yes(item) for item in value.values())
    return str(value).strip().strip("\"'").strip().lower() in _YES


def _tagged(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_tagged(item) for item in value)
    if isinstance(value, dict):
        return any(_tagged(item) for item in value) or any(_tagged(item) for item in value.values())
    if not isinstance(value, str):
        return False
    return any(_TAG.match(part.strip("\"'[]")) for part in re.split(r"[,\s]+", value))


def _shown(value: object) -> str:
    return " ".join(str(value).split())[:20]
