"""`timeline`: what a memory replaced and what replaced it, when, by whom and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import READ, schema, text

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller
    from vaultcore.memory.chronicle import Chronicle

TOOL: dict[str, Any] = {
    "name": "timeline",
    "title": "History of a memory",
    "description": "One memory whole, and its history: what replaced what, when, by whom, why.",
    "inputSchema": schema(["id"], id=text("Id or title from recall")),
    "annotations": READ,
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import fence, memories, recollection
    from vaultcore.memory import chronicle

    held = memories.of(bridge)
    told = chronicle.tell(held.open(), held.journal, memories.reader(caller), arguments["id"])
    mark = fence.tag()
    subject = next(e for e in told.members if e.record is told.subject)
    reply = [recollection.entry(subject, mark, subject.record.body, True, recollection.ALONE)]
    return "\n".join([*reply, *lines(told)])


def lines(told: Chronicle) -> list[str]:
    """The history as one safe line per step, oldest first."""
    from vaultbridge import fence

    rows = [f"History, oldest first: {len(told.members)} {'memory' if len(told.members) == 1 else 'memories'}"]
    newer = {old: [new for held, new in told.links if held == old] for old, _ in told.links}
    for e in told.members:
        r = e.record
        row = f"- {fence.flat(r.date, 10)} {fence.flat(r.key, 60)} {fence.flat(r.title, 160)!r}: {e.state}"
        if newer.get(r.key):
            row += " -> " + ", ".join(fence.flat(k, 60) for k in newer[r.key][:5])
        if r.valid_from or r.valid_until:
            row += f"; valid {fence.flat(r.valid_from, 30) or '…'} to {fence.flat(r.valid_until, 30) or '…'}"
        if r.recorded_at:
            row += f"; known {fence.flat(r.recorded_at, 30)}" + (
                f" to {fence.flat(r.retired_at, 30)}" if r.retired_at else ""
            )
        rows.append(row)
    for line in told.events:
        about = (
            line.get("id") if line["mine"] else ", ".join(str(t.get("id") or t.get("path")) for t in line["touched"])
        )
        unasked = " (unasked: same key)" if line.get("unasked") else ""
        why = f": {fence.flat(line['reason'], 200)}" if line.get("reason") else ""
        who = fence.flat(line.get("caller") or "nobody", 60)
        rows.append(
            f"- {fence.flat(line.get('at', ''), 24)} {fence.flat(line.get('op', ''), 20)} "
            f"{fence.flat(about, 120)} by {who} ({fence.flat(line.get('channel', ''), 12)}){unasked}{why}"
        )
    if told.hidden:
        rows.append(f"{told.hidden} more of this chain do not reach you.")
    return rows
