"""One more line in the note that lists a folder's notes, in the shape of the last entry; every other byte stays."""

from __future__ import annotations

import os
import re

from vaultcore import markdown, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.exposure import Policy
    from vaultcore.manifest import Manifest
    from vaultcore.markdown import Document

_ITEM = re.compile(r"^(\s*(?:[-*+]|\d{1,4}[.)])(?:\s+\[.\])?)(?:(\s+)(.*))?$")
_LINK = re.compile(
    r"(?<!!)\[\[([^\[\]|#^]+)(?:[#^][^\[\]|]*)?(?:\\?\|([^\[\]]*))?\]\]|(?<!!)\[([^\[\]]+)\]\(([^()]+)\)"
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DASH = re.compile(r"^(\s*(?:[:—–-]|\.)\s+)\S")
_BARE_DATE = re.compile(r"^\W*\d{4}-\d{2}-\d{2}\W*$")
_BETWEEN = re.compile(r"^\W*$")


def index_of(manifest: Manifest, policy: Policy, folder: str, readable: object) -> str | None:
    """The note that lists the notes of `folder`: a note of its name or called an index, there or in the nearest folder
    above. `readable(rel)` tells whether the writer may see it: what it cannot see it does not change."""
    assert callable(readable)
    at = folder
    while True:
        stem = at.rsplit("/", 1)[-1].casefold()
        wanted = ["index", "_index"] if not at else [stem, f"{stem} index", "index", "_index"]
        try:
            names = sorted(os.listdir(os.path.join(manifest.root, at) if at else manifest.root))
        except OSError:
            names = []
        found = [name for want in wanted for name in names if walk.is_note(name) and name[:-3].casefold() == want]
        for name in found:
            rel = f"{at}/{name}" if at else name
            if policy.admits(rel) and readable(rel):
                return rel
        if not at:
            return None
        at = at.rpartition("/")[0]


class Item:
    """What is to be listed: the note's name in links, its title, date and one-line description."""

    __slots__ = ("date", "description", "link", "title")

    def __init__(self, link: str, title: str, date: str, description: str) -> None:
        self.link, self.title, self.date, self.description = link, title, date, description


def added(data: bytes, item: Item) -> bytes:
    """`data` with `item` listed; `data` itself when it is listed already, or is not UTF-8 and so nobody's to change."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    document = markdown.parse(text)
    name = item.link.rsplit("/", 1)[-1].casefold()
    if any(
        link.target.rsplit("/", 1)[-1].casefold().removesuffix(".md") == name for link in document.links if link.target
    ):
        return data
    lines = text.split("\n")
    last, empty = _last(document), _empty(document)
    if last is not None:
        at = last + 1
        line = _row(lines[last], item) if lines[last].lstrip().startswith("|") else _entry(lines[last], item)
        ending = "\r" if lines[last].endswith("\r") else ""
    elif empty is not None:
        ending = "\r" if lines[empty].endswith("\r") else ""
        lines[empty] = lines[empty].rstrip() + f" {_wiki(item)}" + ending
        return "\n".join(lines).encode()
    else:
        ending = "\r" if "\r\n" in text else ""
        line, at = f"- {_wiki(item)}", len(lines)
        while at > document.body_line and not lines[at - 1].strip():
            at -= 1
        if lines[at - 1].startswith("Back to ") and not lines[at - 2].strip():  # what leads out of a note stays its end
            at -= 2
        lines[at:at] = [ending]
        at += 1
    if at >= len(lines):  # the last line has no line end: it gets one, ours keeps none
        lines[-1] = lines[-1].rstrip("\r") + ending
        return "\n".join([*lines, line]).encode()
    lines[at:at] = [line + ending]
    return "\n".join(lines).encode()


def _visible(document: Document) -> list[int]:
    """The numbers (from 0) of the body's lines that are neither code nor inside a comment."""
    inside = {n for fence in document.fences for n in range(fence.line0, fence.line1 + 1)}
    return [n for n in range(document.body_line - 1, len(document.lines)) if n + 1 not in inside]


def _last(document: Document) -> int | None:
    """The last entry that links to something: a list item or a row of a table."""
    found = None
    for n in _visible(document):
        line = document.lines[n]
        shown = line.strip()
        if (_ITEM.match(line.rstrip()) or (shown.startswith("|") and shown.endswith("|"))) and _LINK.search(line):
            found = n
    return found


def _empty(document: Document) -> int | None:
    """The first item that says nothing yet, as templates leave it."""
    return next((n for n in _visible(document) if document.lines[n].strip() in ("-", "*", "+")), None)


def _entry(last: str, item: Item) -> str:
    """The new item as the last one is written: marker, date, kind of link, dash, description."""
    match = _ITEM.match(last.rstrip())
    assert match
    head, gap, rest = match.group(1), match.group(2) or " ", match.group(3) or ""
    number = re.match(r"(\s*)(\d+)(.*)", head)
    if number:
        head = f"{number.group(1)}{int(number.group(2)) + 1}{number.group(3)}"
    head = re.sub(r"\[.\]$", "[ ]", head)
    link = _LINK.search(rest)
    assert link
    before, after = rest[: link.start()], rest[link.end() :]
    if _BARE_DATE.match(before):
        before = _DATE.sub(item.date, before)
    elif not _BETWEEN.match(before) or len(before) > 8:
        before = ""
    text = before + _linked(link, item)
    if _BARE_DATE.match(after):
        return head + gap + text + _DATE.sub(item.date, after)
    closing = after[: len(before.strip())] if before.strip() and after.startswith(before.strip()[::-1]) else ""
    dash = _DASH.match(after[len(closing) :])
    return head + gap + text + closing + (dash.group(1) + item.description if dash and item.description else "")


def _row(last: str, item: Item) -> str:
    """The new row of a table: link, date and description where the last row has them, nothing elsewhere."""
    cells = re.split(r"(?<!\\)\|", last.strip().strip("|"))
    texts = [n for n, cell in enumerate(cells) if not _LINK.search(cell) and not _BARE_DATE.match(cell.strip() or "x")]
    longest = max(texts, key=lambda n: len(cells[n]), default=-1)
    made = []
    for n, cell in enumerate(cells):
        link = _LINK.search(cell)
        if link:
            made.append(_linked(link, item).replace("|", "\\|"))
        elif _BARE_DATE.match(cell.strip()):
            made.append(item.date)
        else:
            made.append(item.description.replace("|", "\\|") if n == longest and cell.strip() else "")
    return "| " + " | ".join(made) + " |"


def _linked(last: re.Match[str], item: Item) -> str:
    if last.group(4) is not None:
        return f"[{_shown(item.title)}]({_encoded(item.link)}.md)"
    return _wiki(item)


def _wiki(item: Item) -> str:
    """The note's name is its date and its title, or its path: what is shown is the title."""
    return f"[[{item.link}]]" if item.link == item.title else f"[[{item.link}|{_shown(item.title)}]]"


def _shown(title: str) -> str:
    """A title as it may stand inside a link."""
    return " ".join(re.sub(r"[\[\]|\\]+|\^\^|%%", " ", title).split()) or "note"


def _encoded(path: str) -> str:
    from urllib.parse import quote

    return quote(path)
