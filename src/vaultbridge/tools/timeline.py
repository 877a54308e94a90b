"""`timeline`: what a memory replaced and what replaced it, when, by whom and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import READ, schema, text

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultbridge.recollection import Form
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
    from vaultbridge import recollection

    return page(told(bridge, caller, arguments["id"]), recollection.Framed())


def told(bridge: Bridge, caller: Caller, name: str) -> Chronicle:
    """The chronicle of the memory called `name` as `caller` may know it."""
    from vaultbridge import memories
    from vaultcore.memory import chronicle

    held = memories.of(bridge)
    return chronicle.tell(held.open(), held.journal, memories.reader(caller), name)


def page(found: Chronicle, form: Form) -> str:
    """The memory whole, then its history, in the words of `form`."""
    from vaultbridge import recollection

    subject = next(e for e in found.members if e.record is found.subject)
    return "\n".join([form.entry(subject, subject.record.body, True, recollection.ALONE), *lines(found)])


def lines(found: Chronicle) -> list[str]:
    """The history as one safe line per step, oldest first."""
    from vaultbridge import fence
    from vaultcore.numerals import counted

    rows = [f"History, oldest first: {counted(len(found.members), 'memory', 'memories')}"]
    newer = {old: [new for held, new in found.links if held == old] for old, _ in found.links}
    for e in found.members:
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
    for line in found.events:
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
    if found.hidden:
        rows.append(f"{found.hidden} more of this chain {'does' if found.hidden == 1 else 'do'} not reach you.")
    return rows
