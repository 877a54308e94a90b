"""The regions of a note that hold no markup, found line by line: fences, indented code, comments over several lines,
display math.
"""

from __future__ import annotations

import re

from .inline import blank_spans
from .markdown import _FENCE, _HEADING, _ITEM, _QUOTE, Document, Fence

_OPENING = re.compile("<!--|%%")


def blank_lines(document: Document) -> str:
    """The text with those regions as spaces, length and line ends kept; appends to `document.fences`."""
    lines = document.text.split("\n")
    last = len(lines)
    number = document.body_line
    after_blank = True
    items: list[int] = []  # content columns of the list items we are in
    never: set[str] = set()  # closers that do not come any more: looked for once
    while number <= last:
        line = lines[number - 1]
        quote = _QUOTE.match(line)
        head = quote.end() if quote else 0
        rest = line[head:].rstrip("\r")
        stripped = rest.lstrip(" \t")
        if not stripped:
            after_blank = True
            number += 1
            continue
        column = _column(rest)
        items = _items(items, rest, column, after_blank)
        if after_blank and column >= (items[-1] if items else 0) + 4 and not _ITEM.match(rest):
            lines[number - 1] = _blanked(line)
            number += 1
            continue  # still code: what follows needs no blank line before it
        fence = _FENCE.match(stripped) if stripped[0] in "`~" else _item_fence(rest)
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            end = _fence_end(lines, number, fence[1], line[:head].count(">"))
            document.fences.append(Fence(number, end, (fence[2].split() or [""])[0]))
            for i in range(number, end + 1):
                lines[i - 1] = _blanked(lines[i - 1])
            number, after_blank = end + 1, True
            continue
        if stripped.startswith("$$") and "$$" not in never:
            number = _until(lines, number, head + len(rest) - len(stripped), "$$", "$$", never)
            after_blank = True
            continue
        if "<!--" in rest or "%%" in rest:
            number = _comment(lines, number, never)
            after_blank = False
            continue
        after_blank = bool(_HEADING.match(rest))
        number += 1
    return "\n".join(lines)


def _items(items: list[int], rest: str, column: int, after_blank: bool) -> list[int]:
    """The content columns of the open list items once this line is read."""
    item = _ITEM.match(rest) if rest.lstrip(" \t")[0] in "-*+0123456789" else None
    if item and column < (items[-1] if items else 0) + 4:
        inside = [x for x in items if x <= column]
        marker = len(item[0].rstrip().expandtabs(4))
        content = len(item[0].expandtabs(4))
        return [*inside, content if marker < content <= marker + 4 else marker + 1]
    if items and column < items[0] and (after_blank or rest[0] == "#"):
        return []
    return [x for x in items if x <= column] if after_blank and items else items


def _item_fence(rest: str) -> re.Match[str] | None:
    """A fence that opens behind a list marker: "- ```sh"."""
    if rest.lstrip(" \t")[0] not in "-*+0123456789" or ("```" not in rest and "~~~" not in rest):
        return None
    item = _ITEM.match(rest)
    return _FENCE.match(rest, item.end()) if item else None


def _fence_end(lines: list[str], number: int, opener: str, depth: int) -> int:
    """The line that closes the fence opened on `number`: same character, at least as long, same quote depth; or where
    the quote ends.
    """
    for i in range(number + 1, len(lines) + 1):
        line = lines[i - 1]
        if depth:
            quote = _QUOTE.match(line)
            head = quote[0] if quote else ""
            if head.count(">") < depth:
                return i - 1
            for _ in range(depth):
                line = line[line.index(">") + 1 :]
        tail = line.strip()
        if tail and tail[0] == opener[0] and len(tail) >= len(opener) and not tail.strip(opener[0]):
            return i
    return len(lines)


def _comment(lines: list[str], number: int, never: set[str]) -> int:
    """Blank a comment that opens on this line and ends on a later one; one that ends here is left to the span pass.
    Next line to read.
    """
    line = blank_spans(lines[number - 1], comments=False) if "`" in lines[number - 1] else lines[number - 1]
    opening = _OPENING.search(line)
    while opening:
        closer = "-->" if opening[0] == "<!--" else "%%"
        at = opening.end()
        if closer not in never:
            end = line.find(closer, at)
            if end < 0:
                return _until(lines, number, opening.start(), opening[0], closer, never)
            at = end + len(closer)
        opening = _OPENING.search(line, at)
    return number + 1


def _until(lines: list[str], number: int, position: int, opener: str, closer: str, never: set[str]) -> int:
    """Blank from `position` of this line to the closer, here or on a later line; nothing if there is none. Next line
    to read.
    """
    line = lines[number - 1]
    end = line.find(closer, position + len(opener))
    if end >= 0:
        lines[number - 1] = line[:position] + " " * (end + len(closer) - position) + line[end + len(closer) :]
        return number + 1
    for i in range(number + 1, len(lines) + 1):
        end = lines[i - 1].find(closer)
        if end >= 0:
            lines[number - 1] = line[:position] + _blanked(line[position:])
            for k in range(number + 1, i):
                lines[k - 1] = _blanked(lines[k - 1])
            end += len(closer)
            lines[i - 1] = " " * end + lines[i - 1][end:]
            return i  # the rest of the closing line is read again
    never.add(closer)
    return number + 1


def _column(text: str) -> int:
    column = 0
    for c in text:
        if c == " ":
            column += 1
        elif c == "\t":
            column += 4 - column % 4
        else:
            break
    return column


def _blanked(line: str) -> str:
    return " " * (len(line) - 1) + "\r" if line.endswith("\r") else " " * len(line)
