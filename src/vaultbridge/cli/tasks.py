"""`om tasks`: the open tasks of the vault."""

from __future__ import annotations

import json
from datetime import date

import click


@click.command()
@click.argument("folder", default="")
@click.option("--done", is_flag=True, help="Finished tasks too.")
@click.option("--overdue", is_flag=True, help="Only tasks whose date has passed.")
@click.option("--limit", "-n", type=click.IntRange(1, 5000), default=200, show_default=True, help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="The tasks as JSON.")
@click.pass_obj
def command(session, folder: str, done: bool, overdue: bool, limit: int, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """List open tasks, those with a date first; FOLDER: only below it. Archived work and templates don't count."""
    from vaultbridge import tasks as reading
    from vaultbridge.checks import place
    from vaultbridge.checks.snapshot import Snapshot
    from vaultbridge.cli._person import at_home
    from vaultbridge.fence import flat

    at_home(session.root, "tasks", reading=True)
    today = date.today()
    vault = Snapshot(session.root)
    try:
        below = place(vault, folder) if folder else ""
        prefix = below if not below.lower().endswith(".md") else below.rpartition("/")[0]
        found = [
            task for task in reading.tasks(vault, prefix, done) if not below or task.path == below or below == prefix
        ]
    finally:
        vault.close()
    found = reading.ordered([task for task in found if not overdue or task.overdue(today)])
    shown, more = found[:limit], max(0, len(found) - limit)
    if as_json:
        rows = [
            {
                "path": task.path, "line": task.line, "text": task.text, "done": task.done, "marker": task.marker,
                "heading": task.heading, "due": task.due or None, "overdue": task.overdue(today),
                "note_date": task.dated or None,
            }
            for task in shown
        ]  # fmt: skip
        click.echo(json.dumps({"tasks": rows, "more": more}, ensure_ascii=False))
        return
    for task in shown:
        mark = "x" if task.done else task.marker.strip() or " "
        due = f"  {'overdue since' if task.overdue(today) else 'due'} {task.due}" if task.due else ""
        click.echo(f"[{flat(mark, 2) or ' '}] {flat(task.text, 160)}{due}")
        click.echo(f"      {task.path}:{task.line}" + (f"  {flat(task.heading, 80)}" if task.heading else ""))
    if more:
        click.echo(f"… and {more} more: raise --limit")
    if not found:
        click.echo("no open tasks" if not overdue else "nothing is overdue")
