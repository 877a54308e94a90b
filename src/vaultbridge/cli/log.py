"""`om log`: every mutation and refusal, and whether the chain holds."""

from __future__ import annotations

import json
import re
from typing import Any

import click


@click.command()
@click.argument("what", required=False, type=click.Choice(["show", "verify"]), default="show")
@click.option("--memory", metavar="ID", help="Only lines about this memory.")
@click.option("--last", "-n", type=click.IntRange(1), default=50, show_default=True, help="How many lines.")
@click.option("--json", "as_json", is_flag=True, help="The lines as they are.")
@click.pass_obj
def command(session, what: str, memory: str | None, last: int, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Show the newest lines of .om/log, or `verify` every clone's chain and name the first bad line."""
    from vaultbridge.cli import _person
    from vaultbridge.fence import flat
    from vaultcore.errors import VaultError
    from vaultcore.numerals import counted

    _, held = _person.opened(session.root)
    journal = held.journal
    if what == "verify":
        bad = journal.verify()
        if bad:
            raise VaultError("The log does not hold: " + "; ".join(b.sentence() for b in bad))
        lines = counted(sum(1 for _ in journal.lines()), "line")
        click.echo(f"{lines} of {counted(len(journal.writers()), 'clone')}, every chain holds.")
        return
    rows = journal.mentioning([memory]) if memory else list(journal.lines())
    for line in rows[-last:]:
        if as_json:
            click.echo(json.dumps(line, ensure_ascii=False, sort_keys=True))
            continue
        extra = [
            f"{k}={flat(line[k], 120)}"
            for k in ("code", "reason", "forced", "unasked", "verdict", "problem", "was")
            if line.get(k)
        ]
        click.echo(
            f"{line.get('at', '')}  {line.get('op', ''):<10} {flat(line.get('channel', ''), 10):<8} "
            f"{flat(line.get('caller', ''), 30)}  {subject(line)}  {' '.join(extra)}".rstrip()
        )


def subject(line: dict[str, Any]) -> str:
    """What a line is about: the id, and the place without the title, which may be what somebody forgot."""
    from vaultbridge.fence import flat

    ident, path = str(line.get("id") or ""), str(line.get("path") or "")
    folder, _, name = path.rpartition("/")
    dated = re.match(r"\d{4}-\d\d-\d\d(?= )", name)
    place = f"{folder}/{dated.group()}" if dated else path if not ident else folder
    return flat("  ".join(part for part in (ident, place) if part), 160)
