"""Text from notes, names and git, made harmless: one line, nothing unseen, no tags."""

from __future__ import annotations


def flat(text: str, most: int = 200) -> str:
    """One line of at most `most` characters that cannot open a section, a list item or a tag of its own.

    Control, direction and zero-width characters go, runs of blanks become one, `<` before a name loses its meaning.
    """
    text = text[: most * 4]
    if not (text.isascii() and text.isprintable()):
        text = "".join([c if c.isprintable() or c in "\u200c\u200d" else " " for c in text])
    text = " ".join(text.split())
    if "<" in text:
        text = "".join([_tame(text, at) if c == "<" else c for at, c in enumerate(text)])
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _tame(text: str, at: int) -> str:
    following = text[at + 1 : at + 2]
    return "‹" if following.isalpha() or following in ("/", "!", "?") else "<"


def whole(data: bytes, most: int) -> bytes:
    """The first `most` bytes of UTF-8 text, no character cut in two."""
    if len(data) < most:
        return data
    end = most
    while end and most - end < 4 and data[end - 1] & 0xC0 == 0x80:
        end -= 1
    return data[: end - 1] if end and data[end - 1] >= 0xC0 else data[:end]


def size(text: str) -> int:
    """Bytes that `text` takes in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def kilobytes(count: int) -> str:
    return f"{count / 1000:.1f} kB"


def ago(then: float, now: float) -> str:
    """How long ago, in words that fit in a line."""
    seconds = max(0, int(now - then))
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
