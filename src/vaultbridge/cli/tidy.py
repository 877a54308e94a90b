"""`om tidy`: finished work to the archive."""

from __future__ import annotations

import json
from datetime import date

import click


@click.command()
@click.option("--apply", "do_it", is_flag=True, help="Move it. Without this nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="The plan, or what was done, as JSON.")
@click.pass_obj
def command(session, do_it: bool, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Show which finished work can move from work/active to work/archive, and move it with --apply.

    Finished means a `status` that the manifest's done_statuses names; a folder moves when all of its work is finished.
    Nothing is overwritten, links stay true, and a receipt says what was done.
    """
    from vaultbridge import tidy
    from vaultbridge.checks.snapshot import Snapshot
    from vaultbridge.cli._person import at_home
    from vaultbridge.fence import flat

    at_home(session.root, "tidy")
    vault = Snapshot(session.root)
    try:
        tidying = tidy.plan(vault, date.today())
        links = sorted(tidying.edits)
        if do_it and tidying.moves:
            tidy.apply(vault, tidying, date.today())
    finally:
        vault.close()
    if as_json:
        data = {
            "applied": bool(tidying.receipt),
            "moves": [{"from": move.source, "to": move.target, "why": move.why} for move in tidying.moves],
            "left": [{"path": skip.source, "why": skip.why} for skip in tidying.skipped],
            "links_changed_in": tidying.edited if tidying.receipt else links,
            "by_hand": tidying.remarks,
            "receipt": tidying.receipt or None,
        }
        click.echo(json.dumps(data, ensure_ascii=False))
        return
    verb = "moved" if tidying.receipt else "would move"
    for move in tidying.moves:
        click.echo(f"{verb} {flat(move.source, 160)} to {flat(move.target, 160)} ({move.why})")
    for skip in tidying.skipped:
        click.echo(f"stays  {flat(skip.source, 160)}: {flat(skip.why, 200)}")
    for rel in tidying.edited or links:
        click.echo(f"  links {'changed' if tidying.receipt else 'to change'} in {flat(rel, 160)}")
    for remark in tidying.remarks:
        click.echo(f"  by hand: {flat(remark, 200)}")
    if tidying.receipt:
        click.echo(f"receipt: {tidying.receipt}")
    elif tidying.moves:
        click.echo("nothing was written: run it again with --apply")
    elif not tidying.skipped:
        click.echo("nothing to move")
