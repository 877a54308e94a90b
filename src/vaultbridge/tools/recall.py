"""`recall`: the memories that reach the caller, current ones first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import READ, flag, schema, text, whole

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultbridge.recollection import Form
    from vaultcore.identity import Caller

INCLUDES = ["history", "candidates", "rejected", "archived", "expired"]

TOOL: dict[str, Any] = {
    "name": "recall",
    "title": "Recall memories",
    "description": (
        "Lessons that reach this project: project before platform before general, newest first; a query reorders, it "
        "drops none. Only what holds now. DISPUTED means two contradict each other: both come back, check before "
        "relying."
    ),
    "inputSchema": schema(
        [],
        query=text("Words, a title or an id", 2_000),
        limit=whole("Memories per page", 1, 50, 10),
        explain=flag("Say why each came and how many are withheld"),
        include={
            "type": "array",
            "items": {"type": "string", "enum": INCLUDES},
            "maxItems": 5,
            "description": "Also what no longer holds, marked",
        },
        as_of=text("What was true then: date or time", 40),
        known_at=text("What the vault knew then", 40),
        cursor=text("From the last page", 200),
    ),
    "annotations": READ,
    "_meta": {"anthropic/maxResultSizeChars": 60_000},
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import recollection

    return page(bridge, caller, arguments, recollection.Framed())


def page(bridge: Bridge, caller: Caller, arguments: dict[str, Any], form: Form) -> str:
    """The memories asked for, and what is not shown, in the words of `form`."""
    from vaultbridge import memories, recollection
    from vaultcore.memory import selection
    from vaultcore.numerals import counted

    store = memories.of(bridge).open()
    query = str(arguments.get("query") or "")
    include = tuple(arguments.get("include") or ())
    explain = bool(arguments.get("explain"))
    limit = int(arguments.get("limit") or 10)
    fingerprint = recollection.fingerprint(arguments)
    start = recollection.position(arguments["cursor"], fingerprint) if arguments.get("cursor") else 0
    found = selection.select(
        store, memories.reader(caller), include, moment(arguments, "as_of"), moment(arguments, "known_at", True), query
    )
    entries = found.entries
    reply: list[str] = []
    blocks: dict[str, str] = {}
    used = 0
    shown = 0
    for e in entries[start : start + limit]:
        body, extra = text_of(bridge, e, blocks)
        most = recollection.ALONE if e.score >= 1e8 and not shown else recollection.BODY
        piece = form.entry(e, body, explain, most, extra)
        if shown and used + len(piece) > recollection.REPLY:
            break
        reply.append(piece)
        used += len(piece)
        shown += 1
    head = headline(caller, len(entries), start, shown, query) + (f" {form.warning}" if shown and form.warning else "")
    foot = []
    left = len(entries) - start - shown
    if left > 0:
        foot.append(f"{left} more, continue with {form.cursor} {recollection.cursor(start + shown, fingerprint)}")
    hidden = recollection.left_out(found, form.include)
    if hidden:
        foot.append("Not shown: " + ", ".join(hidden) + ".")
    withheld = sum(found.withheld.values())
    if explain and withheld:
        why = ", ".join(f"{n} by {reason}" for reason, n in sorted(found.withheld.items()) if n)
        foot.append(f"Withheld: {why}.")
    if store.problems and (caller.vault or explain):
        need = counted(len(store.problems), f"file under {store.folder}/ needs", f"files under {store.folder}/ need")
        foot.append(f"{need} repair: `om doctor` names them.")
    return "\n".join([head, *reply, *foot])


def moment(arguments: dict[str, Any], name: str, end_of_day: bool = False) -> float | None:
    """An argument as seconds; a Refusal when it is no date."""
    from vaultbridge.fence import flat
    from vaultcore.errors import Refusal
    from vaultcore.memory import times

    value = arguments.get(name)
    if not value:
        return None
    found = times.moment(value, end_of_day)
    if found is None:
        raise Refusal(
            "bad-date", f"{name} {flat(value, 40)!r} is no date.", "Write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ."
        )
    return found


def text_of(bridge: Bridge, e: Any, cache: dict[str, str]) -> tuple[str, list[str]]:
    """The text to serve for a memory, and a facet that says so when it is a note's corrected block instead."""
    from vaultbridge import memories
    from vaultbridge.fence import flat
    from vaultcore.memory import promotion

    r = e.record
    if r.promoted is None:
        return r.body, []

    def find(name: str) -> str | None:
        found: str | None = bridge.index.resolver().resolve(name, "").rel
        return found

    served = promotion.serve(
        r.promoted, bridge.manifest, bridge.policy, find, memories.of(bridge).store.tombstones, cache
    )
    return (r.body if served.text is None else served.text), [flat(served.label, 300)]


def headline(caller: Caller, total: int, start: int, shown: int, query: str) -> str:
    """What this page is; an empty one says why, and never that there is nothing when there is."""
    from vaultbridge.fence import flat

    who = (
        "the vault"
        if caller.vault
        else f"project {flat(caller.project, 60)}"
        if caller.project
        else "an unidentified caller"
    )
    if not total:
        rest = (
            ""
            if caller.project or caller.vault
            else " Only general ones reach it: health says why nobody knows who calls."
        )
        return f"No memory reaches {who}.{rest}"
    if start >= total:
        return f"That was all: {total} {'memory reaches' if total == 1 else 'memories reach'} {who}."
    span = f"{start + 1}-{start + shown} of {total}" if start or shown < total else f"{total}"
    ordered = ", best match first" if query.strip() else ""
    return f"{span} {'memory' if total == 1 else 'memories'} for {who}{ordered}."
