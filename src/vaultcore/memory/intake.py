"""Taking an export over: each item through the same gates as every memory, local edits first, rulings respected."""

from __future__ import annotations

from . import forms, record, times
from .declarations import refuse
from .recording import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .exports import Item
    from .memories import Memories, Writer
    from .record import Record


class Report:
    """What became of every item: lists of (title, why or where)."""

    __slots__ = ("taken", "known", "kept", "refused")

    def __init__(self) -> None:
        self.taken: list[tuple[str, str]] = []
        self.known: list[tuple[str, str]] = []
        self.kept: list[tuple[str, str]] = []
        self.refused: list[tuple[str, str]] = []


def take(
    memories: Memories,
    items: Iterable[Item],
    writer: Writer,
    reach: dict[str, object],
    inbox: bool,
    dry_run: bool = False,
) -> Report:
    """Take `items` over, into the inbox or as they are. What is here already under the same external id stays as it
    is here (`kept` lists those that differ); what a person ruled out stays out."""
    from vaultcore.errors import Refusal

    report = Report()
    store = memories.open()
    here: dict[str, Record] = {
        r.external_id: r for r in (*store.inbox.values(), *store.records.values()) if r.external_id
    }
    for item in items:
        held = here.get(item.external_id)
        if held is not None:
            same = forms.value(record.core(held.body)) == forms.value(item.body) or item.body in held.body
            (report.known if same else report.kept).append((item.title, held.rel))
            continue
        try:
            if item.data:
                where = _as_it_is(memories, item, writer, inbox, dry_run)
            else:
                where = _through_the_gate(memories, item, writer, reach, inbox, dry_run)
        except Refusal as refusal:
            (report.known if refusal.code == "near-duplicate" else report.refused).append(
                (item.title, f"{refusal.code}: {refusal.why}")
            )
            continue
        (report.taken if where else report.known).append((item.title, where or "said here already"))
    return report


def _through_the_gate(
    memories: Memories, item: Item, writer: Writer, reach: dict[str, object], inbox: bool, dry_run: bool
) -> str:
    given: dict[str, object] = {
        "title": item.title, "body": item.body, "confidence": "unverified", "external_id": item.external_id,
        "verification": "imported", **reach,
    }  # fmt: skip
    if item.date:
        given["date"] = item.date
    if dry_run:
        given["dry_run"] = True
    outcome = remember(memories, given, writer, inbox=inbox, trusted=True)
    return "" if outcome.state == "known" else outcome.rel


def _as_it_is(memories: Memories, item: Item, writer: Writer, inbox: bool, dry_run: bool) -> str:
    from vaultcore import properties
    from vaultcore.write import revision

    from . import markup, secrets

    with memories.lock():
        memories.settle()
        store = memories.store
        changes: dict[str, Any] = {"external_id": item.external_id}
        if inbox:
            changes["status"] = "candidate"
        data = properties.edit(item.data, changes)
        made = record.parse(f"{store.folder}/{item.name}", data)
        assert made is not None
        text = f"{made.title}\n{made.body}"
        rule = secrets.find(text)
        if rule:
            raise refuse("secret", f"it holds what looks like a secret (rule {rule}).", "Take it out first.", rule=rule)
        if markup.find(text):
            raise refuse("swallowed-markup", "it holds the markup of a broken tool call.", "Mend it first.")
        if store.tombstones.match(made) is not None:
            raise refuse("ruled-out", "a person has ruled it out.", "`om restore` lifts that.")
        body = forms.value(record.core(made.body))
        for rel in sorted(store.tables.body(body)):
            other = store.records[rel]
            if (
                other.flat_title == made.flat_title
                and other.scope == made.scope
                and other.project_names == made.project_names
            ):
                return ""
        stem = item.name[:-3]
        date = made.date or times.today()
        slug = stem[11:] if stem[:10] == date and len(stem) > 11 else stem
        rel = memories.free_name(date, record.slug(slug), "_inbox" if inbox else "")
        if not dry_run:
            line = {
                "op": "import",
                "channel": writer.channel,
                "caller": writer.name,
                "path": rel,
                "id": made.id,
                "after": revision(data),
            }
            memories.perform([{"do": "create", "rel": rel, "text": data.decode("utf-8", "replace")}], line)
        return rel
