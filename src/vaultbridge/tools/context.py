"""`context`: what the vault knows about files that are about to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import READ, schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller
    from vaultcore.memory.anchors import Match

TOOL: dict[str, Any] = {
    "name": "context",
    "title": "What is known about files",
    "description": (
        "Before changing files: memories and notes about them, deepest match first, as current rules, active plans, "
        "dated research and history, and whether their code changed since."
    ),
    "inputSchema": schema(
        ["paths"],
        paths={
            "type": "array",
            "items": {"type": "string", "maxLength": 1_024},
            "minItems": 1,
            "maxItems": 50,
            "description": "Files or folders of your repository",
        },
    ),
    "annotations": READ,
}

GROUPS = ("current rules", "active plans", "dated research", "history")
SHOWN = 10
ACTIVE = frozenset(
    ("active", "proposed", "accepted", "in-progress", "in progress", "planned", "blocked", "open", "draft", "on-hold")
)
OVER = frozenset(
    ("done", "completed", "cancelled", "canceled", "superseded", "archived", "rejected", "deprecated", "obsolete")
)


class Item:
    """One memory or note about a path."""

    __slots__ = ("name", "title", "path", "date", "says", "match", "known", "scopes", "facets")

    def __init__(
        self,
        name: str,
        title: str,
        path: str,
        date: str,
        says: str,
        match: Match,
        known: float,
        scopes: list[str],
        facets: str = "",
    ) -> None:
        self.name, self.title, self.path, self.date, self.says = name, title, path, date, says
        self.match, self.known, self.scopes, self.facets = match, known, scopes, facets


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import fence

    mark = fence.tag()

    def framed(item: Item, told: str) -> str:
        return fence.frame(
            "about", mark, fence.flat(item.says, 300),
            title=fence.flat(item.title, 200), id=fence.flat(item.name, 120), path=fence.flat(item.path, 300),
            date=fence.flat(item.date, 20), why=fence.flat(item.match.why(), 200),
            facets=item.facets or None, check=fence.flat(told, 300) if told else None,
        )  # fmt: skip

    return page(bridge, caller, arguments, framed)


def page(bridge: Bridge, caller: Caller, arguments: dict[str, Any], write: Callable[[Item, str], str]) -> str:
    """What is known about the paths, in groups; `write` puts one item and what became of its files into words."""
    from vaultbridge import fence
    from vaultcore.memory import anchors

    wanted = anchors.relative(caller.root or "", list(arguments["paths"]))
    groups: dict[str, list[Item]] = {name: [] for name in GROUPS}
    declared = from_memories(bridge, caller, wanted, groups)
    declared += from_notes(bridge, caller, wanted, groups)
    for items in groups.values():
        items.sort(key=lambda i: (i.match.depth, i.date), reverse=True)
    shown = [item for items in groups.values() for item in items[:SHOWN]]
    fates = (
        anchors.fates(caller.root, [(i.name, i.scopes, i.known, i.date) for i in shown])
        if caller.root and shown
        else {}
    )
    total = sum(map(len, groups.values()))
    named = ", ".join(fence.flat(p, 100) for p in wanted[:10])
    reply = [f"{total} about {named}" if total else nothing(named, declared)]
    for name, items in groups.items():
        if not items:
            continue
        reply.append(f"{name}: {len(items)}" + (f", the first {SHOWN} here" if len(items) > SHOWN else ""))
        for item in items[:SHOWN]:
            told = fates[item.name].sentence() if item.name in fates else ""
            reply.append(write(item, told))
    return "\n".join(reply)


def nothing(named: str, declared: int) -> str:
    """The answer when nothing matched: whether anything could have."""
    told = f"The vault knows nothing about {named}. "
    if not declared:
        return told + "No memory or note that reaches you names any file."
    if declared == 1:
        return told + "1 memory or note that reaches you names files, but not these."
    return told + f"{declared} memories and notes that reach you name files, but not these."


def from_memories(bridge: Bridge, caller: Caller, wanted: list[str], groups: dict[str, list[Item]]) -> int:
    """Add the memories about `wanted`; returns how many that reach the caller declare paths at all."""
    from vaultbridge import memories
    from vaultbridge.recollection import facets
    from vaultcore.memory import covering, selection

    store = memories.of(bridge).open()
    reader = memories.reader(caller)
    declared = 0
    for e in selection.select(store, reader).entries:
        r = e.record
        declared += bool(r.paths)
        match = covering.of_memory(r, reader, wanted)
        if match:
            told = " · ".join(facets(e))[:1_500]
            groups["current rules"].append(
                Item(r.key, r.title, r.rel, r.date, r.description or r.body, match, r.known, r.paths, told)
            )
    return declared


def from_notes(bridge: Bridge, caller: Caller, wanted: list[str], groups: dict[str, list[Item]]) -> int:
    """Add the notes that declare paths in the caller's project, as far as the policy lets it read them."""
    import json

    from vaultcore import exposure
    from vaultcore.memory import anchors, covering, record, times

    bridge.refresh()
    query = (
        "select rel, title, description, properties from notes"
        " where kind='note' and gone=0 and private is null and properties like '%\"paths\"%' order by rel"
    )
    rows: list[tuple[str, str, str | None, str]] = bridge.index.ask(lambda c: c.execute(query).fetchall())
    mine = {record.name(p) for p in caller.projects}
    declared = 0
    for rel, title, description, properties in rows:
        values = json.loads(properties)
        scopes = covering.scopes(values)
        if not scopes or not covering.concerns(values, mine, caller.vault):
            continue
        if not exposure.readable(bridge.manifest, bridge.policy, rel).ok:
            continue
        declared += 1
        match = anchors.matching(scopes, wanted)
        if match:
            date = str(values.get("as_of") or values.get("date") or "")[:10]
            known = times.moment(date) or 0.0
            item = Item(rel, title, rel, date, description or "", match, known, scopes)
            groups[group_of(values, rel)].append(item)
    return declared


def group_of(values: dict[str, Any], rel: str) -> str:
    """Which of the groups a note belongs to, by its status, dates and kind."""
    status = str(values.get("status") or "").strip().lower()
    if status in OVER or rel.startswith("work/archive/"):
        return "history"
    if status in ACTIVE:
        return "active plans"
    if values.get("as_of") or values.get("generated"):
        return "dated research"
    return "current rules"
