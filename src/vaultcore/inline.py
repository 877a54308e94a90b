"""Markup inside lines: code spans, comments, and the two spellings of a link. Everything takes linear time."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = re.compile(r"`+|<!--|%%")
_GAP = re.compile(r"\n[ \t\r]*\n")
LONGEST = 1000  # characters of a link target or of its shown text
_DEST = re.compile(
    r"\]\([ \t]*(?:<([^<>\n]{0,1000})>|([^\s()<]{0,1000}(?:\([^\s()]{0,300}\)[^\s()]{0,300}){0,8}))"
    r"(?:[ \t]+(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?[ \t]*\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def wikilinks(text: str, at: int) -> Iterator[tuple[int, int, str, int]]:
    """(start, end, what is linked, offset of the shown text or -1) of every `[[…]]` on one line; bounded look-ahead."""
    start, end = text.find("[[", at), -1
    while start >= 0:
        if end < start + 2:
            end = text.find("]]", start + 2)
        if end < 0:
            return
        # What opens on an earlier line than the closer, or too far before it, is no link.
        begin = max(text.rfind("\n", start, end), end - 2 * LONGEST)
        if begin > start:
            start = text.find("[[", begin)
            continue
        shown = text.find("|", start + 2, end)
        raw = text[start + 2 : end if shown < 0 else shown]
        if "[" in raw or "]" in raw or len(raw) > LONGEST:
            start = text.find("[[", start + 1)
            continue
        if shown >= 0 and raw.endswith("\\"):  # the pipe of a table cell
            raw = raw[:-1]
        if raw.strip():
            yield start, end + 2, raw.strip(), shown + 1 if shown >= 0 else -1
        start = text.find("[[", end + 2)


def markdown_links(text: str, at: int) -> Iterator[tuple[int, int, int, str]]:
    """(start, end, end of the shown text, what is linked) of every `[…](…)` that leads into the vault, decoded."""
    for m in _DEST.finditer(text, at):
        start = opening(text, m.start())
        dest: str = m[1] if m[1] is not None else m[2]
        if start < 0 or not dest or _SCHEME.match(dest):
            continue
        if "%" in dest:
            from urllib.parse import unquote

            path, mark, sub = dest.partition("#")
            dest = unquote(path) + mark + unquote(sub)
        yield start, m.end(), m.start(), dest.strip()


def opening(text: str, closing: int) -> int:
    """The `[` that the `]` at `closing` belongs to, within 1,000 characters on the same line; -1 if there is none."""
    depth = 0
    for i in range(closing - 1, max(-1, closing - 1001), -1):
        c = text[i]
        if c == "\n":
            return -1
        if c == "]":
            depth += 1
        elif c == "[":
            if depth == 0:
                return -1 if i > 0 and text[i - 1] == "\\" else i
            depth -= 1
    return -1


def spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def blank_spans(text: str, comments: bool = True) -> str:
    """Inline code and comments within lines or paragraphs, in linear time: each opener is paired through a table of
    closers.
    """
    from bisect import bisect_right

    marks = [(m.start(), m.end(), m[0]) for m in _MARK.finditer(text)]
    paragraph, where, last = 0, [], 0
    closers: dict[tuple[int, int], list[int]] = {}
    for i, (start, end, mark) in enumerate(marks):
        if _GAP.search(text, last, start):
            paragraph += 1
        last = end
        where.append(paragraph)
        if mark[0] == "`":
            closers.setdefault((paragraph, len(mark)), []).append(i)
    out, at, i = [], 0, 0
    open_comments = {"<!--": True, "%%": True}
    while i < len(marks):
        start, end, mark = marks[i]
        stop, resume = -1, i + 1
        if mark[0] == "`":
            if start and text[start - 1] == "\\":  # an escaped backtick opens nothing
                i += 1
                continue
            same = closers[(where[i], len(mark))]
            k = bisect_right(same, i)
            if k < len(same):
                resume = same[k] + 1
                stop = marks[same[k]][1]
        elif comments and open_comments.get(mark):
            closer = "-->" if mark == "<!--" else "%%"
            found = text.find(closer, end)
            open_comments[mark] = found >= 0
            if found >= 0:
                stop = found + len(closer)
                while resume < len(marks) and marks[resume][0] < stop:
                    resume += 1
        if stop > 0:
            out += [text[at:start], spaces(text[start:stop])]
            at = stop
        i = resume
    return "".join([*out, text[at:]]) if out else text
