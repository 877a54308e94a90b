"""`om new TYPE TITLE`: a note from its template."""

from __future__ import annotations

import json
from datetime import datetime

import click


@click.command()
@click.argument("type", default="")
@click.argument("title", default="")
@click.option("--list", "list_types", is_flag=True, help="Show the types there are.")
@click.option("--folder", metavar="PATH", help="Put it here instead of where its type goes.")
@click.option(
    "--set", "pairs", metavar="NAME=VALUE", multiple=True, help="A property; lists with commas. Can be repeated."
)
@click.option("--description", metavar="TEXT", help="The description, in one line.")
@click.option("--index", metavar="NOTE", help="List it in this note (NOTE#Heading) instead of its type's index.")
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="Its date. [default: today]")
@click.option("--dry-run", is_flag=True, help="Show the note and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
@click.pass_obj
def command(session, type, title, list_types, folder, pairs, description, index, day, dry_run, as_json) -> None:  # type: ignore[no-untyped-def]
    """Make a note of TYPE called TITLE from its template, in its folder, listed in its index. Never overwrites."""
    from vaultbridge import templates
    from vaultbridge.cli._person import at_home
    from vaultbridge.templates.creation import choose_values
    from vaultcore.errors import VaultError

    at_home(session.root, "new")
    if list_types or not type:
        rows = [
            {"type": kind.name, "template": kind.template, "folder": kind.folder, "index": kind.index or None}
            for kind in templates.types(session.root)
        ]
        if as_json:
            click.echo(json.dumps({"types": rows}, ensure_ascii=False))
        else:
            for row in rows:
                click.echo(f"{row['type']:<16} {row['folder']}")
        return
    if not title.strip():
        raise VaultError(f'a title is needed: om new {type} "TITLE"')
    kind = templates.find(session.root, type)
    now = datetime.now()
    when = day.replace(hour=now.hour, minute=now.minute) if day else now
    values = choose_values(session.root, pairs)
    if description:
        values["description"] = " ".join(description.split())
    made = templates.plan(session.root, kind, title, when=when, folder=folder, values=values, link=index)
    if not dry_run:
        templates.write(session.root, made)
    if not description and "description" not in values:
        made.remarks.append("its description is still the template's: say what a reader finds in it")
    listing = made.listing[0] if made.listing else None
    if as_json:
        data = {
            "path": made.rel, "title": made.title, "type": kind.name, "listed_in": listing, "remarks": made.remarks,
            "written": not dry_run, "text": made.text,
        }  # fmt: skip
        click.echo(json.dumps(data, ensure_ascii=False))
        return
    click.echo(f"{'would make' if dry_run else 'made'} {made.rel}" + (f", listed in {listing}" if listing else ""))
    for remark in made.remarks:
        click.echo(f"  {remark}")
    if dry_run:
        click.echo(made.text)
