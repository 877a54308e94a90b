"""How many of a thing, in words that agree with the number."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """`1 file`, `3 files`, `1,200 notes`; `many` is the plural where it is not `one` with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
