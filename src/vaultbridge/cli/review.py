"""`om review`: what waits for a person, one question after the other."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--list", "listing", is_flag=True, help="Only show what waits, and write memories/Review.md anew.")
@click.option("--json", "as_json", is_flag=True, help="What waits, as JSON; decides nothing.")
@click.pass_obj
def command(session, listing: bool, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Decide on conflicts, candidates, proposals and expiring memories. What you ticked in memories/Review.md is
    offered as the answer; nothing is applied without you."""
    from vaultbridge.cli import _person
    from vaultcore.memory import page, review, rulings, verdicts

    if not (listing or as_json):
        _person.require("review")
    bridge, held = _person.opened(session.root)
    with held.lock():
        held.settle()
        ticked = ticks(held)
        judged = page.judged(held.journal, held.page.rel) if ticked else {}
        items = review.queue(held.store)
        if listing and not ticked:
            rulings.write_page(held)
    if as_json:
        rows = [
            {
                "key": i.key,
                "kind": i.kind,
                "why": i.why,
                "choices": list(i.choices),
                "memories": [r.rel for r in i.records],
                **told(i, ticked, judged),
            }
            for i in items
        ]
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    if not items:
        click.echo("Nothing waits.")
    for item in items:
        tick = ticked.get(item.key)
        doubt = page.doubt(judged, item.key, tick) if tick else ""
        show(item, tick, doubt)
        if listing:
            continue
        answer = ask(item, None if doubt else tick)
        if answer == "quit":
            break
        if answer == "skip":
            continue
        reason = str(click.prompt("  why (decide by one line)")) if answer == "discard" else ""
        with held.lock():
            held.settle()
            fresh = next((i for i in review.queue(held.store) if i.key == item.key), None)
            if fresh is None:
                click.echo("It has changed meanwhile and is asked again next time.")
                continue
            click.echo(verdicts.rule(held, fresh, answer, _person.writer(), reason))
    if not listing:
        with held.lock():
            held.settle()
            rulings.write_page(held)
    bridge.announce([])


def ticks(held) -> dict[str, str]:  # type: ignore[no-untyped-def]
    """What is ticked in Review.md now."""
    import os

    from vaultcore.memory import review
    from vaultcore.memory.listing import REVIEW

    try:
        with open(os.path.join(held.root, held.store.folder, REVIEW), encoding="utf-8", errors="replace") as file:
            return review.ticks(file.read(2_000_000))
    except OSError:
        return {}


def told(item, ticked: dict[str, str], judged: dict[str, str]) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """What JSON says of a tick: the choice, and whether it counts as a person's."""
    from vaultcore.memory import page

    tick = ticked.get(item.key)
    return {"ticked": tick, "attested": not page.doubt(judged, item.key, tick)} if tick else {}


def show(item, ticked: str | None, doubt: str) -> None:  # type: ignore[no-untyped-def]
    from vaultbridge.fence import flat
    from vaultcore.memory import record

    click.echo(f"\n{item.kind} {item.key}: {flat(item.why, 200)}")
    for r in item.records:
        click.echo(f"  {flat(r.title, 200)}  [{flat(r.key, 60)}, {flat(r.date, 10)}, {flat(r.rel, 200)}]")
        click.echo(f"    {flat(record.described(record.core(r.body), 400), 400)}")
    if ticked:
        click.echo(
            f"  ticked in Review.md: {ticked}" + (f" (unattested, not taken: {flat(doubt, 120)})" if doubt else "")
        )


def ask(item, ticked: str | None) -> str:  # type: ignore[no-untyped-def]
    choices = [*item.choices, "skip", "quit"]
    default = ticked if ticked in item.choices else "skip"
    return str(click.prompt("  decide", type=Letters(choices), default=default))


class Letters(click.Choice):  # type: ignore[type-arg]
    """A choice that its first letters name, as long as they name one."""

    def convert(self, value, param, ctx):  # type: ignore[no-untyped-def]
        said = str(value).strip().casefold()
        meant = [c for c in map(str, self.choices) if said and c.startswith(said)]
        if len(meant) > 1 and said not in meant:
            self.fail(f"{said!r} may be {' or '.join(meant)}: type one letter more.", param, ctx)
        return super().convert(said if said in meant or not meant else meant[0], param, ctx)
