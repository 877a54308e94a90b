"""Which note somebody means: a path, a title, an alias, an id, a wikilink or a vault:// address.

Only notes that the policy allows can be found; one that is withheld and one that does not exist get the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller
    from vaultcore.memory.record import Record

ADDRESS = "vault://note/"


class Found:
    """A note, and the part of it that the name itself asked for."""

    __slots__ = ("rel", "heading", "block")

    def __init__(self, rel: str, heading: str | None = None, block: str | None = None) -> None:
        self.rel = rel
        self.heading = heading
        self.block = block


def find(bridge: Bridge, name: str, caller: Caller | None = None) -> Found:
    """The note called `name`; Refusal `no-such-note` or, with the candidates' paths, `ambiguous`. One that names a
    memory which reaches `caller` says so."""
    from vaultbridge.fence import flat
    from vaultcore import exposure
    from vaultcore.errors import Refusal

    wanted = bare(name)
    policy, manifest = bridge.policy, bridge.manifest
    for rel, heading, block in spellings(wanted):
        decision = exposure.readable(manifest, policy, rel)
        if decision.ok and decision.rel:
            return Found(decision.rel, heading, block)
    bridge.refresh()
    for part, heading, block in spellings(wanted, paths=False):
        rels = [rel for rel in bridge.index.named(part) if exposure.readable(manifest, policy, rel).ok]
        if len(rels) == 1:
            return Found(rels[0], heading, block)
        if rels:
            shown = ", ".join(flat(rel, 120) for rel in rels[:10])
            raise Refusal("ambiguous", f"{len(rels)} notes are called {flat(part, 120)!r}", f"give one path: {shown}")
    held = memory(bridge, caller, wanted) if caller else None
    if held is not None:
        raise Refusal(
            "is-a-memory",
            f"{flat(wanted, 160)!r} is a memory, no note",
            f"`timeline` {flat(held.key, 60)} shows it whole, `recall` what reaches you",
        )
    raise Refusal(
        "no-such-note",
        f"no note {flat(wanted, 160)!r} that you may read",
        suggestion(bridge, wanted),
        {"name": wanted[:300]},
    )


def memory(bridge: Bridge, caller: Caller, name: str) -> Record | None:
    """The memory that `name` (id, path, file name or title) means to `caller`, None when it is served none of it."""
    from vaultbridge import memories
    from vaultcore.memory import selection

    store = memories.of(bridge).open()
    with store.lock:
        at = next((rel for rel in (name, name + ".md") if rel in store.records), None)
        named = [store.records[at]] if at else store.names.find(name)
        states = selection.judged(store, memories.reader(caller), [r.rel for r in named])
        return next((r for r in named if r.rel in states), None)


def bare(name: str) -> str:
    """A name without the wrapping of links and addresses."""
    from urllib.parse import unquote

    name = name.strip()
    if name.startswith(ADDRESS):
        return unquote(name[len(ADDRESS) :].partition("?")[0])
    if name.startswith(("[[", "![[")) and name.endswith("]]"):
        name = name[name.index("[[") + 2 : -2].partition("|")[0]
    return name.strip()


def spellings(name: str, paths: bool = True) -> list[tuple[str, str | None, str | None]]:
    """Every way to read `name` as note plus heading or block, the longest note name first."""
    found: list[tuple[str, str | None, str | None]] = []
    at = len(name)
    while at >= 0:
        note, rest = name[:at], name[at + 1 :]
        if note:
            heading = rest if rest and not rest.startswith("^") else None
            block = rest[1:] if rest.startswith("^") else None
            found.append((note, heading, block))
            if paths and not note.lower().endswith(".md"):
                found.append((note + ".md", heading, block))
        at = name.rfind("#", 0, at)
    return found


def suggestion(bridge: Bridge, name: str) -> str:
    """What to do next about a name that led nowhere, with near names where there are some."""
    from vaultbridge.fence import flat
    from vaultcore import exposure

    manifest, policy = bridge.manifest, bridge.policy
    near = [rel for rel in bridge.index.similar(name, 6) if exposure.readable(manifest, policy, rel).ok][:3]
    if near:
        return "did you mean " + ", ".join(flat(rel, 120) for rel in near) + "? Otherwise `search` for it"
    return "`search` for it"
