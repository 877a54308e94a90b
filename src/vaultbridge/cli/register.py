"""`om register PATH` and `om register --user`: give a repository's, or a user's, agents the vault."""

from __future__ import annotations

import os

import click

AGENTS = ("claude", "codex", "gemini", "cursor", "vscode", "copilot")


@click.command()
@click.argument("path", required=False)
@click.option("--user", is_flag=True, help="Register once for every folder, in your own configuration.")
@click.option(
    "--agent", "agents", metavar="NAMES", multiple=True, help=f"Of {', '.join(AGENTS)}. [default: those found]"
)
@click.option("--as", "name", metavar="NAME", help="The name that this repository goes by.")
@click.option("--same", is_flag=True, help="It is the project that its name belongs to already.")
@click.option("--platform", "platforms", metavar="P", multiple=True, help="A platform it runs on; may be repeated.")
@click.option("--trigger", "triggers", metavar="TEXT", multiple=True, help="When to search the vault; up to five.")
@click.option("--hooks", is_flag=True, help="Also tell Claude, Codex and Gemini there, unasked, what the vault knows.")
@click.option("--portable", is_flag=True, help="Write what can be committed: the vault's place comes from $OM_VAULT.")
@click.option("--dry-run", is_flag=True, help="Show the changes and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Say what was done as JSON.")
@click.pass_obj
def command(  # type: ignore[no-untyped-def]
    session, path, user, agents, name, same, platforms, triggers, hooks, portable, dry_run, yes, as_json
) -> None:
    """Register the repository at PATH: its agents' configuration, its AGENTS.md, its name.

    With --hooks its agents are told what reaches them when a session starts and before a file is edited, and offered
    to keep what they learnt when one ends.

    Shows the changes as a diff, and asks before writing when a person is there to answer.
    `om unregister` takes all of it back.
    """
    from vaultbridge.cli import _changes
    from vaultbridge.registration import clients, plan
    from vaultbridge.registration.command import command as server
    from vaultcore import binding, identity, projects
    from vaultcore.errors import VaultError

    if bool(path) == user:
        raise click.UsageError("give the PATH of a repository, or --user")
    if user and (name or same or platforms or triggers):
        raise click.UsageError("--as, --same, --platform and --trigger are about one repository: leave out --user")
    if user and hooks:
        raise click.UsageError("--hooks are of one repository: leave out --user")
    if len(triggers) > 5:
        raise click.UsageError("at most five --trigger")
    chosen = [one.strip().lower() for given in agents for one in given.split(",") if one.strip()]
    for one in chosen:
        if one not in AGENTS:
            raise click.UsageError(f"no such agent: {one} (one of {', '.join(AGENTS)})")
    folder = None if user else plan.working_tree(path, exact=bool(name))
    chosen = list(dict.fromkeys(chosen)) or clients.found(folder, os.environ)
    if not chosen:
        raise VaultError(
            f"no agent's settings or command were found: name those you use ({', '.join(AGENTS)}) with --agent; for "
            f"Claude Code, run `{_again(session, path, 'claude')}`"
        )
    known = {"name": name, "same": same, "platforms": platforms, "agents": chosen}
    project, bound = None, False
    if folder:
        project, place, bound = binding.register(session.root, folder, **known, dry_run=True)
        former = identity.resolve(session.root, None, [identity.Claim("flag", place)]).project
    ahead = plan.registration(
        folder, chosen, server(_changes.code(session), session.root, portable), triggers, os.environ, hooks
    )
    if folder and former and former != project and former in projects.load(session.root).entries:
        ahead.notes.append(f"what was remembered for {former} stays with that name: {project} starts without it")
    if name and project != name:
        ahead.notes.append(f"it goes by {project}: a name tells neither case nor spaces at its ends")
    if folder and any("codex" in change.agents for change in ahead.real()):
        ahead.notes.append("Codex reads a project's configuration only after you have trusted its folder")
    if not _changes.agreed(ahead, bound, dry_run=dry_run, yes=yes, quiet=as_json):
        return
    if not dry_run:
        if folder and bound:
            binding.register(session.root, folder, **known)
        plan.apply(session.root, ahead)
    _changes.report(ahead, project, bound, dry_run=dry_run, as_json=as_json, verb="registered")


def _again(session, path: str | None, agent: str) -> str:  # type: ignore[no-untyped-def]
    """The command to run, with `agent` named."""
    import shlex

    from vaultbridge.cli import _changes

    code = _changes.code(session)
    door = "om.py" if os.path.realpath(os.curdir) == os.path.realpath(code) else os.path.join(code, "om.py")
    words = ["python3", door, "register", path or "--user", "--agent", agent]
    if os.path.realpath(session.root) != os.path.realpath(code):
        words += ["--vault", session.root]
    return shlex.join(words)
