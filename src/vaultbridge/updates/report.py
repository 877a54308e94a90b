"""What an update does or did, for a person and for scripts."""

from __future__ import annotations

import fnmatch
from typing import Any

from vaultbridge.updates.planning import WRITES, Plan, Step
from vaultbridge.updates.releases import hidden

SHOWN = 40
WORDS = {"create": "new", "replace": "replaced", "merge": "merged", "remove": "removed"}
NEXT = (
    ("requirements*.lock", "the packages have changed: run `python3 om.py setup` again"),
    (".codex/hooks.json", "the hooks have changed: Codex runs none of them until you start it here and trust them"),
    (".gemini/settings.json", "the hooks have changed: Gemini will tell you so at its next start"),
    ("src/*", "agents that are running, and their bridges, have the new version when they are started again"),
)


def lines(made: Plan, dry_run: bool) -> list[str]:
    """The report, most important last."""
    written = made.of(*WRITES)
    told: list[str] = []
    if not made.steps:
        return [f"nothing to do: this vault is at {made.after}, as {hidden(made.source)} has it"]
    told.append(f"{made.before} -> {made.after}, from {hidden(made.source)}")
    for action, word in WORDS.items():
        told += listed(word, made.of(action))
    away = made.of("away")
    if away:
        told.append(f"  {len(away)} file{plural(away)} that were deleted here or left out stay away")
    for step in made.of("kept"):
        told.append(f"  {'kept':<9} {step.path}: {step.why}")
    conflicts = made.of("conflict")
    for step in conflicts:
        told.append(f"  {'yours':<9} {step.path}: {step.why}; compare {step.copy}")
    if dry_run:
        told.append(f"nothing written: {len(written)} file{plural(written)} would change")
    else:
        told.append(f"updated to {made.after}: {len(written)} file{plural(written)} changed")
    if conflicts:
        stay = "would stay as it is" if dry_run else "stays as it was"
        told.append(
            f"in {len(conflicts)} file{plural(conflicts)} your version {stay}: take over what you want from"
            f" .cache/update/{made.after}; the next update will not bring it up again"
        )
    return told + ([] if dry_run else following(made))


def listed(word: str, steps: list[Step]) -> list[str]:
    told = [f"  {word:<9} {step.path}" for step in steps[:SHOWN]]
    if len(steps) > SHOWN:
        told.append(f"  {word:<9} … and {len(steps) - SHOWN} more (--json lists all)")
    return told


def plural(things: list[Any]) -> str:
    return "" if len(things) == 1 else "s"


def following(made: Plan) -> list[str]:
    """What a person has to do after the update. Also right when an earlier run has written a part of it."""
    not_taken = {step.path for step in made.of("away", "kept", "conflict")}
    news = [rel for rel in made.news if rel not in not_taken]
    told = [sentence for pattern, sentence in NEXT if fnmatch.filter(news, pattern)]
    edited = made.of("merge", "conflict", "kept")
    if any(step.path.startswith((".agents/skills/", ".claude/agents/")) for step in edited):
        told.append("skills or agents that you have changed: run `python3 om.py build` to write their copies")
    return told


def data(made: Plan, dry_run: bool) -> dict[str, Any]:
    """The same as JSON: `files` by path with `action` and `why`, `conflicts` with the copy to compare."""
    files = [
        {"path": step.path, "action": step.action, "why": step.why, **({"copy": step.copy} if step.copy else {})}
        for step in made.steps
    ]
    return {
        "from": made.before,
        "to": made.after,
        "source": hidden(made.source),
        "dry_run": dry_run,
        "changed": len(made.of(*WRITES)),
        "conflicts": len(made.of("conflict")),
        "files": files,
        "next": following(made),
    }
