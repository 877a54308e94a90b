"""Markdown as Obsidian reads it: links, headings, blocks, tasks, tags and fences of one note.

Code, comments and math are blanked out first (same length, so every offset stays true); everything else is found in
what remains. Lines are 1-based lines of the whole file, properties included.
"""

from __future__ import annotations

import re

from .inline import blank_spans, markdown_links, spaces, wikilinks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PROPERTIES = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?:.*?\r?\n)?---[ \t]*(?:\r?\n|\Z)", re.S)
_QUOTE = re.compile(r"(?: {0,3}>[ \t]?)*")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^\n]*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)[ \t]*")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)(.*)")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_HEADING_LINE = re.compile(r"^ {0,3}(?:(#{1,6})(?:[ \t]+|\r?$)|(=+|-+)[ \t]*\r?$)", re.M)
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")
_ONLY_ID = re.compile(r"[ \t>|]*\^([A-Za-z0-9-]+)[ \t|]*$")
_TASK = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(.)\](?:[ \t]+(.*))?$")
_TAG = re.compile(r"#([^\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+)")
_PLAIN = re.compile(r"!?\[\[(?:[^\]|\n]*\|)?([^\]\n]*)\]\]|!?\[([^\]\n]*)\]\([^)\n]*\)|[`*]|(?<!\w)_|_(?!\w)|==|~~")
_PUNCTUATION = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")


class Link:
    """One link. `raw` is all before the pipe, `target` the part before the first `#` ("" = this note), `start`/`end`
    offsets in the text.
    """

    __slots__ = ("raw", "target", "heading", "block", "alias", "embed", "kind", "line", "in_properties", "start", "end")

    def __init__(
        self, raw: str, alias: str | None, embed: bool, kind: str, line: int, in_properties: bool, start: int, end: int
    ) -> None:
        self.raw, self.alias, self.embed, self.kind = raw, alias, embed, kind
        self.line, self.in_properties, self.start, self.end = line, in_properties, start, end
        self.target, self.heading, self.block = split_subpath(raw)


class Heading:
    """`text` as written without markers and block id; `plain` without links and emphasis."""

    __slots__ = ("level", "text", "line", "block")

    def __init__(self, level: int, text: str, line: int, block: str | None) -> None:
        self.level, self.text, self.line, self.block = level, text, line, block

    @property
    def plain(self) -> str:
        return plain(self.text)


class Block:
    """What a block id names; lines are inclusive."""

    __slots__ = ("id", "line0", "line1")

    def __init__(self, id: str, line0: int, line1: int) -> None:
        self.id, self.line0, self.line1 = id, line0, line1


class Task:
    """`marker` is the character in the brackets; `done` is true for x, X and - (cancelled)."""

    __slots__ = ("line", "marker", "done", "text")

    def __init__(self, line: int, marker: str, text: str) -> None:
        self.line, self.marker, self.text = line, marker, text
        self.done = marker in "xX-"


class Fence:
    """A fenced code block with its two fence lines; `language` is the first word of the info string."""

    __slots__ = ("line0", "line1", "language")

    def __init__(self, line0: int, line1: int, language: str) -> None:
        self.line0, self.line1, self.language = line0, line1, language


class Slice:
    """A part of a note: its text without the final newline, its inclusive lines, and the path of headings it stands
    under.
    """

    __slots__ = ("text", "line0", "line1", "heading")

    def __init__(self, text: str, line0: int, line1: int, heading: str) -> None:
        self.text, self.line0, self.line1, self.heading = text, line0, line1, heading


class Document:
    """One parsed note. Each kind is found when first asked for."""

    __slots__ = (
        "text", "lines", "clean", "body", "body_line", "fences",
        "_starts", "_headings", "_links", "_blocks", "_tasks", "_tags",
    )  # fmt: skip

    def __init__(self, text: str, body: int | None = None) -> None:
        # A lone CR ends no line in Obsidian; CRLF does, and its CR is blank space to every pattern here.
        self.text = text
        self.lines = [x[:-1] if x.endswith("\r") else x for x in text.split("\n")]
        self.body = _body(text) if body is None else body
        self.body_line = text.count("\n", 0, self.body) + 1
        self._starts: list[int] | None = None
        self.fences: list[Fence] = []
        self.clean = _blank(self)
        self._headings: list[Heading] | None = None
        self._links: list[Link] | None = None
        self._blocks: dict[str, Block] | None = None
        self._tasks: list[Task] | None = None
        self._tags: list[str] | None = None

    @property
    def starts(self) -> list[int]:
        """Offset of each line's first character."""
        if self._starts is None:
            self._starts, at = [], 0
            for line in self.text.split("\n"):
                self._starts.append(at)
                at += len(line) + 1
        return self._starts

    def line_at(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        from bisect import bisect_right

        return bisect_right(self.starts, offset)

    @property
    def headings(self) -> list[Heading]:
        if self._headings is None:
            self._headings = list(_headings(self))
        return self._headings

    @property
    def links(self) -> list[Link]:
        if self._links is None:
            self._links = sorted([*_property_links(self), *_links(self)], key=lambda link: link.start)
        return self._links

    @property
    def blocks(self) -> list[Block]:
        return list(self._by_id.values())

    @property
    def _by_id(self) -> dict[str, Block]:
        if self._blocks is None:
            from .blocks import find

            self._blocks = find(self)
        return self._blocks

    @property
    def tasks(self) -> list[Task]:
        if self._tasks is None:
            self._tasks = []
            if "[" in self.clean:
                clean = self.clean.split("\n")
                for number in range(self.body_line, len(self.lines) + 1):
                    if "[" in clean[number - 1] and (m := _TASK.match(clean[number - 1].rstrip("\r"))):
                        full = _TASK.match(self.lines[number - 1]) or m
                        self._tasks.append(Task(number, m[1], (full[2] or "").strip()))
        return self._tasks

    @property
    def tags(self) -> list[str]:
        """Tags in the body, without `#`, each once in its first spelling."""
        if self._tags is None:
            found: dict[str, str] = {}
            if "#" in self.clean:
                for m in _TAG.finditer(self.clean, self.body):
                    if m.start() > self.body and not self.clean[m.start() - 1].isspace():
                        continue
                    tag = m[1].strip("/")
                    if tag and any(not c.isdigit() for c in tag if c != "/"):
                        found.setdefault(tag.casefold(), tag)
            self._tags = list(found.values())
        return self._tags

    def path_of(self, line: int) -> str:
        """The headings above `line`, outermost first, joined by ` > `."""
        stack: list[tuple[int, str]] = []
        for h in self.headings:
            if h.line > line:
                break
            stack = [*(x for x in stack if x[0] < h.level), (h.level, h.plain)]
        return " > ".join(t for _, t in stack if t)

    def slice(self, line0: int, line1: int) -> Slice:
        return Slice("\n".join(self.lines[line0 - 1 : line1]), line0, line1, self.path_of(line0))


def parse(text: str, body: int | None = None) -> Document:
    """Parse a note's text. `body` is the offset behind the properties, if known."""
    return Document(text, body)


def section(text: str | Document, path: str) -> Slice | None:
    """The section under the heading `path` ("A > B" or "A#B": B somewhere under A), heading line included, up to the
    next heading of the same or a higher level. Compared as Obsidian does: without case and punctuation. None if there
    is none."""
    document = text if isinstance(text, Document) else parse(text)
    tries = [[path]]
    for separator in ("#", " > ", ">"):
        parts = [p for p in path.split(separator) if p.strip()]
        if len(parts) > 1:
            tries.append(parts)
    for parts in tries:
        wanted = [heading_key(p) for p in parts]
        if not wanted[-1]:
            continue
        for i, heading in enumerate(document.headings):
            if wanted[-1] in (heading_key(heading.text), heading_key(heading.plain)) and _under(
                document, i, wanted[:-1]
            ):
                end = next(
                    (h.line - 1 for h in document.headings[i + 1 :] if h.level <= heading.level), len(document.lines)
                )
                while end > heading.line and not document.lines[end - 1].strip():
                    end -= 1
                return document.slice(heading.line, end)
    return None


def _under(document: Document, index: int, wanted: list[str]) -> bool:
    level = document.headings[index].level
    for heading in reversed(document.headings[:index]):
        if not wanted:
            break
        if heading.level < level:
            level = heading.level
            if wanted[-1] in (heading_key(heading.text), heading_key(heading.plain)):
                wanted = wanted[:-1]
    return not wanted


def block(text: str | Document, id: str) -> Slice | None:
    """The block that `id` (with or without `^`, any case) names: its first occurrence. None if there is none."""
    document = text if isinstance(text, Document) else parse(text)
    found = document._by_id.get(id.lstrip("^").lower())
    return document.slice(found.line0, found.line1) if found else None


def heading_key(text: str) -> str:
    """A heading as link subpaths compare it: punctuation is space, spaces are single, case is folded."""
    from .text import fold

    return fold(_PUNCTUATION.sub(" ", text))


def plain(text: str) -> str:
    """Inline markup taken off: a link's shown text stays, emphasis and code marks go."""
    if not any(c in text for c in "[`*_=~"):
        return text
    return _PLAIN.sub(lambda m: m[1] or m[2] or "", text).strip()


def split_subpath(raw: str) -> tuple[str, str | None, str | None]:
    """`Note#A#B` -> ("Note", "A#B", None); `Note#^id` -> ("Note", None, "id"); split at the first `#`, as the app
    does.
    """
    path, mark, sub = raw.partition("#")
    sub = sub.strip()
    if not mark or not sub:
        return path.strip(), None, None
    if sub.startswith("^"):
        return path.strip(), None, sub[1:].strip() or None
    heading, _, block_id = sub.partition("#^")
    return path.strip(), heading.strip() or None, block_id.strip() or None


def _body(text: str) -> int:
    m = _PROPERTIES.match(text)
    return m.end() if m else (1 if text.startswith("\ufeff") else 0)


def _headings(document: Document) -> Iterator[Heading]:
    for m in _HEADING_LINE.finditer(document.clean, document.body):
        number = document.line_at(m.start())
        line = document.lines[number - 1]
        if m[1]:
            # Found in the blanked line, read from the real one: a heading may hold code.
            full = _HEADING.match(line)
            if full:
                yield _heading(len(m[1]), full[2], number)
        elif number > document.body_line and _is_paragraph(document, number - 1):
            yield _heading(1 if m[2][0] == "=" else 2, document.lines[number - 2], number - 1)


def _is_paragraph(document: Document, number: int) -> bool:
    """Whether a line of dashes or equal signs below line `number` makes a heading of it."""
    start = document.starts[number - 1]
    line = document.clean[start : start + len(document.lines[number - 1])]
    bare = line.lstrip(" ")
    if not bare.strip() or line.startswith(("    ", "\t")) or bare[0] in ">|":
        return False
    return not (_HEADING.match(line) or _ITEM.match(line) or _RULE.match(line) or _UNDERLINE.match(line))


def _heading(level: int, text: str, line: int) -> Heading:
    text = _CLOSING.sub("", text.strip()).strip()
    m = _BLOCK_ID.search(text)
    return Heading(level, text[: m.start()].rstrip() if m else text, line, m[1] if m else None)


def _links(document: Document) -> Iterator[Link]:
    clean, text, body = document.clean, document.text, document.body
    for start, end, raw, shown in wikilinks(clean, body):
        before = clean[start - 1] if start > body else ""
        if before != "\\":
            alias = None if shown < 0 else text[shown : end - 2].strip()
            embed = before == "!"
            yield Link(raw, alias, embed, "wiki", document.line_at(start), False, start - embed, end)
    if "](" in clean:
        for start, end, shown, raw in markdown_links(clean, body):
            embed = start > body and clean[start - 1] == "!"
            alias = text[start + 1 : shown].strip()
            yield Link(raw, alias, embed, "markdown", document.line_at(start), False, start - embed, end)


def _property_links(document: Document) -> Iterator[Link]:
    head = document.text[: document.body]
    if "[[" not in head:
        return
    for start, end, raw, shown in wikilinks(head, 0):
        line_start = head.rfind("\n", 0, start) + 1
        before = head[line_start:start]
        if before.lstrip().startswith("#"):
            continue
        alias = None if shown < 0 else head[shown : end - 2]
        opened = re.search(r"[\"']", before)
        if opened and opened[0] == '"':
            raw, alias = re.sub(r"\\([\"\\/])", r"\1", raw), alias and re.sub(r"\\([\"\\/])", r"\1", alias)
        elif opened:
            raw, alias = raw.replace("''", "'"), alias and alias.replace("''", "'")
        yield Link(raw, alias, before[-1:] == "!", "wiki", document.line_at(start), True, start, end)


def _blank(document: Document) -> str:
    """The text with properties, code, comments and display math as spaces; line ends and length stay. Fills
    `document.fences`.
    """
    text = document.text
    out = text
    if any(x in text for x in ("```", "~~~", "\n    ", "\n\t", "$$", "<!--", "%%")) or text[:1] in " \t":
        from .regions import blank_lines

        out = blank_lines(document)
    if document.body:
        out = spaces(out[: document.body]) + out[document.body :]
    return blank_spans(out) if "`" in out or "<!--" in out or "%%" in out else out
