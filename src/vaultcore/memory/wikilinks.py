"""Links in a new memory: kept where they lead somewhere for its writer, else made plain text."""

from __future__ import annotations

import re

from . import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .contract import Draft

_LINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,500})\]\]")


def apply(draft: Draft, links: list[str], resolves: Callable[[str], bool] | None) -> None:
    """Neutralise dangling links in title and body of `draft`, and list the links that resolve under Related."""
    known: dict[str, bool] = {}

    def leads(name: str) -> bool:
        folded = name.casefold()
        if folded not in known:
            known[folded] = resolves is None or bool(resolves(name))
        return known[folded]

    lost: dict[str, None] = {}
    draft.body = plain(draft.body, leads, lost)
    if lost:
        names = ", ".join(repr(record.one_line(n)[:60]) for n in list(lost)[:10])
        draft.notes.append(f"Linked nothing you can read, so it stands as plain text: {names}.")
    dropped: list[str] = []
    for link in links:
        name = record.one_line(link.strip().strip("[]")).split("|")[0].strip()
        if not name:
            continue
        if leads(name.split("#")[0].strip()):
            if name.casefold() not in (x.casefold() for x in draft.links):
                draft.links.append(name)
        else:
            dropped.append(name[:60])
    if dropped:
        draft.notes.append(
            "links left out, nothing you can read bears that name: " + ", ".join(repr(d) for d in dropped[:10]) + "."
        )
    if draft.links:
        draft.sections.append(("Related", "\n".join(f"- [[{name}]]" for name in draft.links)))


def plain(text: str, leads: Callable[[str], bool], lost: dict[str, None]) -> str:
    """`text` with every link that leads nowhere replaced by what it shows. Links inside code stay as they are."""

    def replace(found: re.Match[str]) -> str:
        mark, inner = found.groups()
        target, _, shown = inner.partition("|")
        name = target.split("#")[0].strip()
        if not name or leads(name):
            return found.group()
        lost[name] = None
        return mark + (shown.strip() or name)

    out: list[str] = []
    fence = ""
    for line in text.split("\n"):
        head = line.lstrip(" >")[:3]
        if head in ("```", "~~~"):
            fence = "" if fence == head else fence or head
            out.append(line)
            continue
        out.append(
            line if fence else "`".join(p if i % 2 else _LINK.sub(replace, p) for i, p in enumerate(line.split("`")))
        )
    return "\n".join(out)
