"""`om build`: mirror skills and agents to where each agent looks for them."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 when a mirror is not up to date.")
@click.option("--release", is_flag=True, help="Also note down what this release ships; for those who make releases.")
@click.option("--json", "as_json", is_flag=True, help="The files as JSON.")
@click.pass_obj
def command(session, check: bool, release: bool, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Write the copies of .agents/skills and .claude/agents that the other agents read."""
    import sys

    from vaultbridge import skills

    changed = skills.drift(session.root) if check else skills.build(session.root)
    if release and not check:
        from vaultbridge.profiles import inventory

        if inventory.build(session.root):
            changed.append(f"src/vaultbridge/profiles/{inventory.NAME}")
    if as_json:
        click.echo(json.dumps({"written": not check, "files": changed}, ensure_ascii=False))
    else:
        for rel in changed:
            click.echo(f"{'differs' if check else 'written'}: {rel}")
        if not changed:
            click.echo("everything is up to date")
    sys.exit(1 if check and changed else 0)
