"""`om timeline`: what a memory replaced and what replaced it."""

from __future__ import annotations

import click


@click.command()
@click.argument("memory")
@click.pass_obj
def command(session, memory: str) -> None:  # type: ignore[no-untyped-def]
    """Tell the history of MEMORY, named by its id or title."""
    from vaultbridge.cli import _person
    from vaultbridge.tools import timeline

    bridge, _ = _person.opened(session.root)
    caller = _person.caller(session.root)
    bridge.audit.record("timeline", caller, memory=memory)
    click.echo(timeline.run(bridge, caller, {"id": memory}))
