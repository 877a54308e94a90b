"""What one reader is served, in which state, and in which order."""

from __future__ import annotations

import time

from . import forms, reach, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .reach import Reader
    from .record import Record
    from .store import Store

EXACT = 1e9
LIVE = ("current", "disputed")
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
    """`entries` in order; `left_out` counts visible ones by state, `withheld` what is hidden, by reason."""

    __slots__ = ("entries", "left_out", "withheld", "places")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.left_out: dict[str, int] = {}
        self.withheld: dict[str, int] = {}
        self.places: dict[str, int] | None = None


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
    for r, other in store.marks.pairs(store, "conflict"):
        if r.rel in visible and other.rel in visible and other not in found.get(r.rel, ()):
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


def standing(store: Store, reader: Reader, known_at: float | None = None) -> tuple[dict[str, list[Record]], set[str]]:
    """Among what `reader` sees: who is superseded by what it is served, and who is withheld with its replacement."""
    edges = store.edges
    linked = {rel for pair in (edges.by, edges.of) for rel in pair}
    records = [store.records[rel] for rel in linked]
    visible = [r for r in records if reach.sees(r, reader) and not (known_at is not None and r.known > known_at)]
    superseded, withheld = reach.replaced(visible, edges, reader, known_at)
    if reader.everything:
        superseded.update({rel: [] for rel in withheld})
        withheld = set()
        superseded = {rel: new for rel, new in superseded.items() if not elsewhere(store.records[rel], new)}
    return superseded, withheld


def elsewhere(r: Record, replacements: list[Record]) -> bool:
    """Whether `r` still holds beyond what replaced it: each replacement comes from another project and is narrower."""
    return bool(replacements) and all(reach.foreign_narrowing(r, new) for new in replacements)


def _narrowed(store: Store, r: Record, visible: dict[str, Record]) -> list[Record]:
    """What took the place of `r` for some of its readers, to mark it for one who sees both."""
    here = [new for new in store.edges.effective(r) if new.rel in visible]
    return here if elsewhere(r, here) else []


def judged(store: Store, reader: Reader, rels: Iterable[str]) -> dict[str, str]:
    """The state of each of `rels` as `reader` is served it now; what it is not served is left out."""
    now = time.time()
    superseded, withheld = standing(store, reader)
    found: dict[str, str] = {}
    for rel in rels:
        r = store.records.get(rel)
        if r is not None and rel not in withheld and reach.sees(r, reader):
            state = state_of(store, r, now, None)
            found[rel] = "superseded" if rel in superseded and state in ("current", "expired", "upcoming") else state
    return found


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
    with store.lock:
        now = time.time()
        stones = store.tombstones.generation
        asked = (reader.mark, tuple(sorted(include)), as_of, known_at, stones, store.marks.generation)
        held = store.kept.get(asked)
        if not (isinstance(held, tuple) and held[0] > now):
            if len(store.kept) > 8:
                store.kept.clear()
            held = store.kept[asked] = _gather(store, reader, include, now if as_of is None else as_of, known_at)
        base: Selection = held[1]
        found = Selection()
        found.left_out, found.withheld = base.left_out, base.withheld
        found.entries = base.entries
        if query.strip():
            found.entries = _by_query(store, base, query)
        return found


def _gather(
    store: Store, reader: Reader, include: tuple[str, ...], at: float, known_at: float | None
) -> tuple[float, Selection]:
    """The selection without a query, in order, and the moment until which it holds."""
    found = Selection()
    until = times.NEVER
    visible: dict[str, Record] = {}
    states: dict[str, str] = {}
    hidden = 0
    for rel, r in store.records.items():
        if known_at is not None and r.known > known_at:
            continue
        if reach.sees(r, reader):
            visible[rel] = r
            states[rel] = state_of(store, r, at, known_at)
            for bound in r.valid:
                if at < bound < until:
                    until = bound
        else:
            hidden += 1
    superseded, withheld = standing(store, reader, known_at)
    found.withheld = {"scope": hidden, "a replacement out of reach": len(withheld)}
    for rel in withheld:
        visible.pop(rel, None)
    live = {rel: r for rel, r in visible.items() if states[rel] == "current" and rel not in superseded}
    disputes = rivals(store, live)
    wanted = {state for name in include for state in STATE_OF.get(name, ())}
    edges = store.edges
    for rel, r in visible.items():
        state = states[rel]
        by = superseded.get(rel, [])
        if state in ("current", "expired", "upcoming") and rel in superseded:
            state = "superseded"
        elif rel in disputes:
            state, by = "disputed", disputes[rel]
        elif state == "current" and r.declared == "disputed":
            state = "disputed"
        elif state == "current" and reader.everything and rel in edges.by:
            by = _narrowed(store, r, visible)
        if state in ("current", "disputed") or state in wanted:
            gone = [entry for new, entry in edges.by.get(rel, ()) if new is None]
            found.entries.append(Entry(r, state, by, gone, _why(r, reader)))
        else:
            found.left_out[state] = found.left_out.get(state, 0) + 1
    found.entries.sort(key=lambda e: e.record.order, reverse=True)
    found.entries.sort(key=lambda e: (e.state not in LIVE, -reach.specificity(e.record, reader)))
    _newer_rival_first(found.entries)
    return until, found


def _why(r: Record, reader: Reader) -> str:
    if reader.everything and not reader.projects:
        return "a person sees everything"
    level = reach.specificity(r, reader)
    if level > 50:
        return "names this project"
    return {50: "names this platform", 10: "general"}.get(level, "the vault's own session")


def _by_query(store: Store, base: Selection, query: str) -> list[Entry]:
    """The same entries, best match first inside the live and the other group."""
    if base.places is None:
        base.places = {e.record.rel: i for i, e in enumerate(base.entries)}
    places, entries = base.places, base.entries
    scores = store.lexicon.scores(query)
    key, form = query.strip(), forms.title(query)
    for r in store.names.find(key) or store.names.by_name.get(form, []):
        scores[r.rel] = EXACT
    hits = sorted(((-round(score, 4), places[rel]) for rel, score in scores.items() if rel in places))
    best: list[Entry] = []
    for score, i in hits:
        e = entries[i]
        found = Entry(e.record, e.state, e.by, e.gone, e.why)
        found.score = -score
        best.append(found)
    matched = {i for _, i in hits}
    rest = [e for i, e in enumerate(entries) if i not in matched]
    ordered = [e for e in best if e.state in LIVE] + [e for e in rest if e.state in LIVE]
    ordered += [e for e in best if e.state not in LIVE] + [e for e in rest if e.state not in LIVE]
    _newer_rival_first(ordered)
    return ordered


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
