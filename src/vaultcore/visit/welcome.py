"""Session start: who the vault takes the repository for, what it left open, and the memories meant for it most."""

from __future__ import annotations

import json

from vaultcore import fence

from . import kept, served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .guest import Guest

BYTES = 2_000
MEMORIES, QUESTIONS = 5, 4
ASKED = 500  # bytes for the open questions
RESERVE = 120  # bytes kept for the line that says how much more there is
RECORD = "work-record"
OPEN = ("open", "open questions", "open loops")
RECENT = 12  # notes of the project that are looked through for open questions


def text(guest: Guest) -> str:
    """What to put before the model, "" when the vault has nothing for this repository."""
    import time

    now = time.time()
    behind = guest.shelf.freshen(guest.memory_folder) if guest.shelf.there else 0
    state = kept.mark(guest)
    found = None if behind else kept.load(guest, state, now)
    if found is None:
        body, facts = _compose(guest, state, now)
    else:
        body, facts = str(found["body"]), dict(found["facts"])
    if body:
        guest.audit("told_at_start", **facts)
    return body


def _compose(guest: Guest, state: list[Any], now: float) -> tuple[str, dict[str, Any]]:
    """The text and what the audit log says of it, kept for the next session where nothing in it can change unseen."""
    mark = fence.tag()
    memories, total, until = _memories(guest, mark, now)
    record, questions, rels = _work(guest, mark)
    facts: dict[str, Any] = {}
    if not memories and not record and not questions:
        kept.save(guest, state, now, until, rels, "", facts)
        return "", facts
    body, count = served.fit(_head(guest), [*questions, *record, *memories], BYTES - RESERVE)
    told = max(0, count - len(questions) - len(record))
    rest = total - told
    verb = "memory reaches" if rest == 1 else "memories reach"
    tail = f"{rest} more {verb} it: recall. Notes: search." if rest else ""
    body = f"{body}\n{tail}" if tail else body
    size = len(body.encode("utf-8", "replace"))
    facts = {"memories": told, "of": total, "record": bool(record), "open": len(questions), "bytes": size}
    kept.save(guest, state, now, until, rels, body, facts)
    return body, facts


def _head(guest: Guest) -> str:
    caller = guest.caller
    if caller.project:
        who = f"the vault knows this repository as {fence.flat(caller.project, 60)}"
    elif caller.contested:
        who = (
            f"{fence.flat(caller.name, 60)} is the name of another repository in the vault, so only general memories "
            "come (om register PATH --as NEWNAME, or --same)"
        )
    else:
        who = "the vault does not know this repository, so only general memories come"
    return f"om: {who}. {served.DATA}"


def _memories(guest: Guest, mark: str, now: float) -> tuple[list[str], int, float]:
    """The frames of the most specific memories, how many reach the caller, and until when that holds."""
    from vaultcore.memory import selection

    folder = guest.memory_folder
    wanted: list[str] = []
    if guest.shelf.there:
        wanted = [rel for rel, values in _rows(guest) if _may_see(guest, values)]
    store = guest.shelf.store(folder, wanted)
    entries = selection.select(store, guest.reader).entries
    shown = entries[:MEMORIES]
    until = min((bound for r in store.records.values() for bound in r.valid if bound > now), default=float("inf"))
    if any(e.record.promoted is not None for e in shown):
        until = now  # what a note says in a memory's place may change without a trace here
    return [served.memory(guest, store, e, mark, 120, 160) for e in shown], len(entries), until


def _rows(guest: Guest) -> list[tuple[str, dict[str, Any]]]:
    rows = guest.shelf.ask(
        "select rel, properties from notes where kind='memory' and gone=0 and conflict=0 and private is null"
    )
    return [(rel, json.loads(properties)) for rel, properties in rows]


def _may_see(guest: Guest, values: dict[str, Any]) -> bool:
    """Whether a memory may reach the caller by what it declares; the store decides, on the file itself."""
    from vaultcore.memory.record import name
    from vaultcore.properties import as_list

    reader = guest.reader
    if str(values.get("scope") or "").strip().lower() == "general":
        return True
    found = {name(p) for key in ("projects", "platforms") for p in as_list(values.get(key) or [])}
    return not found.isdisjoint(reader.projects | reader.platforms)


def _work(guest: Guest, mark: str) -> tuple[list[str], list[str], list[str]]:
    """The frame of the project's last work record, one with its open questions, and the notes that were looked at."""
    from vaultcore.memory.covering import owners

    project = guest.caller.project
    if not project:
        return [], [], []
    rows = guest.shelf.ask(
        "select rel, tags, properties from notes where kind='note' and gone=0 and conflict=0 and private is null"
        " and instr(properties, '\"project')"
    )
    mine = []
    for rel, tags, properties in rows:
        values = json.loads(properties)
        if project in owners(values):
            when = (str(values.get("date") or "")[:10], str(values.get("recorded_at") or ""), rel)
            mine.append((when, RECORD in json.loads(tags)))
    mine.sort(reverse=True)
    record: list[str] = []
    questions: list[tuple[str, str]] = []
    for when, is_record in mine[:RECENT]:
        note = served.live(guest, when[2])
        if note is None or project not in owners(note.properties.values):
            continue
        if is_record and not record:
            says = str(note.properties.values.get("description") or "")
            record = [served.note(note.rel, note.title, says, mark, "work", 200, date=when[0] or None)]
        questions += [(note.rel, asked) for asked in _open(note)]
    if not questions:
        return record, [], [when[2] for when, _ in mine[:RECENT]]
    lines = [f"- {served.line(asked, 140)} ({served.line(rel, 100)})" for rel, asked in questions[:QUESTIONS]]
    while len(lines) > 1 and sum(len(line.encode("utf-8", "replace")) for line in lines) > ASKED:
        lines.pop()
    if len(questions) > len(lines):
        lines.append(f"- and {len(questions) - len(lines)} more")
    return record, [fence.frame("open", mark, "\n".join(lines))], [when[2] for when, _ in mine[:RECENT]]


def _open(note: Any) -> list[str]:
    """What stands open under the note's headings for that: items that are no ticked task."""
    from vaultcore import markdown

    document = markdown.parse(note.text)
    spans = []
    for heading in document.headings:
        if markdown.heading_key(heading.text) in OPEN:
            below = next(
                (h.line for h in document.headings if h.line > heading.line and h.level <= heading.level), None
            )
            spans.append((heading.line, below or len(document.lines) + 1))
    found = []
    for first, last in spans:
        for line in document.lines[first : last - 1]:
            shown = line.strip()
            if shown[:2] in ("- ", "* ", "+ "):
                item = shown[2:].strip()
                if item.startswith("[") and item[2:3] == "]":
                    item = item[3:].strip() if item[1:2] == " " else ""
                if item:
                    found.append(item)
    return found
