"""Writing a work record: the note and its line in the index note, in one locked operation that a crash cannot halve."""

from __future__ import annotations

import os

from vaultcore import exposure, properties, requirements
from vaultcore.memory import declarations, record, times, wikilinks

from . import draft as gate
from . import filing, listing, twins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vaultcore.exposure import Policy
    from vaultcore.index import Index
    from vaultcore.manifest import Manifest
    from vaultcore.memory.memories import Memories, Writer

    from .draft import Draft
    from .filing import Place


class Outcome:
    """What became of it. `state` is "recorded", "known" (nothing written) or "would" (dry run); `index` is the note
    that lists it, "" for none; `text` is the note itself."""

    __slots__ = ("index", "notes", "rel", "state", "text", "why")

    def __init__(self, state: str, rel: str, why: str, notes: list[str]) -> None:
        self.state, self.rel, self.why, self.notes = state, rel, why, notes
        self.index = self.text = ""


def record_work(
    memories: Memories,
    manifest: Manifest,
    policy: Policy,
    index: Index,
    arguments: dict[str, object],
    writer: Writer,
    resolves: Callable[[str], bool] | None = None,
) -> Outcome:
    """Record what happened, durable when this returns, or raise a Refusal (logged; nothing written)."""
    from vaultcore.errors import Refusal

    try:
        made = gate.check(arguments, resolves)
        with memories.lock():
            memories.settle()
            return _record(memories, manifest, policy, index, made, writer)
    except Refusal as refusal:
        if arguments.get("dry_run") is not True and refusal.code != "busy":
            about = {k: v for k, v in refusal.details.items() if k in ("rule", "field")}
            memories.refused(writer, refusal.code, tool="record_work", **about)
        raise


def _record(
    memories: Memories, manifest: Manifest, policy: Policy, index: Index, made: Draft, writer: Writer
) -> Outcome:
    from vaultcore.write import revision

    place = filing.choose(manifest, policy, made.folder, record.name(writer.origin) or None if writer.origin else None)
    notes = [*made.notes, *place.notes]
    _ruled_out(memories, made, writer)
    near = twins.nearest(manifest, policy, index, made, record.name(writer.origin), described(made.summary))
    if near and near[0].same:
        return Outcome("known", near[0].rel, place.why, notes)
    if near:
        listed = "; ".join(f"{t.score:.0%} {t.title[:120]!r} ({t.rel})" for t in near[:3])
        raise declarations.refuse(
            "near-duplicate",
            f"This says nearly what is recorded already: {listed}.",
            "If something else happened since, say what in the title and the summary; otherwise leave it.",
        )
    rel = free_name(manifest.root, place, made)
    values = _properties(manifest, made, writer, rel)
    text = properties.dump(values) + gate.body(made, _provenance(writer, place))
    outcome = Outcome("recorded", rel, place.why, notes)
    outcome.text = text
    steps: list[dict[str, Any]] = [{"do": "create", "rel": rel, "text": text}]
    found = listing.index_of(manifest, policy, place.folder, lambda one: exposure.readable(manifest, policy, one).ok)
    if found:
        item = _item(index, rel, made, str(values["date"]), str(values["description"]))
        step = {"do": "edit", "as": "list", "rel": found, "entry": [item.link, item.title, item.date, item.description]}
        if _lists(manifest.root, found, item):
            outcome.index = found
            steps.append(step)
        else:
            notes.append(f"Not listed in {found}: it is not UTF-8, so it is left alone.")
    if made.dry_run:
        outcome.state = "would"
        return outcome
    line = {
        "op": "record-work",
        "channel": writer.channel,
        "caller": writer.name,
        "path": rel,
        "after": revision(text.encode()),
    }
    memories.perform(steps, line)
    return outcome


def free_name(root: str, place: Place, made: Draft) -> str:
    """A path that does not exist yet: the title, with the date before it unless it is a decision."""
    slug = record.slug(made.title)
    stem = slug if made.kind == "decision" or slug.startswith(times.today()) else f"{times.today()} {slug}"
    base = f"{place.folder}/" if place.folder else ""
    for n in range(1, 10_000):
        rel = f"{base}{stem}.md" if n == 1 else f"{base}{stem} ({n}).md"
        if not os.path.lexists(os.path.join(root, *rel.split("/"))):
            return rel
    raise declarations.refuse("exists", f"{base}{stem}.md and its numbered names are taken.", "Choose another title.")


def _properties(manifest: Manifest, made: Draft, writer: Writer, rel: str) -> dict[str, object]:
    """The properties in their order, with all that `frontmatter_required` asks for; Refusal where nobody said it."""
    tags = ["decision", gate.RECORD] if made.kind == "decision" else [gate.RECORD]
    stem = rel.rsplit("/", 1)[-1][:-3]
    done = "active" if made.lists["open"] else "completed"
    known: dict[str, object] = {
        "date": times.today(),
        "description": described(made.summary),
        "tags": tags,
        "aliases": [made.title] if stem != made.title else [],
        "status": "accepted" if made.kind == "decision" else "",
        "project": writer.origin,
        "paths": made.paths,
        "recorded_at": times.stamp(),
    }
    spare: dict[str, object] = {
        "status": done,
        "title": made.title,
        "created": times.today(),
        "summary": known["description"],
    }
    wanted = requirements.required(manifest.get("frontmatter_required"), tags, rel)
    for name, kind in wanted.items():
        if known.get(name) in (None, "", []):
            known[name] = spare.get(name) if name in spare else [made.title] if name == "aliases" else None
        wrong = requirements.fault(known[name], kind)
        if wrong:
            raise declarations.refuse(
                "unmet-property",
                f"A note in {rel.rpartition('/')[0]} must say {name!r} ({kind}), which a work record does not know.",
                "Name another folder, or leave folder out.",
                field=name,
            )
    return {name: value for name, value in known.items() if value not in (None, "", [])}


def described(summary: str) -> str:
    """A summary as the one line that properties and lists hold: links as the text they show."""
    return record.described(wikilinks.plain(summary, lambda name: False, {}))


def _ruled_out(memories: Memories, made: Draft, writer: Writer) -> None:
    """Refuse what a person has ruled out, in whole or in one sentence: a note is read by everybody."""
    held = record.build("memories/x.md", {"scope": "general"}, f"# {made.title}\n\n{made.text()}\n", 0, 0)
    assert held is not None
    stone = memories.store.tombstones.match(held)
    if stone is None:
        return
    known = stone.scope == "general" or writer.reader.everything or not stone.names.isdisjoint(writer.reader.projects)
    why = f" ({stone.reason})" if known and stone.reason else ""
    raise declarations.refuse(
        "ruled-out",
        f"A person has ruled out something that this says{why}.",
        "Leave that out; a person can lift it with `om restore`.",
    )


def _item(index: Index, rel: str, made: Draft, date: str, description: str) -> listing.Item:
    from vaultcore.links import file_key

    stem = rel.rsplit("/", 1)[-1][:-3]
    same = [other for other in index.named(stem) if other != rel and file_key(other) == file_key(rel)]
    return listing.Item(rel[:-3] if same else stem, made.title, date, record.one_line(description))


def _lists(root: str, rel: str, item: listing.Item) -> bool:
    try:
        with open(os.path.join(root, rel), "rb") as file:
            data = file.read()
    except OSError:
        return False
    return listing.added(data, item) != data


def _provenance(writer: Writer, place: Place) -> str:
    who = record.one_line(writer.name).replace("*", "").replace("[", "").replace("]", "")
    return f"Recorded {times.stamp()[:16].replace('T', ' ')} UTC by {who}, filed into {place.why}."
