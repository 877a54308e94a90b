"""`remember`: keep a lesson for this project, for others, or for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import WRITE, flag, schema, text, words

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller
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
    if caller.provisional and outcome.state == "recorded":
        outcome.notes.append(f"Your client has not said which folders are open; {caller.source} says {caller.name}.")
    return report(outcome)


def report(outcome: Outcome) -> str:
    """What was done, where it lies, whom it reaches, what it replaced, what to mend."""
    from vaultbridge.fence import flat
    from vaultbridge.recollection import reach_of

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
        lines.append(f"Supersedes {flat(old.title, 200)!r} ({flat(old.key, 60)}).")
    for old in outcome.retired:
        lines.append(
            f"Retired unasked, same key: {flat(old.title, 200)!r} ({flat(old.key, 60)}). If both hold, send that "
            f"one again with "
            f'supersedes ["{r.key}"] and another title, or a person runs `om restore {flat(old.key, 60)}`.'
        )
    for old in outcome.disputed:
        lines.append(
            f"It seems to contradict {flat(old.title, 200)!r} ({flat(old.key, 60)}): both stay and come back "
            f"marked DISPUTED. "
            f'If this replaces it, send this again with supersedes ["{flat(old.key, 60)}", "{r.key}"].'
        )
    if outcome.forced:
        lines.append("Forced past a near-duplicate; this is logged.")
    lines += [flat(note, 600) for note in outcome.notes]
    return "\n".join(lines)
