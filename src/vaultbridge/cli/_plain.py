"""How memories and answers look to a person at a terminal: title, facets, text, and nothing that moves a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vaultbridge.search.engine import Hit
    from vaultbridge.tools.context import Item
    from vaultcore.memory.selection import Entry


class Plain:
    """The words of a terminal: the options of the command instead of a tool's arguments."""

    warning = ""
    cursor = "--cursor"
    include = "--include {}"

    def entry(self, e: Entry, body: str, explain: bool, limit: int, extra: list[str] | None = None) -> str:
        from vaultbridge import fence
        from vaultcore.memory.facets import facets

        r = e.record
        shown, left = fence.cut(body.strip("\n"), limit)
        told = " · ".join([*facets(e, explain), *(extra or [])])
        rows = [
            "",
            f"{click.style(fence.flat(r.title, 300), bold=True)}  {fence.flat(r.key, 60)}  {fence.flat(r.rel, 300)}",
            f"  {fence.flat(told, 1_500)}",
            *text(shown),
        ]
        if left:
            rows.append(f"    … {left:,} more characters: om timeline {fence.flat(r.key, 60)}, or open the file")
        return "\n".join(rows)


def text(shown: str) -> list[str]:
    """Its lines, set in, without characters that would steer the terminal; indentation stays."""
    from vaultbridge.fence import flat

    lines = shown.expandtabs(4).splitlines()
    return [("    " + " ".join(flat(word, 4_000) for word in line.split(" "))).rstrip() for line in lines]


def hits(found: list[Hit]) -> list[str]:
    """The hits of a search, two lines each."""
    from vaultbridge.fence import flat

    rows = []
    for hit in found:
        place = f"{flat(hit.rel, 300)}:{hit.line0}" if hit.kind == "note" else flat(hit.rel, 300)
        rows.append(f"{click.style(flat(hit.title, 100), bold=True)}  {place}  ({flat(hit.why, 80)})")
        rows.append(f"    {flat(hit.snippet, 200)}")
    return rows


def about(item: Item, told: str) -> str:
    """What is known about a path, and what became of the files since."""
    from vaultbridge.fence import flat

    facets = " · ".join(part for part in (item.facets, flat(item.match.why(), 200)) if part)
    place = f"{flat(item.name, 120)}  {flat(item.path, 300)}" if item.name != item.path else flat(item.path, 300)
    rows = [f"{click.style(flat(item.title, 200), bold=True)}  {place}", f"  {facets}", f"    {flat(item.says, 300)}"]
    return "\n".join([*rows, f"    {flat(told, 300)}"] if told else rows)
