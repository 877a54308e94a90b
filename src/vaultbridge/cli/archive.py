"""`om archive`: a person's verb."""

from __future__ import annotations

import click


@click.command()
@click.argument("memory")
@click.option("--reason", default="", metavar="TEXT")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_obj
def command(session, memory: str, reason: str, dry_run: bool) -> None:  # type: ignore[no-untyped-def]
    """Keep MEMORY's file and serve it no more."""
    from vaultbridge.cli import _person
    from vaultcore.memory import rulings

    _person.require("archive")
    bridge, held = _person.opened(session.root)
    held.dry = dry_run
    with held.lock():
        held.settle()
        found = rulings.find(held, memory)
        rulings.archive(held, found, _person.writer(), reason)
        rulings.write_page(held)
    if dry_run:
        click.echo("Dry run, nothing was written. It would say:")
    bridge.announce([found.rel])
    click.echo(f"Archived: {found.rel}")
