"""Applying a person's verdict to a question of the review queue."""

from __future__ import annotations

from . import reach, record, review, snapshot, times
from .declarations import refuse
from .rulings import accept, archive, discard, perform, reject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .memories import Memories, Writer
    from .record import Record


def rule(memories: Memories, item: review.Item, verdict: str, writer: Writer, reason: str = "") -> str:
    """Apply a person's verdict to a question of the queue, keep it by content, and say what was done."""
    if verdict not in item.choices:
        raise refuse("bad-verdict", f"{verdict!r} is none of {', '.join(item.choices)}.", "Choose one.")
    steps, lines = memories.gather(lambda: _decide(memories, item, verdict, writer, reason))
    said = f"{verdict}: {review.MEANING[verdict]}."
    if memories.dry:
        return said
    r = item.records[0]
    rel, data = review.verdict_file(item, verdict, reason)
    line: dict[str, Any] = {"op": "rule", "channel": writer.channel, "caller": writer.name, "path": r.rel, "id": r.key,
                            "reason": reason}  # fmt: skip
    # one operation: what the verdict does and that it was given stand together or not at all
    steps.append({"do": "put", "rel": rel, "text": data.decode()})
    memories.perform(steps, {**(lines[0] if lines else line), "verdict": verdict})
    memories.store.tombstones.refresh()
    if verdict == "discard":
        snapshot.drop(memories.root)
    return said


def _decide(memories: Memories, item: review.Item, verdict: str, writer: Writer, reason: str) -> None:
    newer, older = item.records[0], item.records[-1]
    if verdict == "newer" and newer is not older:
        _link(memories, newer, older, writer, reason)
    elif verdict == "older" and newer is not older:
        reject(memories, newer, writer, reason or "a person kept the older one")
        _settle(memories, older)
    elif verdict == "neither":
        for r in item.records:
            reject(memories, r, writer, reason or "a person ruled both out")
    elif verdict == "both" or (verdict in ("newer", "older") and newer is older):
        _clear(memories, newer, older, writer, reason)
    elif verdict == "accept":
        accept(memories, newer, writer, reason)
    elif verdict == "reject":
        reject(memories, newer, writer, reason or "a person rejected it")
    elif verdict == "discard":
        discard(memories, newer, writer, reason)
    elif verdict == "archive":
        archive(memories, newer, writer, reason)


def _without_dispute(r: Record, other: Record, store: Any) -> dict[str, Any]:
    """The properties of `r` without the note that it disputes `other`."""
    flags = [f for f in r.flags if not (f.startswith("disputes ") and any(x is other for x in store.names.find(f[9:])))]
    changes: dict[str, Any] = {"flags": flags or None}
    if r.declared == "disputed" and not any(f.startswith("disputes ") for f in flags):
        changes["status"] = None
    return changes


def _clear(memories: Memories, newer: Record, older: Record, writer: Writer, reason: str) -> None:
    steps = []
    for r, other in ((newer, older), (older, newer)):
        changes = _without_dispute(r, other, memories.store)
        if (
            changes.get("flags") != (r.flags or None)
            or "status" in changes
            or (r is other and r.declared == "disputed")
        ):
            if r is other:
                changes["status"] = None
            steps.append({"do": "edit", "rel": r.rel, "id": r.key, "as": "rule", "set": changes})
        if r is other:
            break
    if steps:
        perform(memories, steps, newer, writer, "rule", reason or "both hold")


def _settle(memories: Memories, r: Record) -> None:
    """Nothing stands against `r` any more: take the mark off when it carries one itself."""
    if r.declared == "disputed":
        from .memories import Writer

        step = {"do": "edit", "rel": r.rel, "id": r.key, "set": {"status": None}}
        perform(
            memories, [step], r, Writer("a person", "", (), reach.PERSON, "person"), "rule", "its rival was rejected"
        )


def _link(memories: Memories, newer: Record, older: Record, writer: Writer, reason: str) -> None:
    """Both sides of a supersession that a person decided."""
    now = times.stamp()
    changes = _without_dispute(newer, older, memories.store)
    new_entry = f"{newer.key} {record.one_line(newer.title)[:80]}" if newer.id else newer.title
    old_entry = f"{older.key} {record.one_line(older.title)[:80]}" if older.id else older.title
    steps = [
        {
            "do": "edit", "rel": newer.rel, "id": newer.key, "as": "rule",
            "set": changes, "append": {"supersedes": [old_entry]},
        },
        {
            "do": "edit", "rel": older.rel, "id": older.key, "as": "supersede",
            "set": {"status": "superseded", "retired_at": now}, "append": {"superseded_by": [new_entry]},
        },
    ]  # fmt: skip
    perform(memories, steps, newer, writer, "rule", reason or "the newer one holds")
