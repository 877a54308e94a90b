"""What a reader must know of a memory before it believes it: state, confidence, reach and age, each one safe line."""

from __future__ import annotations

from vaultcore import fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .record import Record
    from .selection import Entry

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
    if e.state == "current" and e.by:
        for new in e.by[:3]:
            by = f"{fence.flat(new.title, 120)!r} ({fence.flat(new.key, 60)})"
            found.append(f"superseded for {names_of(new)} only, by {by}")
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


def names_of(r: Record) -> str:
    """The projects or platforms that it names, on one line."""
    names = r.platforms if r.scope == "platform" else r.projects
    return ", ".join(fence.flat(n, 60) for n in names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def reach_of(r: Record) -> str:
    """Whom it reaches, on one line."""
    if r.scope == "general":
        return "general"
    extra = (
        f"; projects: {', '.join(fence.flat(n, 60) for n in r.projects[:6])}"
        if r.scope == "platform" and r.projects
        else ""
    )
    return f"{r.scope}: {names_of(r)}{extra}"
