"""The memories of a bridge's vault, and what a caller may see and write of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultcore.identity import Caller
    from vaultcore.memory.memories import Memories, Writer
    from vaultcore.memory.reach import Reader

    from .bridge import Bridge
    from .search.engine import Hit

PATIENCE = 1.0  # seconds; what is shown is looked at all the same
MOST_HITS = 3  # memories shown by a search, which is about notes


def of(bridge: Bridge) -> Memories:
    """The memories of this vault, one object per process, following the manifest."""
    from vaultcore.memory.memories import Memories, Settings

    manifest = bridge.manifest
    folder, rule = str(manifest.get("memory_root")), str(manifest.get("memory.auto_retire"))
    held = bridge.extras.get("memories")
    if not isinstance(held, Memories) or held.settings.folder != folder:
        held = bridge.extras["memories"] = Memories(bridge.root, Settings(folder, rule))
    held.settings = Settings(folder, rule)
    return held


def reader(caller: Caller) -> Reader:
    """What `caller` may see: the projects of all its roots and their platforms; general memories only when nobody
    knows who calls or the name is contested; everything in the vault's own session."""
    from vaultcore.memory.reach import PERSON, Reader

    if caller.vault and not caller.projects:
        return PERSON
    return Reader(caller.projects, caller.platforms)


def writer(caller: Caller, channel: str = "agent") -> Writer:
    """`caller` as the one who writes."""
    from vaultcore.memory.memories import Writer

    return Writer(caller.name, caller.project or "", caller.projects, reader(caller), channel)


def resolver(bridge: Bridge, caller: Caller) -> Callable[[str], bool]:
    """Whether a link's target exists for `caller`: a note the policy allows, or a memory it is served."""
    memories = of(bridge)
    seen = reader(caller)

    def leads(name: str) -> bool:
        from vaultcore import exposure
        from vaultcore.memory import reach

        if any(reach.sees(r, seen) for r in memories.store.names.find(name)):
            return True
        place = bridge.index.resolver().resolve(name, "")
        if place.rel is None:
            return False
        inside = place.rel.startswith(memories.store.folder + "/")
        if inside:
            r = memories.store.records.get(place.rel)
            return r is not None and reach.sees(r, seen)
        return not place.rel.lower().endswith(".md") or exposure.readable(bridge.manifest, bridge.policy, place.rel).ok

    return leads


def hits(bridge: Bridge, caller: Caller, query: str, include: tuple[str, ...] = ()) -> list[Hit]:
    """The memories that fit `query` best and that `caller` is served, as hits of a search."""
    from vaultcore.memory import record, selection

    from .recollection import STATES
    from .search.engine import Hit

    wanted = tuple(name for name in include if name in selection.INCLUDES)
    found = []
    store = of(bridge).open(PATIENCE)
    best = selection.select(store, reader(caller), wanted, query=query).entries[:MOST_HITS]
    if not all(store.fresh(e.record.rel) for e in best):
        best = selection.select(of(bridge).open(), reader(caller), wanted, query=query).entries[:MOST_HITS]
    for e in best:
        if e.score <= 0:
            break
        hit = Hit(e.record.rel, e.record.title)
        hit.kind, hit.id, hit.score = "memory", e.record.key, e.score
        hit.why = STATES.get(e.state, e.record.confidence)
        if e.by and e.state in ("disputed", "superseded"):
            hit.why += f", the other is {e.by[0].title[:120]!r} ({e.by[0].key})"
        hit.snippet = record.described(record.core(e.record.body), 240)
        found.append(hit)
    return found
