"""`om update`: bring a vault made from this template to a newer release, without touching what its owner wrote."""

from __future__ import annotations

import json
import sys

import click


@click.command()
@click.option(
    "--from", "source", metavar="URL|PATH", help="The template's repository. [default: the vault's own remote]"
)
@click.option("--to", "version", metavar="VERSION", help="The release to go to, older ones too. [default: the newest]")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--json", "as_json", is_flag=True, help="The plan, or what was done, as JSON.")
@click.pass_obj
def command(session, source: str | None, version: str | None, dry_run: bool, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Bring the vault to a newer release of its template.

    Only files that the release's manifest names are looked at, never your notes. What you have not changed follows the
    release; what both changed is merged where the lines allow it, and stays yours where not: then the merge lies in
    .cache/update/VERSION, and the exit code is 1. Needs git and, unless PATH is a folder, the network.
    """
    from vaultbridge import updates
    from vaultbridge.updates import report
    from vaultcore import write

    with write.lock(session.root, "update", timeout=1):
        made = updates.plan(session.root, source, version)
        if not dry_run:
            updates.apply(made)
    if as_json:
        click.echo(json.dumps(report.data(made, dry_run), ensure_ascii=False, indent=1))
    else:
        for line in report.lines(made, dry_run):
            click.echo(line)
    sys.exit(1 if made.of("conflict") else 0)
