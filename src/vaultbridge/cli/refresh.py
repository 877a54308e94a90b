"""`om refresh`: bring the index up to the files."""

from __future__ import annotations

import os

import click


@click.command()
@click.option("--quiet", is_flag=True, help="Say nothing unless it fails.")
@click.option("--rebuild", is_flag=True, help="Throw the index away first.")
@click.pass_obj
def command(session, quiet: bool, rebuild: bool) -> None:  # type: ignore[no-untyped-def]
    """Bring the index up to the files, which every search does by itself anyway."""
    from vaultbridge import memories
    from vaultbridge.bridge import Bridge
    from vaultcore.numerals import counted

    bridge = Bridge(session.root)
    done = bridge.index.rebuild() if rebuild else bridge.index.refresh(budget=None, full=True)
    if not quiet:
        click.echo(f"{counted(done.scanned, 'file')}: {done.added} new, {done.changed} changed, {done.removed} gone")
        for problem in done.problems:
            click.echo(f"  {problem.sentence()}")
    from vaultbridge.search import followers

    if quiet and hasattr(os, "nice"):
        os.nice(10)  # nobody waits for the rest

    memories.of(bridge).store.refresh()  # parses them for every process to come, when they are many
    followers.catch_up(bridge, lambda line: None if quiet else click.echo(f"  {line}"))
    bridge.close()
