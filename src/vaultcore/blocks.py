"""Blocks: what a block id names. A note is cut once into blocks, then each id is given to the block it stands in or
under.
"""

from __future__ import annotations

import re

from .markdown import _BLOCK_ID, _HEADING, _ITEM, _ONLY_ID, _QUOTE, _RULE, Block, Document

_HTML = re.compile(r" {0,3}</?[A-Za-z]")


def find(document: Document) -> dict[str, Block]:
    """id in lower case -> Block, the first occurrence of each id.

    Blocks are: a heading line, a fence, a whole table, a quote, a list item with its continuation lines and the items
    under it, and a paragraph. An id at the end of a line belongs to the block of that line; an id alone on a line to
    the nearest block above.
    """
    if "^" not in document.clean:
        return {}
    clean = [x.rstrip("\r") for x in document.clean.split("\n")]
    spans = _cut(document, clean)
    found: dict[str, Block] = {}
    starts = [s[0] for s in spans]
    from bisect import bisect_right

    for number in range(document.body_line, len(clean) + 1):
        line = clean[number - 1]
        if "^" not in line:
            continue
        alone = _ONLY_ID.match(line)
        m = alone or _BLOCK_ID.search(line.rstrip(" \t|") if line.lstrip(" \t>").startswith("|") else line)
        if not m or m[1].lower() in found:
            continue
        at = bisect_right(starts, number) - 1
        if at < 0:
            continue
        line0, line1, _kind = spans[at]
        found[m[1].lower()] = Block(m[1], line0, line1)
    return found


def _cut(document: Document, clean: list[str]) -> list[tuple[int, int, str]]:
    """(first line, last line, kind) of every block, by first line. A line that holds only an id starts none."""
    fences = {f.line0: f for f in document.fences}
    spans: list[tuple[int, int, str]] = []
    columns: list[int] = []  # indentation of each list item, parallel to spans; -1 for others
    number, open_kind, depth = document.body_line, "", 0

    def begin(kind: str) -> None:
        spans.append((number, number, kind))
        columns.append(-1)

    while number <= len(clean):
        fence = fences.get(number)
        if fence:
            if (
                open_kind == "item"
                and clean[number - 1] != document.lines[number - 1]
                and document.lines[number - 1][:1] in " \t"
            ):
                spans[-1] = (spans[-1][0], fence.line1, "item")  # code inside a list item
            else:
                begin("fence")
                spans[-1] = (number, fence.line1, "fence")
                open_kind = ""
            number = fence.line1 + 1
            continue
        line = clean[number - 1]
        quote = _QUOTE.match(line)
        level = quote[0].count(">") if quote else 0
        rest = line[quote.end() :] if quote else line
        if open_kind == "item" and rest.strip() and _after_blank(clean, number) and rest[:1] not in " \t":
            open_kind = ""  # unindented behind a blank line: the list is over, whatever comes now
        if _ONLY_ID.match(line):
            open_kind = ""
        elif not rest.strip() and not level:
            if document.lines[number - 1].strip() and open_kind == "text":
                spans[-1] = (spans[-1][0], number, "text")  # a blanked comment or code span on a line of its own
            elif open_kind != "item":
                open_kind = ""
        elif level:
            if open_kind != "quote" or level != depth:
                begin("quote")
                open_kind, depth = "quote", level
            spans[-1] = (spans[-1][0], number, "quote")
        elif _HEADING.match(rest) or _RULE.match(rest):
            begin("heading")
            open_kind = ""
        elif _ITEM.match(rest):
            begin("item")
            columns[-1] = len(rest) - len(rest.lstrip(" \t"))
            open_kind = "item"
        elif rest.lstrip().startswith("|") or _is_table_head(clean, number):
            if open_kind != "table":
                begin("table")
                open_kind = "table"
            spans[-1] = (spans[-1][0], number, "table")
        elif open_kind in ("item", "text") or (open_kind == "table" and "|" in rest):
            spans[-1] = (spans[-1][0], number, open_kind)
        else:
            begin("html" if _HTML.match(rest) else "text")
            open_kind = "text"
        number += 1
    return _with_children(spans, columns)


def _with_children(spans: list[tuple[int, int, str]], columns: list[int]) -> list[tuple[int, int, str]]:
    """List items grown to the end of the items indented under them."""
    grown = list(spans)
    open_items: list[int] = []
    for i, (_line0, line1, kind) in enumerate(spans):
        if kind != "item":
            open_items = []
            continue
        open_items = [k for k in open_items if columns[k] < columns[i]]
        for k in open_items:
            grown[k] = (grown[k][0], line1, "item")
        open_items.append(i)
    return grown


def _after_blank(clean: list[str], number: int) -> bool:
    return number > 1 and not clean[number - 2].strip()


def _is_table_head(clean: list[str], number: int) -> bool:
    return (
        "|" in clean[number - 1]
        and number < len(clean)
        and "-" in clean[number]
        and not clean[number].strip(" \t|:-")
        and "|" in clean[number]
    )
