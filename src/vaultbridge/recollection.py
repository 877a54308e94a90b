"""How memories are written out for a model: facets on one safe line, bodies framed as data, bounded, with a cursor."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from . import fence

if TYPE_CHECKING:
    from vaultcore.memory.record import Record
    from vaultcore.memory.selection import Entry, Selection

REPLY = 26_000
BODY = 5_000
ALONE = 20_000
STATES = {
    "superseded": "SUPERSEDED",
    "candidate": "CANDIDATE, nobody has accepted it",
    "rejected": "REJECTED by a person",
    "archived": "ARCHIVED",
    "expired": "EXPIRED",
    "upcoming": "NOT YET IN FORCE",
    "disputed": "DISPUTED",
}


def facets(e: Entry, explain: bool = False) -> list[str]:
    """What a reader must know before it believes the body, each one safe line."""
    r = e.record
    found = []
    mark = STATES.get(e.state)
    if mark:
        rivals = "; ".join(
            f"{fence.flat(b.title, 120)!r} ({fence.flat(b.key, 60)}, {fence.flat(b.date, 10)})" for b in e.by[:5]
        )
        if e.state == "superseded":
            found.append(f"{mark} by {rivals}" if rivals else mark)
        elif e.state == "disputed":
            newer = any(b.order > r.order for b in e.by)
            told = " a newer one says otherwise:" if newer else " an older one says otherwise:"
            found.append(f"{mark},{told} {rivals}" if rivals else mark)
        else:
            found.append(mark)
    if e.gone:
        found.append("its replacement " + ", ".join(repr(fence.flat(g, 80)) for g in e.gone[:3]) + " no longer exists")
    found.append(r.confidence + (f" (claimed {fence.flat(r.claimed_confidence, 20)})" if r.claimed_confidence else ""))
    found.append(reach_of(r))
    if r.date:
        found.append(f"as of {fence.flat(r.date, 20)}")
    if r.valid_from or r.valid_until:
        found.append(f"valid {fence.flat(r.valid_from, 30) or '…'} to {fence.flat(r.valid_until, 30) or '…'}")
    flags = [f for f in r.flags if f in ("generalised", "volatile")]
    found.extend(flags)
    if r.about:
        found.append(f"about {fence.flat(r.about, 120)}")
    if r.paths:
        found.append(
            "paths "
            + ", ".join(fence.flat(p, 80) for p in r.paths[:5])
            + (f" and {len(r.paths) - 5} more" if len(r.paths) > 5 else "")
        )
    if r.origin:
        found.append(f"from {fence.flat(r.origin, 60)}")
    if explain:
        found.append(
            f"why: {e.why}" + (f", score {e.score:.2f}" if 0 < e.score < 1e8 else ", named exactly" if e.score else "")
        )
    return found


def reach_of(r: Record) -> str:
    """Whom it reaches, on one line."""
    if r.scope == "general":
        return "general"
    names = r.platforms if r.scope == "platform" else r.projects
    shown = ", ".join(fence.flat(n, 60) for n in names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    extra = (
        f"; projects: {', '.join(fence.flat(n, 60) for n in r.projects[:6])}"
        if r.scope == "platform" and r.projects
        else ""
    )
    return f"{r.scope}: {shown}{extra}"


def entry(e: Entry, mark: str, body: str, explain: bool, limit: int, extra: list[str] | None = None) -> str:
    """One memory: a frame whose attributes are its name and facets and whose content is its text."""
    shown, left = fence.cut(body, limit)
    if left:
        shown += f"\n[cut: {left} more characters; timeline shows this memory alone]"
    r = e.record
    return fence.frame(
        "memory",
        mark,
        shown,
        title=fence.flat(r.title, 300),
        id=fence.flat(r.key, 120),
        path=fence.flat(r.rel, 300),
        facets=" · ".join([*facets(e, explain), *(extra or [])])[:1_500],
    )


def cursor(position: int, fingerprint: str) -> str:
    """Where the next page starts; `fingerprint` ties it to the question."""
    return base64.urlsafe_b64encode(json.dumps([position, fingerprint]).encode()).decode().rstrip("=")


def position(text: str, fingerprint: str) -> int:
    """The position inside a cursor; a Refusal when it is none, or belongs to another question."""
    from vaultcore.errors import Refusal

    try:
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        at, held = value
        if isinstance(at, int) and 0 <= at < 1_000_000 and held == fingerprint:
            return at
    except (ValueError, TypeError, binascii.Error):
        pass
    raise Refusal(
        "bad-cursor",
        "This cursor belongs to no page of this question.",
        "Ask again with the same arguments, or without cursor.",
    )


def fingerprint(arguments: dict[str, Any]) -> str:
    """A short mark of the question a cursor belongs to."""
    import hashlib

    asked = {k: v for k, v in sorted(arguments.items()) if k not in ("cursor", "limit")}
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:10]


def left_out(found: Selection) -> list[str]:
    """What stands behind the answer and is not shown, by state, with the way to it."""
    lines = []
    ways = {
        "superseded": "history", "archived": "archived", "rejected": "rejected", "candidate": "candidates", "expired": "expired", "upcoming": "expired",
    }  # fmt: skip
    for state, count in sorted(found.left_out.items()):
        lines.append(f'{count} {state} (include ["{ways.get(state, "history")}"])')
    return lines
