"""`om recall`: the memories that reach you."""

from __future__ import annotations

import click

INCLUDES = ("history", "candidates", "rejected", "archived", "expired")


@click.command()
@click.argument("query", nargs=-1)
@click.option("--limit", "-n", type=click.IntRange(1, 50), default=10, show_default=True, help="How many at most.")
@click.option(
    "--include", multiple=True, type=click.Choice(INCLUDES), help="Also what no longer holds; may be repeated."
)
@click.option("--as-of", metavar="DATE", help="What was true then.")
@click.option("--known-at", metavar="DATE", help="What the vault knew then.")
@click.option("--project", metavar="NAME", help="As that project sees them; only at a terminal.")
@click.option("--explain", is_flag=True, help="Why each came, and how many are withheld.")
@click.option("--cursor", help="The next page.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def command(  # type: ignore[no-untyped-def]
    session, query: tuple[str, ...], limit: int, include: tuple[str, ...], as_of: str | None, known_at: str | None,
    project: str | None, explain: bool, cursor: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Recall memories: all of them, or those that fit QUERY first. At a terminal every memory is yours to see; run by
    an agent, the project of the working directory decides, and the text comes framed as data."""
    from vaultbridge.cli import _person, _plain
    from vaultbridge.tools import recall
    from vaultcore.identity import Caller

    bridge, _ = _person.opened(session.root)
    caller = _person.caller(session.root)
    if project:
        _person.require("recall --project")
        caller = Caller(project=project, source="flag", projects=(project,))
    given = {
        "query": " ".join(query), "limit": limit, "explain": explain, "include": list(include), "as_of": as_of,
        "known_at": known_at, "cursor": cursor,
    }  # fmt: skip
    given = {k: v for k, v in given.items() if v not in (None, "", [], False)}
    bridge.audit.record("recall", caller, query=" ".join(query))
    if as_json:
        click.echo(as_data(bridge, caller, given))
    elif _person.at_terminal():
        click.echo(recall.page(bridge, caller, given, _plain.Plain()))
    else:
        click.echo(recall.run(bridge, caller, given))


def as_data(bridge, caller, given) -> str:  # type: ignore[no-untyped-def]
    """The same answer as JSON."""
    import json

    from vaultbridge import memories
    from vaultbridge.tools.recall import moment
    from vaultcore.memory import selection

    store = memories.of(bridge).store
    found = selection.select(
        store, memories.reader(caller), tuple(given.get("include", ())), moment(given, "as_of"),
        moment(given, "known_at", True), given.get("query", ""),
    )  # fmt: skip
    rows = [
        {
            "id": e.record.key, "title": e.record.title, "path": e.record.rel, "state": e.state,
            "scope": e.record.scope,
            "projects": e.record.projects, "platforms": e.record.platforms, "confidence": e.record.confidence,
            "date": e.record.date, "beside": [r.key for r in e.by], "body": e.record.body,
        }
        for e in found.entries[: given["limit"]]
    ]  # fmt: skip
    answer = {"memories": rows, "total": len(found.entries), "left_out": found.left_out, "withheld": found.withheld}
    return json.dumps(answer, ensure_ascii=False)
