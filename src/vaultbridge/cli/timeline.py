"""`om timeline`: what a memory replaced and what replaced it."""

from __future__ import annotations

import click


@click.command()
@click.argument("memory")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def command(session, memory: str, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Tell the history of MEMORY, named by its id or title."""
    from vaultbridge.cli import _person, _plain
    from vaultbridge.tools import timeline

    bridge, _ = _person.opened(session.root)
    caller = _person.caller(session.root)
    bridge.audit.record("timeline", caller, memory=memory)
    if as_json:
        click.echo(as_data(timeline.told(bridge, caller, memory)))
    elif _person.at_terminal():
        click.echo(timeline.page(timeline.told(bridge, caller, memory), _plain.Plain()).lstrip("\n"))
    else:
        click.echo(timeline.run(bridge, caller, {"id": memory}))


def as_data(found) -> str:  # type: ignore[no-untyped-def]
    """The same history as JSON."""
    import json

    rows = [
        {"id": e.record.key, "title": e.record.title, "path": e.record.rel, "state": e.state, "date": e.record.date}
        for e in found.members
    ]
    about = next(row for row in rows if row["id"] == found.subject.key)
    kept = ("at", "op", "channel", "caller", "id", "path", "unasked", "reason", "verdict")
    events = [{key: line[key] for key in kept if key in line} for line in found.events]
    answer = {
        "memory": {**about, "body": found.subject.body}, "members": rows, "links": found.links, "events": events,
        "hidden": found.hidden,
    }  # fmt: skip
    return json.dumps(answer, ensure_ascii=False)
