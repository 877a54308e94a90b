"""`om search`: what the bridge would find, for a person."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(1, 50), default=8, show_default=True, help="How many notes at most.")
@click.option("--folder", metavar="PATH", help="Only below this folder.")
@click.option("--tag", metavar="TAG", help="Only notes with this tag or one nested in it.")
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON.")
@click.pass_obj
def command(session, query: tuple[str, ...], limit: int, folder: str | None, tag: str | None, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Search notes and memories. Quotes keep a phrase together.

    At a terminal, and in the vault, all of them; elsewhere those that the vault lets other repositories read.
    """
    from vaultbridge import memories, search
    from vaultbridge.bridge import Bridge
    from vaultbridge.cli import _plain
    from vaultbridge.cli._person import caller
    from vaultbridge.tools.search import remarks
    from vaultcore.errors import VaultError

    words = " ".join(query).strip()
    if not words:
        raise VaultError("the query holds no words: say what to look for")
    who = caller(session.root)
    bridge = Bridge(session.root, channel="person", whole=who.vault)
    answer = search.search(
        bridge, who, words, limit, folder=folder, tag=tag,
        memories=lambda words, limit: [] if folder or tag else memories.hits(bridge, who, words),
    )  # fmt: skip
    if as_json:
        hits = [
            {
                "kind": hit.kind, "path": hit.rel, "title": hit.title, "heading": hit.heading,
                "lines": [hit.line0, hit.line1], "snippet": hit.snippet, "why": hit.why, "id": hit.id,
            }
            for hit in answer.hits
        ]  # fmt: skip
        click.echo(
            json.dumps(
                {
                    "hits": hits, "searched": answer.searched, "withheld": answer.withheld, "dropped": answer.dropped,
                    "more": answer.more, "lanes": answer.lanes, "incomplete": answer.incomplete,
                },
                ensure_ascii=False,
            )
        )  # fmt: skip
        return
    for line in (*_plain.hits(answer.hits), *remarks(answer, 0)):
        click.echo(line)
