"""What only a person may do to memories: accept, reject, archive, forget, restore, rule, promote."""

from __future__ import annotations

import os

from . import reach, record, review, selection, snapshot, times, tombstones
from .declarations import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .memories import Memories, Writer
    from .record import Record


def find(memories: Memories, name: str) -> Record:
    """The one memory (or proposal) a person means by id, title, path or file name; a Refusal otherwise."""
    store = memories.store
    text = name.strip()
    for held in (store.records, store.inbox):
        if text in held:
            return held[text]
    found = store.names.find(text)
    if not found:
        form = record.one_line(text)
        found = [r for r in store.inbox.values() if form == r.key or form == r.title]
    if len(found) == 1:
        return found[0]
    shown = record.one_line(text)[:80]
    if not found:
        raise refuse("unknown-memory", f"{shown!r} names no memory.", "`om recall` lists them with their ids.")
    several = "; ".join(f"{r.key} ({r.rel})" for r in found[:8])
    raise refuse("ambiguous", f"{len(found)} memories are called {shown!r}: {several}.", "Give one id or path.")


def reject(memories: Memories, r: Record, writer: Writer, reason: str) -> None:
    """Never serve `r` again, and never take its value again from anybody it reached."""
    _stone(memories, r, writer, reason, "reject", {"status": "rejected"})


def forget(memories: Memories, r: Record, writer: Writer, reason: str) -> str:
    """Take the text of `r` out of the vault, leave a tombstone of its value; returns where the text is kept (this
    machine only, outside the vault)."""
    from vaultcore import places

    if not reason.strip():
        raise refuse("no-reason", "Forgetting needs a reason.", 'Give it: --reason "…".')
    kept = os.path.join(places.cache(memories.root), "forgotten")
    if memories.dry:
        return os.path.join(kept, f"{record.slug(r.key)}.md")
    os.makedirs(kept, 0o700, exist_ok=True)
    with open(os.path.join(memories.root, r.rel), "rb") as file:
        data = file.read()
    copy = os.path.join(kept, f"{record.slug(r.key)}.md")
    fd = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    _stone(memories, r, writer, reason, "forget", None)
    snapshot.drop(memories.root)
    return copy


def _stone(
    memories: Memories, r: Record, writer: Writer, reason: str, verb: str, changes: dict[str, Any] | None
) -> None:
    rel, values = tombstones.make(r, verb, reason)
    values["path"] = r.rel
    steps: list[dict[str, Any]] = []
    # one value, one record: a ruling that stands already is not written twice
    if not os.path.lexists(os.path.join(memories.root, rel)):
        steps.append({"do": "create", "rel": rel, "text": tombstones.encode(values).decode(), "as": "tombstone"})
    if changes is None:
        steps.append({"do": "remove", "rel": r.rel, "id": r.key, "as": "forget"})
    else:
        steps.append(
            {"do": "edit", "rel": r.rel, "id": r.key, "as": verb, "set": {**changes, "retired_at": times.stamp()}}
        )
    perform(memories, steps, r, writer, verb, reason)
    memories.store.tombstones.refresh()


def perform(
    memories: Memories, steps: list[dict[str, Any]], r: Record, writer: Writer, op: str, reason: str = ""
) -> None:
    from vaultcore.write import revision

    path = os.path.join(memories.root, r.rel)
    before = after = ""
    try:
        with open(path, "rb") as file:
            data = file.read()
        before = revision(data)
        from . import intents

        mine = [s for s in steps if s["rel"] == r.rel and s["do"] == "edit"]
        after = revision(intents.edited(data, mine[0])) if mine else ""
        if any(s["do"] == "move" and s["rel"] == r.rel for s in steps):
            after = before
    except OSError:
        pass
    line = {
        "op": op,
        "channel": writer.channel,
        "caller": writer.name,
        "path": r.rel,
        "id": r.key,
        "before": before,
        "after": after,
        "reason": reason,
    }
    memories.perform(steps, line)


def archive(memories: Memories, r: Record, writer: Writer, reason: str = "") -> None:
    """Keep the file, serve it no more."""
    step = {"do": "edit", "rel": r.rel, "id": r.key, "set": {"status": "archived", "retired_at": times.stamp()}}
    perform(memories, [step], r, writer, "archive", reason)


def promote(
    memories: Memories, r: Record, writer: Writer, marker: str, find: Callable[[str], str | None] | None = None
) -> str:
    """Serve the block or section `marker` names in place of the capture; returns the note's path. `find` resolves a
    note's name; what is not there is refused."""
    from . import promotion

    place, rel = promotion.aim(memories.root, memories.store.folder, marker, find)
    perform(memories, [{"do": "edit", "rel": r.rel, "id": r.key, "set": {"promoted": place}}], r, writer, "promote")
    return rel


def accept(memories: Memories, r: Record, writer: Writer, reason: str = "") -> str:
    """A proposal or candidate becomes current; returns its path."""
    stone = memories.store.tombstones.match(r)
    if stone is not None:
        raise refuse("ruled-out", "What it says has been ruled out.", f"`om restore {stone.id}` lifts that first.")
    edit = {"do": "edit", "rel": r.rel, "id": r.key, "as": "accept", "set": {"status": None}}
    if r.rel not in memories.store.inbox:
        if memories.store.doubtful(r):
            raise refuse("doubtful", f"It cannot be accepted: {memories.store.doubtful(r)}.", "Edit the file first.")
        perform(memories, [edit], r, writer, "accept", reason)
        return r.rel
    to = memories.free_name(r.date or times.today(), record.slug(r.title))
    perform(
        memories, [edit, {"do": "move", "rel": r.rel, "to": to, "id": r.key, "as": "move"}], r, writer, "accept", reason
    )
    return to


def discard(memories: Memories, r: Record, writer: Writer, reason: str) -> None:
    """Drop a proposal for good: its value is refused from then on."""
    if not reason.strip():
        raise refuse("no-reason", "Discarding needs a reason.", "Say why in a few words.")
    forget(memories, r, writer, reason)


def restore(memories: Memories, name: str, writer: Writer, reason: str = "") -> list[str]:
    """Bring back what was superseded, archived, rejected or forgotten; returns sentences about what was done."""
    store = memories.store
    stones = [s for s in store.tombstones.stones if name.strip() in (s.id, s.key, s.key[:16], os.path.basename(s.rel))]
    records = store.names.find(name)
    if not stones and not records:
        raise refuse(
            "unknown-memory",
            f"{record.one_line(name)[:80]!r} names neither a memory nor a ruling.",
            "`om log` lists both.",
        )
    done: list[str] = []
    steps: list[dict[str, Any]] = []
    if records:
        r = find(memories, name)
        ruling = store.tombstones.match(r)
        stones = list({s.rel: s for s in [*stones, *([ruling] if ruling else [])]}.values())
    for stone in stones:
        steps.append({"do": "remove", "rel": stone.rel, "as": "lift"})
        done.append(f"The ruling of {stone.at[:10]} is lifted.")
    if records:
        replacements = [new for new, _ in store.edges.by.get(r.rel, ()) if new is not None]
        edit: dict[str, Any] = {
            "do": "edit",
            "rel": r.rel,
            "id": r.key,
            "as": "restore",
            "set": {"status": None, "retired_at": None},
        }
        if replacements or r.superseded_by:
            edit["set"]["superseded_by"] = None
            for new in replacements:
                drop = [e for e in new.supersedes if any(x is r for x in store.names.find(e))]
                if drop:
                    steps.append(
                        {"do": "edit", "rel": new.rel, "id": new.key, "as": "unlink", "drop": {"supersedes": drop}}
                    )
                done.append(f"{new.title!r} ({new.key}) no longer supersedes it; both are current.")
        steps.insert(0, edit)
        perform(memories, steps, r, writer, "restore", reason)
        done.insert(0, f"{r.title!r} ({r.key}) is current again.")
    else:
        stone = stones[0]
        copy = _forgotten(memories.root, stone.id)
        if copy is not None:
            made = record.parse("x.md", copy)
            to = memories.free_name(
                (made.date if made else "") or times.today(), record.slug(made.title if made else stone.id)
            )
            steps.append({"do": "create", "rel": to, "text": copy.decode("utf-8", "replace"), "id": stone.id})
            done.append(f"Its text is back as {to}.")
        else:
            done.append("Its text is not on this machine; it may be recorded again.")
        line = {
            "op": "lift",
            "channel": writer.channel,
            "caller": writer.name,
            "path": stone.rel,
            "id": stone.id,
            "reason": reason,
        }
        memories.perform(steps, line)
    store.tombstones.refresh()
    return done


def _forgotten(root: str, key: str) -> bytes | None:
    from vaultcore import places

    try:
        with open(os.path.join(places.cache(root), "forgotten", f"{record.slug(key)}.md"), "rb") as file:
            return file.read()
    except OSError:
        return None


def write_page(memories: Memories) -> str:
    """Write memories/Review.md anew, keeping what is ticked for questions that still wait; returns its path."""
    from vaultcore import write

    from .listing import REVIEW

    rel = f"{memories.store.folder}/{REVIEW}"
    if memories.dry:
        return rel
    items = review.queue(memories.store)
    try:
        with open(os.path.join(memories.root, rel), "rb") as file:
            held = file.read()
    except FileNotFoundError:
        if items:
            data = review.page(items, {}).encode()
            write.create(memories.root, rel, data)
            memories.page.wrote(data)
        return rel
    data = review.page(items, review.ticks(held.decode("utf-8", "replace"))).encode()
    if held != data:
        write.replace(memories.root, rel, data, write.revision(held))
        memories.page.wrote(data)
    return rel


def states(memories: Memories) -> dict[str, int]:
    """How many memories are in which state, for doctor and status lines."""
    counts: dict[str, int] = {}
    for e in selection.select(memories.store, reach.PERSON, include=selection.INCLUDES).entries:
        counts[e.state] = counts.get(e.state, 0) + 1
    if memories.store.inbox:
        counts["proposed"] = len(memories.store.inbox)
    return counts
