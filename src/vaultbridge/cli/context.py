"""`om context`: what the vault knows about files."""

from __future__ import annotations

import os

import click


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.pass_obj
def command(session, paths: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    """List memories and notes about PATHS of the repository around the working directory."""
    from vaultbridge.cli import _person, _plain
    from vaultbridge.tools import context
    from vaultcore import identity

    bridge, _ = _person.opened(session.root)
    caller = identity.resolve(session.root, None, identity.process_claims([], os.environ, os.getcwd()))
    bridge.audit.record("context", caller, paths=list(paths))
    given = {"paths": [os.path.abspath(p) if os.path.exists(p) else p for p in paths]}
    if _person.at_terminal():
        click.echo(context.page(bridge, caller, given, _plain.about))
    else:
        click.echo(context.run(bridge, caller, given))
