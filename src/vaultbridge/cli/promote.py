"""`om promote`: serve a note's block in place of a memory, or accept a proposal."""

from __future__ import annotations

import click


@click.command()
@click.argument("memory")
@click.argument("marker", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_obj
def command(session, memory: str, marker: str | None, dry_run: bool) -> None:  # type: ignore[no-untyped-def]
    """Serve MARKER (note#^block or note#Heading) in place of MEMORY; without MARKER, accept a proposal."""
    from vaultbridge.cli import _person
    from vaultcore import exposure
    from vaultcore.memory import rulings

    _person.require("promote")
    bridge, held = _person.opened(session.root)
    held.dry = dry_run
    with held.lock():
        held.settle()
        found = rulings.find(held, memory)
        note = ""
        if marker:
            bridge.refresh()
            note = rulings.promote(
                held, found, _person.writer(), marker, lambda name: bridge.index.resolver().resolve(name, "").rel
            )
            rel = found.rel
        else:
            rel = rulings.accept(held, found, _person.writer())
        rulings.write_page(held)
    if dry_run:
        click.echo("Dry run, nothing was written. It would say:")
    bridge.announce([rel])
    click.echo(f"Promoted into {marker}: {rel}" if marker else f"Accepted: {rel}")
    if note and not exposure.readable(bridge.manifest, bridge.policy, note).ok:
        click.echo(f"{note} is not exposed: other repositories go on with the memory's own text.")
