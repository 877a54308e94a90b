"""The history of one memory: what replaced what, when, by whom, why."""

from __future__ import annotations

from . import reach, selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .journal import Journal
    from .reach import Reader
    from .record import Record
    from .store import Store

MOST = 60


class Chronicle:
    """`members` oldest first with their states; `links` (old key, new key); `events` of the log; `hidden` counts
    memories of the chain that the reader may not see."""

    __slots__ = ("members", "links", "events", "hidden", "subject")

    def __init__(self, subject: Record) -> None:
        self.subject = subject
        self.members: list[selection.Entry] = []
        self.links: list[tuple[str, str]] = []
        self.events: list[dict[str, Any]] = []
        self.hidden = 0


def tell(store: Store, journal: Journal, reader: Reader, name: str) -> Chronicle:
    """The chronicle of the memory called `name` (id, title or path) as `reader` may know it; a Refusal when it sees
    none of that name."""
    with store.lock:
        chronicle = _gather(store, reader, name)
    chronicle.events = events(journal, {e.record.key: e.record.rel for e in chronicle.members})
    return chronicle


def _gather(store: Store, reader: Reader, name: str) -> Chronicle:
    from vaultcore.errors import Refusal

    entries = selection.select(store, reader, include=selection.INCLUDES).entries
    served = {e.record.rel: e for e in entries}
    found = [r for r in (store.names.find(name.strip()) or _by_path(store, name)) if r.rel in served]
    shown = " ".join(name.split())[:80]
    if not found:
        raise Refusal("unknown-memory", f"{shown!r} names no memory you can see.", "recall finds its id.")
    if len(found) > 1:
        live = [r for r in found if served[r.rel].state in selection.LIVE]
        if len(live) != 1 and not any(r.key == name.strip() for r in found):
            several = "; ".join(f"{r.key} ({r.date})" for r in sorted(found, key=lambda r: r.order)[:8])
            raise Refusal("ambiguous", f"{len(found)} memories are called {shown!r}: {several}.", "Give one id.")
        found = live if len(live) == 1 else found
    chronicle = Chronicle(found[0])
    edges = store.edges
    seen = {found[0].rel}
    queue = [found[0]]
    while queue:
        r = queue.pop()
        near = [new for new, _ in edges.by.get(r.rel, ()) if new is not None] + list(edges.of.get(r.rel, ()))
        for other in near:
            if other.rel in seen:
                continue
            seen.add(other.rel)
            if other.rel in served and reach.sees(other, reader):
                queue.append(other)
            else:
                chronicle.hidden += 1
    members = [served[rel] for rel in seen if rel in served]
    chronicle.members = sorted(members, key=lambda e: e.record.order)[-MOST:]
    keys = {e.record.key for e in chronicle.members}
    for e in chronicle.members:
        for new, _ in edges.by.get(e.record.rel, ()):
            if new is not None and new.key in keys:
                chronicle.links.append((e.record.key, new.key))
    return chronicle


def _by_path(store: Store, name: str) -> list[Record]:
    r = store.records.get(name.strip())
    return [r] if r else []


def events(journal: Journal, members: dict[str, str]) -> list[dict[str, Any]]:
    """What the logs say about these memories (key -> path), oldest first, at most MOST lines, without other ids."""
    paths = set(members.values())
    told = []
    for line in journal.mentioning([*members, *paths]):
        mine = line.get("id") in members or line.get("path") in paths
        touched = [
            t
            for t in line.get("touched") or []
            if isinstance(t, dict) and (t.get("id") in members or t.get("path") in paths)
        ]
        if line.get("op") != "refuse" and (mine or touched):
            told.append({**line, "touched": touched, "mine": mine})
    return told[-MOST:]
