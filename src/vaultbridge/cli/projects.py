"""`om projects`: which repositories the vault knows, and by what."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def command(session, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """List the projects that the vault knows: name, evidence, platforms, registered agents, who contests the name."""
    from vaultbridge.registration import known

    rows, problem = known.projects(session.root)
    if as_json:
        click.echo(json.dumps({"projects": rows, "problem": problem or None}, ensure_ascii=False, indent=1))
        return
    if problem:
        click.echo(f"problem: {problem}", err=True)
    if not rows and not problem:
        click.echo("no projects yet: run `om register PATH`, or let an agent remember something")
    for row in rows:
        click.echo(known.line(row))
