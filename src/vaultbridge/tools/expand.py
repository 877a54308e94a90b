"""`expand`: what a note links to and what links to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import READ, REPLY, schema, text

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller

LISTED = 60  # links listed in each direction

TOOL: dict[str, Any] = {
    "name": "expand",
    "title": "Follow a note's links",
    "description": (
        "Links out of a note and into it. Cheaper than searching again once you know one good note. Links that lead "
        "nowhere are named, links to withheld notes only counted."
    ),
    "inputSchema": schema(["note"], note=text("Path, title, alias, id or vault:// address")),
    "annotations": READ,
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge.fence import frame, tag
    from vaultbridge.lookup import find

    bridge.refresh()
    rel = find(bridge, arguments["note"], caller).rel
    around = neighbours(bridge, rel)
    mark = tag()
    reply = [frame("note", mark, head(bridge, rel), path=rel)]
    reply.append(f"Links out: {len(around.out)}{around.remarks()}")
    if around.out:
        reply.append(frame("links", mark, listed(around.out)))
    if around.ambiguous:
        reply.append("More than one note has the name; the one listed is where Obsidian leads:")
        reply.append(frame("ambiguous", mark, "\n".join(around.ambiguous[:20])))
    if around.broken:
        reply.append(f"Leading nowhere: {len(around.broken)}")
        reply.append(frame("unresolved", mark, "\n".join(around.broken[:20])))
    reply.append(f"Linked from: {len(around.back)}")
    if around.back:
        reply.append(frame("backlinks", mark, listed(around.back)))
    return "\n".join(reply)[:REPLY]


class Neighbours:
    """The links around one note, as one caller may see them."""

    __slots__ = ("out", "back", "broken", "ambiguous", "withheld", "withheld_back")

    def __init__(self) -> None:
        self.out: dict[str, str] = {}
        self.back: dict[str, str] = {}
        self.broken: list[str] = []
        self.ambiguous: list[str] = []
        self.withheld = 0
        self.withheld_back = 0

    def remarks(self) -> str:
        return f" ({self.withheld} more to notes the policy withholds)" if self.withheld else ""


def neighbours(bridge: Bridge, rel: str) -> Neighbours:
    """Outgoing and incoming links of `rel`, resolved as Obsidian does and held against the policy."""
    from vaultbridge.fence import flat
    from vaultcore import exposure

    manifest, policy = bridge.manifest, bridge.policy
    may: dict[str, bool] = {}

    def allowed(other: str) -> bool:
        if other not in may:
            may[other] = exposure.readable(manifest, policy, other).ok
        return may[other]

    found = Neighbours()
    resolver = bridge.index.resolver()
    for link in bridge.index.links_from(rel):
        place = resolver.resolve(link.raw, rel)
        shown = flat(link.target, 160)
        if place.rel is None:
            if shown and shown not in found.broken:
                found.broken.append(shown)
        elif place.rel == rel:
            continue
        elif not place.rel.lower().endswith(".md"):
            found.out.setdefault(place.rel, "attachment")
        elif allowed(place.rel):
            found.out.setdefault(place.rel, "through its alias" if place.kind == "alias" else "")
            others = [flat(other, 160) for other in place.candidates if other != place.rel and allowed(other)]
            if others and place.ambiguous:
                found.ambiguous.append(f"{shown}: {flat(place.rel, 160)}, also {', '.join(others[:5])}")
        else:
            found.withheld += 1
    for other in bridge.index.links_to(rel):
        if other != rel:
            if allowed(other):
                found.back.setdefault(other, "")
            else:
                found.withheld_back += 1
    return found


def head(bridge: Bridge, rel: str) -> str:
    """Title and description of a note, one line each."""
    from vaultbridge.fence import flat

    row = bridge.index.note(rel)
    if row is None:
        return flat(rel)
    lines = [f"title: {flat(row.title, 200)}"]
    if row.description:
        lines.append(f"description: {flat(row.description, 300)}")
    return "\n".join(lines)


def listed(rels: dict[str, str]) -> str:
    from vaultbridge.fence import flat

    lines = [f"- {flat(rel, 240)}" + (f" ({why})" if why else "") for rel, why in list(rels.items())[:LISTED]]
    if len(rels) > LISTED:
        lines.append(f"{len(rels) - LISTED} more")
    return "\n".join(lines)
