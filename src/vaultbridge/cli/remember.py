"""`om remember`: keep a lesson from the command line."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("title")
@click.argument("body", required=False)
@click.option(
    "--confidence", type=click.Choice(["verified", "inferred", "unverified"]), default="unverified", show_default=True
)
@click.option("--verification", metavar="TEXT", help="How you know.")
@click.option(
    "--scope", type=click.Choice(["project", "platform", "general"]), help="Whom it reaches. [default: project]"
)
@click.option("--generality", metavar="TEXT", help="Why it holds everywhere, with general.")
@click.option("--project", "projects", multiple=True, metavar="NAME", help="A project it reaches; may be repeated.")
@click.option("--platform", "platforms", multiple=True, metavar="NAME", help="A platform, with scope platform.")
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Files of the repository it is about.")
@click.option("--about", metavar="SUBJECT/PROPERTY", help="The key it states.")
@click.option("--valid-from", metavar="DATE")
@click.option("--valid-until", metavar="DATE", help="The first moment it no longer holds.")
@click.option("--supersedes", multiple=True, metavar="ID", help="What it replaces; may be repeated.")
@click.option("--link", "links", multiple=True, metavar="NOTE", help="A related note.")
@click.option("--force", is_flag=True, help="Despite near-duplicates.")
@click.option("--force-confirm", is_flag=True)
@click.option("--dry-run", is_flag=True, help="Check only.")
@click.option("--propose", is_flag=True, help="Into the inbox, for a person to accept.")
@click.pass_obj
def command(  # type: ignore[no-untyped-def]
    session, /, title: str, body: str | None, propose: bool, **options: object
) -> None:
    """Record TITLE with BODY (or what stands on standard input)."""
    from vaultbridge import memories
    from vaultbridge.cli import _person
    from vaultbridge.tools.remember import report, strangers
    from vaultcore.errors import Refusal
    from vaultcore.memory.recording import remember

    bridge, held = _person.opened(session.root)
    text = body if body is not None else sys.stdin.read() if not sys.stdin.isatty() else title
    given = {"title": title, "body": text, **_person.given(options)}
    caller, writer = _person.author(session.root, dry=bool(given.get("dry_run")))
    try:
        outcome = remember(held, given, writer, memories.resolver(bridge, caller), inbox=propose)
    except Refusal as refusal:
        bridge.audit.record("refused", caller, tool="remember", code=refusal.code)
        raise
    if outcome.state == "recorded":
        bridge.written([outcome.rel, *(r.rel for r in (*outcome.superseded, *outcome.retired))])
    unknown = strangers(session.root, caller, outcome)
    if unknown:
        outcome.notes.append(unknown)
    bridge.audit.record("remember", caller, path=outcome.rel, state=outcome.state)
    click.echo(report(outcome))
