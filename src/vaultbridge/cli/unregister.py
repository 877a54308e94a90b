"""`om unregister PATH` and `om unregister --user`: take back what `om register` wrote."""

from __future__ import annotations

import os

import click


@click.command()
@click.argument("path", required=False)
@click.option("--user", is_flag=True, help="Take back what was registered for every folder.")
@click.option("--dry-run", is_flag=True, help="Show the changes and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Say what was done as JSON.")
@click.pass_obj
def command(session, path, user, dry_run, yes, as_json) -> None:  # type: ignore[no-untyped-def]
    """Take back what `om register` wrote for PATH: byte for byte where nobody has written to a file since.

    The project's name stays bound to its repository, because its memories do.
    """
    from vaultbridge.cli import _changes
    from vaultbridge.registration import known, plan, record
    from vaultcore import binding, identity

    if bool(path) == user:
        raise click.UsageError("give the PATH of a repository, or --user")
    folder = None if user else os.path.realpath(os.path.expanduser(path))
    scopes = {
        scope for entry in record.load(session.root).values() for scope in (entry.get("scope"), *record.lines(entry))
    }
    if folder and folder not in scopes and os.path.isdir(folder):
        folder = plan.working_tree(folder, exact=False)
    back = plan.unregistration(session.root, folder, os.environ)
    if not _changes.agreed(back, bool(back.gone), dry_run=dry_run, yes=yes, quiet=as_json):
        return
    project = identity.resolve(session.root, None, [identity.Claim("flag", folder)]).claimed if folder else None
    if not dry_run:
        plan.apply(session.root, back, undo=True)
        if project:
            elsewhere = known.registered(session.root).get(project, {}).values()  # a worktree, a second clone
            binding.unregister(session.root, project, set(back.agents).difference(*elsewhere))
    _changes.report(back, project, bool(back.gone), dry_run=dry_run, as_json=as_json, verb="unregistered")
