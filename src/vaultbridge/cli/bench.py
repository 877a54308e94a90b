"""`om bench`: what the design promises, measured here."""

from __future__ import annotations

import importlib
import json
import sys

import click

NAMES = ("hooks", "bridge", "search", "memory")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", type=click.Choice(NAMES))
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
@click.option("--notes", metavar="N,N", help="Sizes of the generated vaults, for hooks and bridge.")
@click.option("--runs", type=click.IntRange(1), help="How often each thing is measured.")
@click.option("--arm", type=click.Choice(["raw", "keyed", "off"]), help="memory: how facts are told.")
@click.option("--auto-retire", type=click.Choice(["key", "sentence", "off"]), help="memory: the manifest's switch.")
@click.option("--with", "engines", metavar="LANE,LANE", help="search: engines beside the embedded one.")
@click.pass_obj
def command(session, /, name: str, as_json: bool, **options: object) -> None:  # type: ignore[no-untyped-def]
    """Measure the hooks, the bridge, the search or the memory, as ratios within one run, on generated vaults."""
    sys.path.insert(0, session.code)
    measured = importlib.import_module(f"bench.{name}")
    given = {key: value for key, value in options.items() if value is not None}
    result = measured.run({**given, "code": session.code})
    click.echo(json.dumps(result, ensure_ascii=False) if as_json else measured.table(result))
