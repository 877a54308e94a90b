"""Take out of a shipped note what leads to parts that a profile leaves out."""

from __future__ import annotations

import re

from vaultcore import markdown
from vaultcore.links import Resolver

PLACE = re.compile(r"`([^`\n]+/)`")
HEADING = re.compile(r"(#{1,6}) ")


def prune(text: str, rel: str, before: Resolver, gone: set[str], folders: set[str]) -> str:
    """`text` without the lines that link to something in `gone` or describe a folder in `folders`, and without the
    headings that nothing is left under. `before` resolves links in the vault as shipped.
    """
    document = markdown.parse(text)
    drop: set[int] = set()
    for link in document.links:
        place = before.resolve(link.raw, rel)
        if place.rel in gone and link.line >= document.body_line:
            drop.add(link.line)
    for number, line in enumerate(document.lines, 1):
        match = PLACE.search(line)
        if number >= document.body_line and match and line.lstrip().startswith("- ") and match.group(1) in folders:
            drop.add(number)
    if not drop:
        return text
    kept = [line for number, line in enumerate(text.split("\n"), 1) if number not in drop]
    return squeeze(without_empty_sections(kept, text))


def without_empty_sections(lines: list[str], text: str) -> list[str]:
    """Drop headings whose section has become empty; one that was empty before stays."""
    original = text.split("\n")
    result: list[str] = []
    for number, line in enumerate(lines):
        match = HEADING.match(line)
        if (
            match
            and is_empty(lines, number, match.group(1))
            and not is_empty(original, original.index(line), match.group(1))
        ):
            continue
        result.append(line)
    return result


def is_empty(lines: list[str], number: int, level: str) -> bool:
    for line in lines[number + 1 :]:
        match = HEADING.match(line)
        if match and len(match.group(1)) <= len(level):
            return True
        if line.strip():
            return False
    return True


def squeeze(lines: list[str]) -> str:
    """The lines with runs of blank ones made single and one line end at the end."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"
