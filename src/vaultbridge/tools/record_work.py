"""`record_work`: what was done in a repository, once, as a note for the vault's owner and for later sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import WRITE, flag, schema, text

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller
    from vaultcore.work.recording import Outcome

# what a refused call held may be a secret: the audit log keeps its length only
UNLOGGED = ("title", "summary", "changes", "decisions", "learned", "open", "verification", "informed_by", "paths")


def items(description: str = "") -> dict[str, Any]:
    """A list-of-strings argument whose bounds `draft.check` holds."""
    found: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    return {**found, "description": description} if description else found


TOOL: dict[str, Any] = {
    "name": "record_work",
    "title": "Record finished work",
    "description": (
        "File one note about work done in this repository, once, at its end. What other projects could use: remember."
    ),
    "inputSchema": schema(
        ["title", "summary"],
        title=text("What was done, one line", 200),
        summary=text("What happened and why", 20_000),
        changes=items("What changed"),
        decisions=items("With their reasons"),
        learned=items("For next time"),
        open=items("What is left or unclear"),
        verification=text("How it was checked", 4_000),
        informed_by=items("Notes that helped, by name"),
        kind={"type": "string", "enum": ["note", "decision"], "default": "note", "description": "What it is"},
        paths=items("Files or globs it is about"),
        folder=text("Default: this project's own, else the inbox", 300),
        dry_run=flag("Check only"),
    ),
    "annotations": WRITE,
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import memories
    from vaultcore import binding
    from vaultcore.errors import Refusal
    from vaultcore.work.recording import record_work

    dry = bool(arguments.get("dry_run"))
    if caller.provisional and not dry:
        raise Refusal(
            "identity-pending", "The client has not said yet which folders are open.", "Send it again in a moment."
        )
    if not dry:
        caller = binding.bind(bridge.root, caller)
    if caller.contested and not caller.project:
        raise Refusal(
            "contested-name",
            f"Another repository goes by the name {caller.name}, so nobody knows whose work this would be.",
            "A person gives this one its own name: om register PATH --as NEWNAME.",
        )
    bridge.refresh()
    given = {k: v for k, v in arguments.items() if v is not None}
    outcome = record_work(
        memories.of(bridge), bridge.manifest, bridge.policy, bridge.index, given, memories.writer(caller),
        memories.resolver(bridge, caller),
    )  # fmt: skip
    if outcome.state == "recorded":
        bridge.written([rel for rel in (outcome.rel, outcome.index) if rel])
    return report(outcome)


def report(outcome: Outcome) -> str:
    """What was filed, where and why there, where it is listed, what to mend."""
    from vaultbridge import fence
    from vaultbridge.fence import flat

    rel = flat(outcome.rel, 300)
    if outcome.state == "known":
        return f"Already recorded, nothing written: {rel}."
    if outcome.state == "would":
        lines = [f"Would be recorded (dry run, nothing written): {rel}"]
    else:
        lines = [f"Recorded: {rel}"]
    listed = f"listed in {flat(outcome.index, 300)}." if outcome.index else "no index note lists it."
    lines.append(f"Filed into {outcome.why}; {listed}")
    lines += [flat(note, 600) for note in outcome.notes]
    if outcome.state == "would":
        shown, left = fence.cut(outcome.text, 600)
        lines.append(fence.frame("note", fence.tag(), shown + (f"\n[{left} more characters]" if left else "")))
    return "\n".join(lines)
