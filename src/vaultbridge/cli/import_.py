"""`om import`: memories from another system."""

from __future__ import annotations

import json
import os

import click

KINDS = ("claude", "chatgpt", "memory-json", "basic-memory", "obsidian-mind")


@click.command()
@click.argument("path")
@click.option("--from", "kind", type=click.Choice(KINDS), help="What it is. [default: found out]")
@click.option("--project", "projects", multiple=True, metavar="NAME", help="Whom they reach; may be repeated.")
@click.option("--general", is_flag=True, help="They reach everybody.")
@click.option("--accept", is_flag=True, help="As memories at once, not as proposals; only at a terminal.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_obj
def command(  # type: ignore[no-untyped-def]
    session,
    path: str,
    kind: str | None,
    projects: tuple[str, ...],
    general: bool,
    accept: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take the export at PATH over: a Claude or ChatGPT export, a memory.json, a basic-memory folder, another vault's
    memories. They wait in the inbox until `om review`; what is here already stays as it is here; what was ruled out
    stays out."""
    from vaultbridge.cli import _person
    from vaultbridge.fence import flat
    from vaultcore.errors import Refusal
    from vaultcore.memory import exports, intake
    from vaultcore.memory.memories import Writer
    from vaultcore.memory.reach import PERSON

    if accept:
        _person.require("import --accept")
    full = os.path.realpath(os.path.expanduser(path))
    if not os.path.exists(full):
        raise Refusal("missing", f"{flat(path, 200)} is not there.", "Name a file or folder.")
    kind = kind or exports.kind_of(full)
    if kind != "obsidian-mind" and not (projects or general):
        raise Refusal("no-reach", "Nothing says whom these memories reach.", "Add --project NAME, or --general.")
    reach: dict[str, object] = (
        {"scope": "general", "generality": "imported by a person for every project"}
        if general
        else {"scope": "project", "projects": list(projects)}
    )
    bridge, held = _person.opened(session.root)
    who = "a person" if _person.at_terminal() else "import"
    report = intake.take(
        held, exports.read(full, kind), Writer(who, "", (), PERSON, "import"), reach, not accept, dry_run
    )
    bridge.audit.record("import", None, kind=kind, taken=len(report.taken), refused=len(report.refused))
    if as_json:
        click.echo(json.dumps({name: getattr(report, name) for name in report.__slots__}, ensure_ascii=False))
        return
    words = {
        "taken": "Would be taken over" if dry_run else "Taken over" if accept else "Proposed (om review decides)",
        "known": "Known already", "kept": "Different here, left as it is here", "refused": "Left out",
    }  # fmt: skip
    for name, word in words.items():
        rows = getattr(report, name)
        if rows:
            click.echo(f"{word}: {len(rows)}")
            for title, why in rows[:20]:
                click.echo(f"  {flat(title, 100)}: {flat(why, 200)}")
            if len(rows) > 20:
                click.echo(f"  {len(rows) - 20} more")
    if not any(getattr(report, name) for name in words):
        click.echo(f"Nothing in this {kind} export is a memory.")
