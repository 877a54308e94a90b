"""`om forget`: a person's verb."""

from __future__ import annotations

import click


@click.command()
@click.argument("memory")
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept in the ruling and the log.")
@click.option("--yes", is_flag=True, help="Do not ask again.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_obj
def command(session, memory: str, reason: str, yes: bool, dry_run: bool) -> None:  # type: ignore[no-untyped-def]
    """Take MEMORY's text out of the vault for good, and never take what it says again.

    The text stays on this machine only, outside the vault, for `om restore`. Git keeps old commits as it always does.
    """
    from vaultbridge.cli import _person
    from vaultcore.memory import rulings

    _person.require("forget")
    bridge, held = _person.opened(session.root)
    held.dry = dry_run
    found = rulings.find(held, memory)
    if not (yes or dry_run):
        click.confirm(f"Forget {found.title!r} ({found.rel})?", abort=True)
    with held.lock():
        held.settle()
        copy = rulings.forget(held, rulings.find(held, found.rel), _person.writer(), reason)
        rulings.write_page(held)
    if dry_run:
        click.echo("Dry run, nothing was written. It would say:")
    bridge.announce([found.rel])
    click.echo(f"Forgotten: {found.key}, {found.rel}. `om restore {found.key}` undoes it.")
    click.echo(f"Its text is kept in {copy}; delete that file too if it must be gone.")
    click.echo("If it was committed, git still has it: `git log -- <path>`; rewriting history is yours to decide.")
