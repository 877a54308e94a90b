"""Showing a plan, asking about it, and saying what became of it."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from vaultbridge.registration.plan import Plan


def code(session: Any) -> str:
    """Where om's own code lies: beside the vault's notes, unless the vault was adopted."""
    from vaultbridge.bridge import CODE

    return str(getattr(session, "code", CODE))


def agreed(plan: Plan, more: bool, *, dry_run: bool, yes: bool, quiet: bool) -> bool:
    """Show what will change; False when a person says no. With nothing to change there is nothing to ask."""
    changes = plan.real()
    if not quiet:
        for change in changes:
            click.echo(change.diff())
            click.echo()
        for note in plan.notes:
            click.echo(f"note: {note}")
        for path, snippet in plan.snippets:
            click.echo(f"\n{path}:\n{snippet}\n")
    if dry_run or yes or quiet or not (changes or more) or not sys.stdin.isatty():
        return True
    return click.confirm("Write this?", default=True)


def report(plan: Plan, project: str | None, more: bool, *, dry_run: bool, as_json: bool, verb: str) -> None:
    """What was done, in one line or as JSON."""
    changes = plan.real()
    if as_json:
        rows = [{"path": c.path, "action": _action(c.before, c.after), "diff": c.diff()} for c in changes]
        snippets = [{"path": path, "text": text} for path, text in plan.snippets]
        found = {
            "project": project,
            "scope": plan.scope,
            "agents": plan.agents,
            "changed": bool(changes or more),
            "dry_run": dry_run,
            "files": rows,
            "notes": plan.notes,
            "snippets": snippets,
        }
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    if not (changes or more):
        click.echo("nothing to do")
        return
    what = f"{plan.scope} as {project}" if project else "your own configuration"
    count = f"{len(changes)} file{'s' if len(changes) != 1 else ''}"
    for_whom = f" for {', '.join(plan.agents)}" if plan.agents else ""
    click.echo(f"nothing written: {count} would change" if dry_run else f"{verb} {what}{for_whom}: {count} changed")


def _action(before: bytes | None, after: bytes | None) -> str:
    return "create" if before is None else "remove" if after is None else "change"
