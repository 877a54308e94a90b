"""`om record-work`: file what was done from the command line."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("title")
@click.argument("summary", required=False)
@click.option("--change", "changes", multiple=True, metavar="TEXT", help="What changed; may be repeated.")
@click.option("--decision", "decisions", multiple=True, metavar="TEXT", help="What was decided and why.")
@click.option("--learned", multiple=True, metavar="TEXT", help="What was learnt.")
@click.option("--open", multiple=True, metavar="TEXT", help="What is left or unclear.")
@click.option("--verification", metavar="TEXT", help="How it was checked.")
@click.option("--informed-by", multiple=True, metavar="NOTE", help="A note that helped.")
@click.option("--kind", type=click.Choice(["note", "decision"]), default="note", show_default=True)
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Files of the repository it is about.")
@click.option("--folder", metavar="FOLDER", help="Where to file it. [default: the project's folder, else the inbox]")
@click.option("--dry-run", is_flag=True, help="Check only.")
@click.pass_obj
def command(session, /, title: str, summary: str | None, **options: object) -> None:  # type: ignore[no-untyped-def]
    """Record work called TITLE with SUMMARY (or what stands on standard input)."""
    from vaultbridge import memories
    from vaultbridge.cli import _person
    from vaultbridge.tools.record_work import report
    from vaultcore.errors import Refusal
    from vaultcore.work.recording import record_work

    bridge, held = _person.opened(session.root)
    text = summary if summary is not None else "" if sys.stdin.isatty() else sys.stdin.read()
    given = {"title": title, "summary": text, **_person.given(options)}
    caller, writer = _person.author(session.root, dry=bool(given.get("dry_run")))
    bridge.refresh()
    try:
        outcome = record_work(
            held, bridge.manifest, bridge.policy, bridge.index, given, writer, memories.resolver(bridge, caller)
        )
    except Refusal as refusal:
        bridge.audit.record("refused", caller, tool="record_work", code=refusal.code)
        raise
    if outcome.state == "recorded":
        bridge.written([rel for rel in (outcome.rel, outcome.index) if rel])
    bridge.audit.record("record_work", caller, path=outcome.rel, state=outcome.state)
    click.echo(report(outcome))
