"""`remember`: keep a lesson for this project, for others, or for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import WRITE, flag, schema, text, words

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller
    from vaultcore.memory.record import Record
    from vaultcore.memory.recording import Outcome

# what a refused call held may be a secret: the audit log keeps its length only
UNLOGGED = ("title", "body", "verification", "generality", "about", "supersedes", "links", "paths")

TOOL: dict[str, Any] = {
    "name": "remember",
    "title": "Remember a lesson",
    "description": (
        "Keep one lesson that a later session must know. First recall: correct an old one with supersedes. It reaches "
        "your project unless you declare more; near-duplicates and secrets are refused."
    ),
    "inputSchema": schema(
        ["title", "body", "confidence"],
        title=text("The lesson as one line that stands by itself"),
        body=text("What holds, where, what to do; no secrets", 50_000),
        confidence={
            "type": "string",
            "enum": ["verified", "inferred", "unverified"],
            "description": "You saw it, it follows, you were told",
        },
        verification=text("How you know", 4_000),
        scope={
            "type": "string",
            "enum": ["project", "platform", "general"],
            "description": "Whom it reaches; default project",
        },
        generality=text("With general: why it holds in every repository", 4_000),
        projects=words("Other projects it reaches, by name", 50, 100),
        platforms=words("With platform", 50, 100),
        paths=words("Files or globs of your repository it is about", 16, 1_024),
        about=text("Key subject/property; the same key later replaces this", 200),
        valid_from=text("True since: date", 40),
        valid_until=text("First date it no longer holds", 40),
        links=words("Note names to list as related", 30),
        supersedes=words("Ids or titles it replaces", 20, 1_000),
        force=flag("Record despite near-duplicates"),
        force_confirm=flag("From the third force in 24 hours"),
        dry_run=flag("Check only"),
    ),
    "annotations": WRITE,
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import memories
    from vaultcore import binding
    from vaultcore.errors import Refusal
    from vaultcore.memory.recording import remember

    if not arguments.get("dry_run"):
        caller = binding.bind(bridge.root, caller)
    if caller.contested and not caller.project:
        raise Refusal(
            "contested-name",
            f"Another repository goes by the name {caller.name}, so nobody knows whose memory this would be.",
            "A person gives this one its own name: om register PATH --as NEWNAME.",
        )
    held = memories.of(bridge)
    given = {k: v for k, v in arguments.items() if v is not None}
    outcome = remember(held, given, memories.writer(caller), memories.resolver(bridge, caller))
    if outcome.state == "recorded":
        bridge.written([outcome.rel, *(r.rel for r in (*outcome.superseded, *outcome.retired))])
    unknown = strangers(bridge.root, caller, outcome)
    if unknown:
        outcome.notes.append(unknown)
    if caller.provisional and outcome.state == "recorded":
        outcome.notes.append(f"Your client has not said which folders are open; {caller.source} says {caller.name}.")
    return report(outcome)


def report(outcome: Outcome) -> str:
    """What was done, where it lies, whom it reaches, what it replaced, what to mend."""
    from vaultbridge.fence import flat
    from vaultbridge.recollection import reach_of
    from vaultcore.memory import reach
    from vaultcore.memory.facets import names_of
    from vaultcore.memory.recording import weaker

    r = outcome.record
    assert r is not None
    if outcome.state == "known":
        where = f"({flat(r.key, 60)}) in {flat(outcome.rel, 300)}, {reach_of(r)}"
        return f"Already recorded, nothing written: {flat(r.title, 200)!r} {where}."
    verb = {
        "recorded": "Recorded",
        "would": "Would be recorded (dry run, nothing written)",
        "proposed": "Proposed, for a person to accept",
    }[outcome.state]
    lines = [f"{verb}: {flat(outcome.rel, 300)}", f"id {r.key} · {reach_of(r)} · {r.confidence}"]
    if r.paths:
        lines.append("paths " + ", ".join(flat(p, 100) for p in r.paths))
    for old in outcome.superseded:
        where = f" for {names_of(r)}; elsewhere the old one still holds" if reach.foreign_narrowing(old, r) else ""
        lines.append(f"Supersedes {named(old)}{where}.")
    for old in outcome.retired:
        less = " and without about" if r.about and old.about else ""
        lines.append(
            f"Retired unasked, {likeness(old, r)}: {named(old)}. If both hold, send that one again under another "
            f"title{less} (timeline {flat(old.key, 60)} shows its text), or a person runs "
            f"`om restore {flat(old.key, 60)}`."
        )
    for old in outcome.disputed:
        why = "It seems to contradict"
        if weaker(r, old) and likeness(old, r):
            why = f"It is {old.confidence} and this is {r.confidence}, so this does not replace"
        lines.append(
            f"{why} {named(old)}: both stay and come back marked DISPUTED. "
            f'If this replaces it, send this again with supersedes ["{flat(old.key, 60)}", "{r.key}"].'
        )
    if outcome.forced:
        lines.append("Forced past a near-duplicate; this is logged.")
    lines += [flat(note, 600) for note in outcome.notes]
    return "\n".join(lines)


def named(r: Record) -> str:
    """A memory as replies name it: title and id."""
    from vaultbridge.fence import flat

    return f"{flat(r.title, 200)!r} ({flat(r.key, 60)})"


def likeness(old: Record, new: Record) -> str:
    """What makes the two one statement to the rule that retires unasked; "" when nothing declared does."""
    from vaultbridge.fence import flat
    from vaultcore.memory import tables

    if old.about and new.about and tables.key(old.about) == tables.key(new.about):
        return f"same key {flat(new.about, 120)}"
    if old.flat_title == new.flat_title and old.scope == new.scope:
        return "same title and scope"
    return ""


def strangers(root: str, caller: Caller, outcome: Outcome) -> str:
    """A sentence about projects of a new memory that nobody knows, "" when there are none: a slip of the pen there
    reaches nobody and is not noticed."""
    import difflib

    from vaultbridge.fence import flat
    from vaultcore import projects
    from vaultcore.memory import record

    r = outcome.record
    held = projects.load(root)
    if r is None or held.problem:
        return ""
    known = {record.name(name): name for name in (*held.entries, *caller.projects)}
    odd = [name for name in r.projects if record.name(name) not in known]
    if not odd:
        return ""
    nearest = difflib.get_close_matches(record.name(odd[0]), sorted(known), 8, 0.0)
    what = "is no project" if len(odd) == 1 else "are no projects"
    shown = ", ".join(flat(name, 60) for name in odd[:5])
    rest = "; known: " + ", ".join(flat(known[n], 60) for n in nearest) if nearest else ""
    return f"{shown} {what} the vault knows{rest}. If that is a slip, send it again with supersedes and the right name."
