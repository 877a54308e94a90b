"""Writing a new memory: the checks that need the others, the retirement of what it replaces, the file."""

from __future__ import annotations

from . import contract, reach, record, selection, similarity, tables, times, updates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .contract import Draft
    from .memories import Memories, Writer
    from .record import Record
    from .store import Store

FORCE_FREE = 2
MOST_MATCHES = 5
MOST_RIVALS = 5
NEAR = 20


class Outcome:
    """What became of a draft. `state` is "recorded", "known" (nothing written), "would" (dry run) or "proposed"."""

    __slots__ = ("state", "record", "rel", "notes", "superseded", "retired", "disputed", "forced")

    def __init__(self, state: str, r: Record | None, rel: str, notes: list[str]) -> None:
        self.state = state
        self.record = r
        self.rel = rel
        self.notes = notes
        self.superseded: list[Record] = []
        self.retired: list[Record] = []
        self.disputed: list[Record] = []
        self.forced = False


def remember(
    memories: Memories,
    arguments: dict[str, object],
    writer: Writer,
    resolves: Callable[[str], bool] | None = None,
    inbox: bool = False,
    trusted: bool = False,
) -> Outcome:
    """Record a memory, durable when this returns, or raise a Refusal (logged; nothing written).

    `inbox` files it as a proposal that nobody has accepted; `trusted` is for imports (contract.check).
    """
    from vaultcore.errors import Refusal

    dry = arguments.get("dry_run") is True
    try:
        draft = contract.check(arguments, writer.origin, writer.projects, resolves, trusted)
        with memories.lock():
            memories.settle()
            return _record(memories, draft, writer, inbox)
    except Refusal as refusal:
        if not dry and refusal.code != "busy":
            about = {k: v for k, v in refusal.details.items() if k in ("rule", "field", "ids")}
            memories.refused(writer, refusal.code, **about)
        raise


def _record(memories: Memories, draft: Draft, writer: Writer, inbox: bool) -> Outcome:
    store = memories.store
    now = times.stamp()
    date = str(draft.facets.get("date") or times.today())
    new = draft.record(recorded_at=now)
    new.origin_name = record.name(writer.origin) if writer.origin else ""
    stone = store.tombstones.match(new)
    if stone is not None:
        known = (
            stone.scope == "general" or writer.reader.everything or not stone.names.isdisjoint(writer.reader.projects)
        )
        why = f" ({stone.reason})" if known and stone.reason else ""
        raise contract.refuse(
            "ruled-out",
            f"A person has ruled this out{why}.",
            "Do not record it again; a person can lift it with `om restore`.",
        )
    named = list({r.rel: r for r in (_target(store, entry, writer) for entry in draft.supersedes)}.values())
    text = similarity.Text(new)
    held, states = _meeting(store, new, text, {r.rel for r in named}, writer)
    for r, other in held:
        if similarity.same(text, other) and not _succeeded_by(store, r, named):
            outcome = _same(r, new, states)
            if outcome:
                return outcome
    replaced = _keyed(memories.settings.auto_retire, new, text, held, states, writer) if not inbox else []
    rivals = _rivals(new, text, held, states, store, {r.rel for r in replaced})
    taken = {r.rel for r in (*replaced, *rivals)}
    matches = _twins(text, held, states, taken)
    forced = False
    if matches and not inbox:
        if not draft.force:
            raise _near(matches, states)
        _allow_force(memories, draft, writer, now)
        forced = True
    outcome = Outcome("recorded", None, "", list(draft.notes))
    outcome.superseded, outcome.retired, outcome.disputed, outcome.forced = named, replaced, rivals, forced
    _write(memories, draft, writer, outcome, new, now, date, inbox)
    return outcome


def _target(store: Store, entry: str, writer: Writer) -> Record:
    """The one memory that a `supersedes` entry means. What the writer cannot see does not exist."""
    states = selection.judged(store, writer.reader, [r.rel for r in store.names.find(entry)])
    found = [store.records[rel] for rel in states]
    live = [r for r in found if states[r.rel] not in ("superseded", "rejected", "archived")]
    shown = record.one_line(entry)[:80]
    if len(live) == 1:
        return live[0]
    if len(live) > 1:
        several = "; ".join(f"{r.key} ({r.rel})" for r in live[:5])
        raise contract.refuse(
            "ambiguous", f"supersedes {shown!r} means {len(live)} memories: {several}.", "Name one by its id."
        )
    if not found:
        raise contract.refuse(
            "unknown-memory",
            f"supersedes {shown!r} names no memory you can see.",
            "recall finds its id; nothing was written.",
        )
    superseded, _ = selection.standing(store, writer.reader)
    newer = superseded.get(found[0].rel)
    if newer:
        raise contract.refuse(
            "superseded-already",
            f"supersedes {shown!r} was itself replaced by {newer[-1].title[:120]!r} ({newer[-1].key}).",
            "Supersede that one instead.",
            ids=[newer[-1].key],
        )
    return found[0]


def _meeting(
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


def _succeeded_by(store: Store, r: Record, named: list[Record]) -> bool:
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


def _same(r: Record, new: Record, states: dict[str, str]) -> Outcome | None:
    state = states[r.rel]
    if state == "superseded":
        raise contract.refuse(
            "replaced-before",
            f"This was recorded as {r.key} and has been replaced since.",
            "If it holds again, pass supersedes with the id of what replaced it.",
            ids=[r.key],
        )
    if state in ("rejected", "archived"):
        raise contract.refuse(
            f"{state}-before",
            f"This was recorded as {r.key} and is {state}.",
            "A person can bring it back with `om restore`.",
            ids=[r.key],
        )
    if state not in ("current", "disputed", "candidate"):
        return None
    if not reach.covers(r, new):
        if not r.project_names & new.project_names and new.scope == "project" and r.scope == "project":
            return None
        raise contract.refuse(
            "reach-differs",
            f"This is recorded as {r.key} for {_reach_of(r)}, and you ask for {_reach_of(new)}.",
            f'If it really reaches further, send it again with supersedes ["{r.key}"].',
            ids=[r.key],
        )
    return Outcome("known", r, r.rel, [])


def _reach_of(r: Record) -> str:
    if r.scope == "general":
        return "everybody"
    return f"{r.scope} {', '.join(r.projects if r.scope == 'project' else r.platforms)}"[:120]


def _keyed(
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


def _rivals(
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


def _twins(
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


def _near(matches: list[similarity.Match], states: dict[str, str]) -> Exception:
    listed = "; ".join(f"{m.score:.0%} {m.record.title[:120]!r} ({m.record.key}, {m.record.rel})" for m in matches)
    best = matches[0].record
    return contract.refuse(
        "near-duplicate",
        f"This says nearly what is recorded already: {listed}.",
        f'To correct or extend it, send it again with supersedes ["{best.key}"]; if it is another lesson, with force true.',
        ids=[m.record.key for m in matches],
    )


def _allow_force(memories: Memories, draft: Draft, writer: Writer, now: str) -> None:
    import time

    since = times.stamp(time.time() - 86_400)
    before = memories.journal.forced(writer.name, since)
    if before >= FORCE_FREE and not draft.force_confirm:
        raise contract.refuse(
            "force-unconfirmed",
            f"force was used {before} times in the last 24 hours.",
            "Look at the matches again; if this really is another lesson, send force and force_confirm both true.",
        )


def _write(
    memories: Memories, draft: Draft, writer: Writer, outcome: Outcome, new: Record, now: str, date: str, inbox: bool
) -> None:
    from vaultcore.write import revision

    replaced = list({r.rel: r for r in (*outcome.superseded, *outcome.retired)}.values())
    facets: dict[str, Any] = {
        "date": date,
        "description": record.described(draft.body),
        "tags": ["memory"],
        "id": record.new_id(),
        "source": "mcp-capture",
        "origin": writer.origin or "unknown",
        "session": now,
        "recorded_at": now,
    }
    facets.update(draft.facets)
    flags = [str(f) for f in facets.get("flags") or []]
    if outcome.disputed:
        flags += [f"disputes {r.key}" for r in outcome.disputed]
        facets["status"] = facets.get("status") or "disputed"
    facets["flags"] = flags
    if inbox:
        facets["status"] = "candidate"
    facets["supersedes"] = [f"{r.key} {record.one_line(r.title)[:80]}" if r.id else r.title for r in replaced]
    slug = record.slug(draft.title)
    if slug != draft.title:
        facets["aliases"] = [draft.title]
    rel = memories.free_name(date, slug, "_inbox" if inbox else "")
    data = record.render(facets, draft.title, draft.body, draft.sections)
    outcome.rel = rel
    made = record.parse(rel, data)
    assert made is not None
    outcome.record = made
    if draft.dry_run:
        outcome.state = "would"
        return
    entry = f"{made.id} {record.one_line(draft.title)[:80]}"
    steps: list[dict[str, Any]] = [{"do": "create", "rel": rel, "text": data.decode()}]
    for r in replaced:
        lasting: dict[str, Any] = {} if reach.foreign_narrowing(r, made) else {"status": "superseded"}
        if lasting and not r.retired_at:
            lasting["retired_at"] = now
        steps.append(
            {
                "do": "edit",
                "as": "supersede",
                "rel": r.rel,
                "id": r.key,
                "set": lasting,
                "append": {"superseded_by": [entry]},
            }
        )
    line = {
        "op": "propose" if inbox else "create",
        "channel": writer.channel,
        "caller": writer.name,
        "path": rel,
        "id": made.id,
        "after": revision(data),
        "forced": outcome.forced or None,
        "unasked": [r.key for r in outcome.retired] or None,
        "disputes": [r.key for r in outcome.disputed] or None,
    }
    memories.perform(steps, {k: v for k, v in line.items() if v is not None})
    outcome.state = "proposed" if inbox else "recorded"
    outcome.record = memories.store.records.get(rel) or memories.store.inbox.get(rel) or made
