"""What skills and agents may name: the commands of `om` with their options, note types, places of a vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbridge.skills.specification import Known

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot


def names(vault: Snapshot) -> Known:
    """Everything a skill of this vault can mean."""
    from vaultbridge import profiles, templates

    memories = vault.manifest.get("memory_root")
    generated = (f"{memories}/Review.md", f"{memories}/_inbox", "thinking/session-logs", "vault-manifest.local.json")
    types = {kind.name for kind in templates.types(vault.root)} | set(vault.manifest.get("note_types"))
    return Known(commands(), types, set(profiles.shipped()), generated)


def commands() -> dict[str, set[str]]:
    """Command -> its options, read from the commands themselves."""
    import click

    from vaultbridge.cli import group

    context = click.Context(group)
    found: dict[str, set[str]] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            found[name] = {option for parameter in command.params for option in parameter.opts if option[:1] == "-"}
    # the two that om.py answers itself, before there is an environment
    found.setdefault("test", set())
    return found
