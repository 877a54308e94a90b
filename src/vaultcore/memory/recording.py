"""Writing a new memory: the checks that need the others, the retirement of what it replaces, the file."""

from __future__ import annotations

from . import comparison, contract, reach, record, review, selection, similarity, times
from .declarations import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .contract import Draft
    from .memories import Memories, Writer
    from .record import Record
    from .store import Store

FORCE_FREE = 2


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
        draft = contract.check(arguments, writer.origin, writer.projects, resolves, trusted, writer.reader.everything)
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
    with store.lock:  # other threads of this process read and refresh it
        outcome = _weigh(memories, draft, writer, new, now, inbox)
    if outcome.state == "known":
        return outcome
    _write(memories, draft, writer, outcome, new, now, date, inbox)
    return outcome


def _weigh(memories: Memories, draft: Draft, writer: Writer, new: Record, now: str, inbox: bool) -> Outcome:
    """What the others make of a draft: known already, ruled out, a twin, or to be recorded with what it replaces."""
    store = memories.store
    stone = store.tombstones.match(new)
    if stone is not None:
        known = (
            stone.scope == "general" or writer.reader.everything or not stone.names.isdisjoint(writer.reader.projects)
        )
        why = f" ({stone.reason})" if known and stone.reason else ""
        raise refuse(
            "ruled-out",
            f"A person has ruled this out{why}.",
            "Do not record it again; a person can lift it with `om restore`.",
        )
    named = list({r.rel: r for r in (_target(store, entry, writer) for entry in draft.supersedes)}.values())
    text = similarity.Text(new)
    held, states = comparison.meeting(store, new, text, {r.rel for r in named}, writer)
    for r, other in held:
        if similarity.same(text, other) and not comparison.succeeded_by(store, r, named):
            known_here = _same(r, new, states)
            if known_here:
                return known_here
    keyed = comparison.keyed(memories.settings.auto_retire, new, text, held, states, writer) if not inbox else []
    # hearsay does not put away what somebody saw: both stay, marked
    stronger = [r for r in keyed if weaker(new, r)]
    replaced = [r for r in keyed if r not in stronger]
    rivals = comparison.rivals(new, text, held, states, store, {r.rel for r in keyed})
    rivals = (stronger + rivals)[: comparison.MOST_RIVALS]
    if rivals:
        settled = review.settled_pairs(memories.root)
        rivals = [r for r in rivals if review.key_of("conflict", [new, r]) not in settled]
    taken = {r.rel for r in (*replaced, *rivals)}
    matches = comparison.twins(text, held, states, taken)
    forced = False
    if matches and not inbox:
        if not draft.force:
            raise comparison.near(matches, states)
        _allow_force(memories, draft, writer, now)
        forced = True
    outcome = Outcome("recorded", None, "", list(draft.notes))
    outcome.superseded, outcome.retired, outcome.disputed, outcome.forced = named, replaced, rivals, forced
    return outcome


def weaker(new: Record, old: Record) -> bool:
    """Whether `new` is known less well than `old`."""
    return record.CONFIDENCE.index(new.confidence) > record.CONFIDENCE.index(old.confidence)


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
        raise refuse("ambiguous", f"supersedes {shown!r} means {len(live)} memories: {several}.", "Name one by its id.")
    if not found:
        raise refuse(
            "unknown-memory",
            f"supersedes {shown!r} names no memory you can see.",
            "recall finds its id; nothing was written.",
        )
    superseded, _ = selection.standing(store, writer.reader)
    newer = superseded.get(found[0].rel)
    if newer:
        raise refuse(
            "superseded-already",
            f"supersedes {shown!r} was itself replaced by {newer[-1].title[:120]!r} ({newer[-1].key}).",
            "Supersede that one instead.",
            ids=[newer[-1].key],
        )
    return found[0]


def _same(r: Record, new: Record, states: dict[str, str]) -> Outcome | None:
    state = states[r.rel]
    if state == "superseded":
        raise refuse(
            "replaced-before",
            f"This was recorded as {r.key} and has been replaced since.",
            "If it holds again, pass supersedes with the id of what replaced it.",
            ids=[r.key],
        )
    if state in ("rejected", "archived"):
        raise refuse(
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
        raise refuse(
            "reach-differs",
            f"This is recorded as {r.key} for {comparison.reach_of(r)}, and you ask for {comparison.reach_of(new)}.",
            f'If it really reaches further, send it again with supersedes ["{r.key}"].',
            ids=[r.key],
        )
    return Outcome("known", r, r.rel, [])


def _allow_force(memories: Memories, draft: Draft, writer: Writer, now: str) -> None:
    import time

    since = times.stamp(time.time() - 86_400)
    before = memories.journal.forced(writer.name, since)
    if before >= FORCE_FREE and not draft.force_confirm:
        raise refuse(
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
    if outcome.disputed or inbox:
        _list(memories)
    outcome.record = memories.store.records.get(rel) or memories.store.inbox.get(rel) or made


def _list(memories: Memories) -> None:
    """Put the new question into memories/Review.md; a page that cannot be written is no reason to fail."""
    from vaultcore.errors import VaultError

    from . import rulings

    try:
        rulings.write_page(memories)
    except (VaultError, OSError):
        return
