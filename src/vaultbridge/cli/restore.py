"""`om restore`: bring a memory back."""

from __future__ import annotations

import click


@click.command()
@click.argument("memory")
@click.option("--reason", default="", metavar="TEXT")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_obj
def command(session, memory: str, reason: str, dry_run: bool) -> None:  # type: ignore[no-untyped-def]
    """Make MEMORY (an id, a title, or the name of a ruling) current again: what superseded, archived, rejected or
    forgot it is lifted, and the log shows both."""
    from vaultbridge.cli import _person
    from vaultcore.memory import rulings

    _person.require("restore")
    bridge, held = _person.opened(session.root)
    held.dry = dry_run
    with held.lock():
        held.settle()
        done = rulings.restore(held, memory, _person.writer(), reason)
        rulings.write_page(held)
    if dry_run:
        click.echo("Dry run, nothing was written. It would say:")
    bridge.announce([])
    for line in done:
        click.echo(line)
