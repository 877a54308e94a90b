"""What one reader is served, in which state, and in which order."""

from __future__ import annotations

import time

from . import lexicon, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .reach import Reader
    from .record import Record
    from .store import Store

INCLUDES = ("history", "candidates", "rejected", "archived", "expired")
STATE_OF = {
    "history": ("superseded", "archived", "expired"),
    "candidates": ("candidate",),
    "rejected": ("rejected",),
    "archived": ("archived",),
    "expired": ("expired", "upcoming"),
}


class Entry:
    """A memory as one reader sees it. `state` is one of record.STATUSES, "expired" or "upcoming"; `by` are the
    replacements or rivals that stand beside it; `gone` names replacements that no longer exist."""

    __slots__ = ("record", "state", "by", "gone", "score", "why")

    def __init__(self, r: Record, state: str, by: list[Record], gone: list[str], why: str) -> None:
        self.record = r
        self.state = state
        self.by = by
        self.gone = gone
        self.score = 0.0
        self.why = why


class Selection:
    """`entries` in order; `left_out` counts visible ones by state; `withheld` counts what `reader` may not see, by reason."""

    __slots__ = ("entries", "left_out", "withheld", "reasons")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.left_out: dict[str, int] = {}
        self.withheld: dict[str, int] = {}
        self.reasons: list[str] = []


def rivals(store: Store, visible: dict[str, Record]) -> dict[str, list[Record]]:
    """Who disputes whom among `visible`: the newer one names the older in its flags, both are marked."""
    found: dict[str, list[Record]] = {}
    for r in visible.values():
        for flag in r.flags:
            if flag.startswith("disputes "):
                for other in store.names.find(flag[9:]):
                    if other.rel in visible and other is not r:
                        found.setdefault(r.rel, []).append(other)
                        found.setdefault(other.rel, []).append(r)
    return found


def state_of(store: Store, r: Record, at: float, known_at: float | None) -> str:
    """The state of `r` by itself, before supersession and disputes."""
    past = known_at is not None and r.retired > known_at
    if store.ruled_out(r):
        return "rejected"
    if r.declared in ("candidate", "rejected", "archived") and not past:
        return r.declared
    if store.doubtful(r):
        return "candidate"
    if r.declared == "superseded" and not r.superseded_by and not past:
        return "superseded"
    if at >= r.valid[1]:
        return "expired"
    return "upcoming" if at < r.valid[0] else "current"


def select(
    store: Store,
    reader: Reader,
    include: tuple[str, ...] = (),
    as_of: float | None = None,
    known_at: float | None = None,
    query: str = "",
) -> Selection:
    """Every memory that `reader` is served, live before superseded, narrower before wider, newer before older.

    A query reorders inside the live and the superseded group: it drops nothing, and nothing superseded rises over
    its replacement. `as_of` asks for what was true then, `known_at` for what the vault knew then (both seconds).
    """
    now = time.time()
    at = now if as_of is None else as_of
    found = Selection()
    visible: dict[str, Record] = {}
    for rel, r in store.records.items():
        if known_at is not None and r.known > known_at:
            continue
        if reach.sees(r, reader):
            visible[rel] = r
        else:
            found.withheld["scope"] = found.withheld.get("scope", 0) + 1
    states = {rel: state_of(store, r, at, known_at) for rel, r in visible.items()}
    superseded, withheld = reach.replaced(visible.values(), store.edges, reader, known_at)
    if reader.everything:
        superseded.update({rel: [] for rel in withheld})
    else:
        found.withheld["replacement out of reach"] = len(withheld)
        for rel in withheld:
            del visible[rel]
    live = {rel: r for rel, r in visible.items() if states[rel] == "current" and rel not in superseded}
    disputes = rivals(store, live)
    wanted = {state for name in include for state in STATE_OF.get(name, ())}
    for rel, r in visible.items():
        state = states[rel]
        by = superseded.get(rel, [])
        if state in ("current", "expired", "upcoming") and rel in superseded:
            state = "superseded"
        elif rel in disputes:
            state, by = "disputed", disputes[rel]
        elif state == "current" and r.declared == "disputed":
            state = "disputed"
        if state in ("current", "disputed") or state in wanted:
            gone = [entry for new, entry in store.edges.by.get(rel, ()) if new is None]
            found.entries.append(Entry(r, state, by, gone, _why(r, reader)))
        else:
            found.left_out[state] = found.left_out.get(state, 0) + 1
    _order(store, found.entries, reader, query)
    return found


def _why(r: Record, reader: Reader) -> str:
    if reader.everything and not reader.projects:
        return "a person sees everything"
    level = reach.specificity(r, reader)
    if level > 50:
        return "names this project"
    return {50: "names this platform", 10: "general"}.get(level, "the vault's own session")


def _order(store: Store, entries: list[Entry], reader: Reader, query: str) -> None:
    entries.sort(key=lambda e: e.record.order, reverse=True)
    if query.strip():
        scores = store.lexicon.scores(query)
        for e in entries:
            e.score = 1e9 if lexicon.exact(e.record, query) else round(scores.get(e.record.rel, 0.0), 4)
        entries.sort(key=lambda e: (e.state not in ("current", "disputed"), -e.score, -_level(e, reader)))
    else:
        entries.sort(key=lambda e: (e.state not in ("current", "disputed"), -_level(e, reader)))
    _newer_rival_first(entries)


def _level(e: Entry, reader: Reader) -> int:
    return reach.specificity(e.record, reader)


def _newer_rival_first(entries: list[Entry]) -> None:
    """Of two that dispute each other the newer stands first, at the better of their two places."""
    if not any(e.state == "disputed" for e in entries):
        return
    held = {e.record.rel: e for e in entries}
    placed: set[str] = set()
    ordered: list[Entry] = []
    for e in entries:
        if e.state == "disputed":
            newer = [r for r in e.by if r.order > e.record.order and r.rel in held and r.rel not in placed]
            for r in sorted(newer, key=lambda r: r.order, reverse=True):
                placed.add(r.rel)
                ordered.append(held[r.rel])
        if e.record.rel not in placed:
            placed.add(e.record.rel)
            ordered.append(e)
    entries[:] = ordered
