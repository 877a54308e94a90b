"""What a new memory is compared with, and what the comparison says: twins, rivals, what an identical key retires."""

from __future__ import annotations

from . import reach, selection, similarity, tables, updates
from .declarations import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memories import Writer
    from .record import Record
    from .store import Store

NEAR = 20


MOST_MATCHES = 5
MOST_RIVALS = 5


def meeting(
    store: Store, new: Record, text: similarity.Text, named: set[str], writer: Writer
) -> tuple[list[tuple[Record, similarity.Text]], dict[str, str]]:
    """The memories to compare with, and their states: nearest by words, of the same title, about the same key, of the
    same body, or opening alike; only what the writer is served and what shares a reader with the new one."""
    wanted: dict[str, None] = {}
    for rel in store.lexicon.nearest(f"{new.title}\n{new.body[:4_000]}", NEAR):
        wanted[rel] = None
    for r in store.names.by_name.get(new.flat_title, ()):
        wanted[r.rel] = None
    held = store.tables
    for rels in (held.opening(text.claims), held.about(new.about) if new.about else (), held.body(text.body)):
        for rel in sorted(rels):
            wanted[rel] = None
    states = selection.judged(store, writer.reader, [rel for rel in wanted if rel not in named])
    records = [store.records[rel] for rel in states]
    return [(r, store.text(r)) for r in records if reach.overlap(r, new)], states


def keyed(
    rule: str,
    new: Record,
    text: similarity.Text,
    held: list[tuple[Record, similarity.Text]],
    states: dict[str, str],
    writer: Writer,
) -> list[Record]:
    """What an identical declared key retires unasked: the same `about`, or the same title and reach, from the same
    project. With the rule "sentence" also what the sentence itself replaces."""
    if rule == "off" or not new.origin_name:
        return []
    found = []
    for r, other in held:
        if states[r.rel] not in ("current", "disputed") or r.origin_name != new.origin_name or r.source == "hand-filed":
            continue
        if r.scope != new.scope or r.project_names != new.project_names or r.platform_names != new.platform_names:
            continue
        if r.valid[1] <= new.valid[0] or new.valid[1] <= r.valid[0]:
            continue  # true at different times: neither replaces the other
        if new.about and r.about:
            if tables.key(r.about) == tables.key(new.about):
                found.append(r)
            continue
        if new.flat_title == r.flat_title or (
            rule == "sentence" and any(updates.same_slot(a, b) for a in other.claims for b in text.claims)
        ):
            found.append(r)
    return found


def rivals(
    new: Record,
    text: similarity.Text,
    held: list[tuple[Record, similarity.Text]],
    states: dict[str, str],
    store: Store,
    replaced: set[str],
) -> list[Record]:
    """What the new one seems to contradict or to update without saying so."""
    found = []
    cue = any(updates.has_cue(c) for c in text.claims)
    for r, other in held:
        if states[r.rel] not in ("current", "disputed") or r.rel in replaced:
            continue
        if similarity.same(text, other) or similarity.compare(text, other)[1] == "evasive":
            continue
        if (
            (new.about and r.about and tables.key(new.about) == tables.key(r.about))
            or any(updates.same_slot(a, b) or updates.opposed(a, b) for a in other.claims for b in text.claims)
            or (cue and updates.reversal(r.title, text.claims, store.tables.distinctive(r)))
        ):
            found.append(r)
    found.sort(key=lambda r: r.order, reverse=True)
    return found[:MOST_RIVALS]


def twins(
    text: similarity.Text, held: list[tuple[Record, similarity.Text]], states: dict[str, str], taken: set[str]
) -> list[similarity.Match]:
    found = []
    for r, other in held:
        if states[r.rel] not in ("current", "disputed", "candidate") or r.rel in taken:
            continue
        score, kind = similarity.compare(text, other)
        if score >= similarity.DUPLICATE:
            found.append(similarity.Match(r, score, kind))
    found.sort(key=lambda m: (-m.score, m.record.rel))
    return found[:MOST_MATCHES]


def near(matches: list[similarity.Match], states: dict[str, str]) -> Exception:
    listed = "; ".join(f"{m.score:.0%} {m.record.title[:120]!r} ({m.record.key}, {m.record.rel})" for m in matches)
    best = matches[0].record
    return refuse(
        "near-duplicate",
        f"This says nearly what is recorded already: {listed}.",
        f'To correct or extend it, send it again with supersedes ["{best.key}"]; '
        "if it is another lesson, with force true.",
        ids=[m.record.key for m in matches],
    )


def succeeded_by(store: Store, r: Record, named: list[Record]) -> bool:
    """Whether one of `named` replaced `r`, directly or through others: superseding it brings `r`'s claim back."""
    wanted = {n.rel for n in named}
    seen: set[str] = set()
    queue = [r.rel]
    while wanted and queue:
        for new, _ in store.edges.by.get(queue.pop(), ()):
            if new is not None and new.rel not in seen:
                if new.rel in wanted:
                    return True
                seen.add(new.rel)
                queue.append(new.rel)
    return False


def reach_of(r: Record) -> str:
    if r.scope == "general":
        return "everybody"
    return f"{r.scope} {', '.join(r.projects if r.scope == 'project' else r.platforms)}"[:120]
