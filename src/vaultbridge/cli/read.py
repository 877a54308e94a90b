"""`om read` : one note as the bridge would serve it."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("note")
@click.option("--section", metavar="HEADING", help="Only this section; a path of headings as `A > B`.")
@click.option("--block", metavar="ID", help="Only this block.")
@click.option("--json", "as_json", is_flag=True, help="Path, lines and text as JSON.")
@click.pass_obj
def command(session, note: str, section: str | None, block: str | None, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Print a note, named by its path, title, alias or id; at a terminal a memory too.

    At a terminal, and in the vault, any note; elsewhere one that the vault lets other repositories read.
    """
    from vaultbridge import lookup
    from vaultbridge.bridge import Bridge
    from vaultbridge.cli._person import caller
    from vaultbridge.tools.read import choose
    from vaultcore import identity, notes
    from vaultcore.errors import Refusal

    who = caller(session.root)
    bridge = Bridge(session.root, channel="person", whole=who.vault)
    try:
        found = lookup.find(bridge, note, who)
    except Refusal as refusal:
        kept = lookup.memory(bridge, who, lookup.bare(note)) if who is identity.PERSON else None
        if refusal.code != "is-a-memory" or kept is None:
            raise
        found = lookup.Found(kept.rel)
    held = notes.read(bridge.root, found.rel)
    text, first, last, _ = choose(held, section or found.heading, block or found.block)
    bridge.audit.record("read", None, note=held.rel)
    if as_json:
        data = {"path": held.rel, "title": held.title, "lines": [first, last], "text": text}
        click.echo(json.dumps(data, ensure_ascii=False))
    else:
        click.echo(text, nl=not text.endswith("\n"))
