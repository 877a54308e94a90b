"""`om check`: what is wrong in the vault."""

from __future__ import annotations

import json
import sys

import click

SHOWN = 12


@click.command()
@click.argument("paths", nargs=-1)
@click.option("--rule", "rules", metavar="RULE", multiple=True, help="Only findings of this rule; can be repeated.")
@click.option(
    "--level", type=click.Choice(["error", "warning", "note"]), default="note", show_default=True,
    help="Only findings at least this serious.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help=f"Show all findings of a rule, not only the first {SHOWN}.")
@click.option("--json", "as_json", is_flag=True, help="All findings as JSON.")
@click.pass_obj
def command(session, paths, rules, level, everything, as_json) -> None:  # type: ignore[no-untyped-def]
    """Check properties, links, names, bases, canvases, skills and the manifest; PATHS: only these notes or folders.

    Exit code 1 when something is broken (an error); warnings and notes don't count.
    """
    from vaultbridge import checks
    from vaultbridge.checks.finding import LEVELS
    from vaultbridge.cli._person import at_home
    from vaultbridge.fence import flat
    from vaultcore.numerals import counted

    at_home(session.root, "check", reading=True)
    outcome = checks.run(session.root, tuple(paths))
    serious = LEVELS[: LEVELS.index(level) + 1]
    findings = [item for item in outcome.findings if item.level in serious and (not rules or item.rule in rules)]
    counts = {name: sum(item.level == name for item in findings) for name in LEVELS}
    if as_json:
        data = {"checked": outcome.checked, "counts": counts, "findings": [item.data() for item in findings]}
        click.echo(json.dumps(data, ensure_ascii=False))
    else:
        by_rule: dict[str, list[checks.Finding]] = {}
        for item in sorted(findings, key=lambda item: LEVELS.index(item.level)):
            by_rule.setdefault(item.rule, []).append(item)
        for rule, items in by_rule.items():
            click.echo(f"{click.style(rule, bold=True)} ({items[0].level}, {len(items)})")
            for item in items if everything else items[:SHOWN]:
                click.echo(f"  {flat(item.sentence(), 300)}")
            if len(items) > SHOWN and not everything:
                click.echo(f"  … and {len(items) - SHOWN} more: --rule {rule} --all")
        said = ", ".join(counted(number, name) for name, number in counts.items() if number)
        click.echo(f"{counted(outcome.checked, 'note')} checked: {said or 'nothing to mend'}")
    sys.exit(1 if outcome.errors and counts["error"] else 0)
