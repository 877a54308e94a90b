"""`om rule`: one verdict, by the key that `om review --list` shows."""

from __future__ import annotations

import click


@click.command()
@click.argument("key")
@click.argument("verdict")
@click.option("--reason", default="", metavar="TEXT")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_obj
def command(session, key: str, verdict: str, reason: str, dry_run: bool) -> None:  # type: ignore[no-untyped-def]
    """Give VERDICT on the question KEY of `om review`. KEY may also be a memory's id with the verdict reject."""
    from vaultbridge.cli import _person
    from vaultcore.errors import Refusal
    from vaultcore.memory import review, rulings, verdicts

    _person.require("rule")
    bridge, held = _person.opened(session.root)
    held.dry = dry_run
    with held.lock():
        held.settle()
        item = next((i for i in review.queue(held.store) if i.key == key), None)
        if item is not None:
            said = verdicts.rule(held, item, verdict, _person.writer(), reason)
        elif verdict == "reject":
            rulings.reject(held, rulings.find(held, key), _person.writer(), reason or "a person rejected it")
            said = f"reject: {review.MEANING['reject']}."
        else:
            raise Refusal("no-question", f"{key} is no question that waits.", "`om review --list` shows their keys.")
        rulings.write_page(held)
    if dry_run:
        click.echo("Dry run, nothing was written. It would say:")
    bridge.announce([])
    click.echo(said)
