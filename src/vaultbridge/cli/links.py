"""`om links NOTE`: where a note leads, and what leads to it."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command()
@click.argument("note")
@click.option("--json", "as_json", is_flag=True, help="The links as JSON.")
@click.pass_obj
def command(session, note: str, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Show the links in NOTE (a path, name or alias), what each means, what is broken, and what links to it."""
    from vaultbridge.checks.snapshot import Snapshot
    from vaultbridge.cli._person import at_home
    from vaultbridge.fence import flat

    at_home(session.root, "links", reading=True)
    vault = Snapshot(session.root)
    try:
        data = describe(vault, note)
    finally:
        vault.close()
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False))
        return
    click.echo(click.style(flat(data["note"], 200), bold=True))
    click.echo("links to:" if data["links"] else "links to nothing")
    for link in data["links"]:
        wrong = "; ".join(link["problems"])
        goal = link["path"] or "nothing"
        click.echo(
            f"  line {link['line']:>4}  {flat(link['written'], 100)} -> {flat(goal, 120)}"
            + (f"  ! {flat(wrong, 200)}" if wrong else "")
        )
    click.echo("linked from:" if data["backlinks"] else "nothing links here")
    for back in data["backlinks"]:
        click.echo(f"  {flat(back['path'], 120)}:{back['line']}  {flat(back['text'], 140)}")


def describe(vault: Any, name: str) -> dict[str, Any]:
    """The links of one note as data. Raises VaultError when no note or several have the name."""
    from vaultbridge.checks import links as rules

    rel = one(vault, name)
    found = []
    for link in vault.index.links_from(rel):
        place = vault.resolve(link)
        problems = [
            finding.message + (f" ({finding.fix})" if finding.fix else "")
            for finding in rules.broken(vault, link, place)
        ]
        if place.ambiguous:
            problems.append("could also mean " + ", ".join(place.candidates[1:4]))
        found.append(
            {
                "written": link.raw, "line": link.line, "path": None if place.kind == "alias" else place.rel,
                "embed": link.embed, "in_properties": link.in_properties, "problems": problems,
            }
        )  # fmt: skip
    return {
        "note": rel,
        "links": found,
        "broken": sum(bool(link["problems"]) for link in found),
        "backlinks": list(backlinks(vault, rel)),
    }


def one(vault: Any, name: str) -> str:
    from vaultbridge.lookup import bare
    from vaultcore.errors import VaultError

    wanted = bare(name)
    rels = [rel for rel in vault.index.named(wanted) if rel[-3:].lower() == ".md"]
    if len(rels) == 1:
        return str(rels[0])
    if rels:
        raise VaultError(f"{len(rels)} notes are called {wanted[:120]!r}: give one path of {', '.join(rels[:8])}")
    near = vault.index.similar(wanted, 3)
    hint = f"did you mean {', '.join(near)}?" if near else "search for it"
    raise VaultError(f"no note is called {wanted[:160]!r}: {hint}")


def backlinks(vault: Any, rel: str) -> Any:
    """Each place that links to the note, with the line it stands in."""
    for source in vault.index.links_to(rel):
        document = vault.document(source)
        for link in vault.index.links_from(source):
            if vault.resolve(link).rel == rel:
                text = document.lines[link.line - 1].strip() if document and link.line <= len(document.lines) else ""
                yield {"path": source, "line": link.line, "text": text[:300]}
