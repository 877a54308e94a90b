"""A note cut into the pieces that search finds: along headings, fences respected, sizes bounded."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .markdown import Document

SMALL = 300  # a section shorter than this takes the next one in
SIZE = 1200  # past this many characters a piece ends at the next blank line
HARD = 2400  # past this many it ends anywhere outside a fence
FENCE = 8000  # a fence longer than this is cut as well
MOST = 4000  # pieces of one note, about: of a huge note every piece is larger


class Chunk:
    """One piece: `heading` is the path of headings above it (` > ` between), lines are 1-based and inclusive."""

    __slots__ = ("heading", "line0", "line1", "text")

    def __init__(self, heading: str, line0: int, line1: int, text: str) -> None:
        self.heading, self.line0, self.line1, self.text = heading, line0, line1, text


def cut(document: Document, title: str = "") -> list[Chunk]:
    """The pieces of `document`, at least one; a first heading equal to `title` is left out of heading paths."""
    lines = document.lines
    headings = {h.line: h for h in document.headings}
    scale = 1 + len(document.text) // (MOST * SMALL)
    small, most, hard, fence = SMALL * scale, SIZE * scale, HARD * scale, FENCE * scale
    fenced = _spans(document)
    chunks: list[Chunk] = []
    stack: list[tuple[int, str]] = []
    buffer: list[str] = []
    start, size = document.body_line, 0
    path = ""

    def flush(end: int) -> None:
        nonlocal buffer, size, start
        text = "\n".join(buffer).strip()
        if text or (path and end >= start):
            chunks.append(Chunk(path, start, max(start, end), text))
        buffer, size, start = [], 0, end + 1

    for number in range(document.body_line, len(lines) + 1):
        heading = headings.get(number)
        if heading is not None:
            merge = 0 < size < small and bool(path)
            if not merge:
                flush(number - 1)
            stack = [x for x in stack if x[0] < heading.level]
            stack.append((heading.level, heading.plain))
            if not merge:
                path = " > ".join(t for _, t in stack if t and t != title)
            else:
                buffer.append(heading.plain)
                size += len(heading.plain) + 1
            continue
        line = lines[number - 1]
        if size > most:
            blank = not line.strip()
            inside = number in fenced
            if (blank and not inside) or (size > hard and not inside) or size > fence:
                flush(number - 1)
        if len(line) > hard:  # a line of its own, possibly megabytes
            for at in range(0, len(line), hard):
                buffer.append(line[at : at + hard])
                flush(number)
                start = number
            start = number + 1
            continue
        buffer.append(line)
        size += len(line) + 1
    flush(len(lines))
    return chunks or [Chunk("", document.body_line, max(document.body_line, len(lines)), "")]


def _spans(document: Document) -> set[int]:
    inside: set[int] = set()
    for fence in document.fences:
        inside.update(range(fence.line0, fence.line1 + 1))
    return inside
