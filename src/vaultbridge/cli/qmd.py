"""`om qmd`: the optional second search engine. Set up, looked at, refreshed, served to a session in the vault."""

from __future__ import annotations

import json

import click


@click.group()
def command() -> None:
    """The optional search engine qmd: register this vault with it, refresh, look, serve."""


@command.command()
@click.option("--no-mcp", is_flag=True, help="Do not offer qmd's own tools to sessions inside the vault (.mcp.json).")
@click.pass_obj
def setup(session, no_mcp: bool) -> None:  # type: ignore[no-untyped-def]
    """Register this vault with qmd and index it. Can be run again at any time."""
    from vaultbridge.bridge import CODE, Bridge
    from vaultbridge.cli._person import at_home
    from vaultbridge.qmd import entry, upkeep
    from vaultcore.session import refresh as worker

    at_home(session.root, "qmd setup")
    bridge = Bridge(session.root, channel="person")
    for line in upkeep.setup(bridge):
        click.echo(f"  {line}")
    if not no_mcp and entry.put(bridge.root, session.code):
        click.echo("  .mcp.json offers qmd to sessions inside the vault")
    bridge.close()
    worker.mark(session.root)
    worker.start(session.root, CODE, at_once=True)


@command.command()
@click.pass_obj
def remove(session) -> None:  # type: ignore[no-untyped-def]
    """Take this vault out of qmd again, and qmd out of its .mcp.json."""
    from vaultbridge.bridge import Bridge
    from vaultbridge.cli._person import at_home
    from vaultbridge.qmd import entry, upkeep

    at_home(session.root, "qmd remove")
    bridge = Bridge(session.root, channel="person")
    for line in upkeep.remove(bridge):
        click.echo(f"  {line}")
    if entry.drop(bridge.root):
        click.echo("  .mcp.json no longer offers qmd")
    bridge.close()


@command.command()
@click.option("--no-embed", is_flag=True, help="Make no vectors.")
@click.pass_obj
def refresh(session, no_embed: bool) -> None:  # type: ignore[no-untyped-def]
    """Bring qmd's index up to the files now, ignore rules included."""
    from vaultbridge.bridge import Bridge
    from vaultbridge.qmd import program, upkeep
    from vaultcore.errors import VaultError

    bridge = Bridge(session.root, channel="person")
    program.needed(str(bridge.manifest.get("qmd_min_version")))
    if bridge.manifest.get("search.backend") == "embedded":
        raise VaultError("search.backend is embedded in this vault's manifest, so its qmd index is left as it is")
    bridge.index.refresh(budget=None, full=True)
    said = upkeep.refresh(bridge, wait=60, embed=not no_embed)
    bridge.close()
    if not said:
        raise VaultError("qmd has no index of this vault, or another process is at it: run `om qmd status`")
    for line in said:
        click.echo(f"  {line}")


@command.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def status(session, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Program, index, models, and whether a real query is answered."""
    from vaultbridge import doctor
    from vaultbridge.bridge import Bridge
    from vaultbridge.qmd import account, checks

    bridge = Bridge(session.root, channel="person")
    bridge.refresh()
    told = account(bridge)
    findings = list(checks.state(bridge))
    bridge.close()
    if as_json:
        click.echo(json.dumps({**told, "findings": [finding.data() for finding in findings]}, ensure_ascii=False))
    else:
        for key, value in told.items():
            click.echo(f"  {key:<11} {', '.join(value) if isinstance(value, list) else value}")
        for finding in findings:
            finding.check = "qmd"
            click.echo(finding.line())
    if doctor.worst(findings) == doctor.FAIL:
        raise SystemExit(1)


@command.command()
@click.pass_obj
def mcp(session) -> None:  # type: ignore[no-untyped-def]
    """qmd's own MCP server over stdio, pinned to this vault's index (what the vault's .mcp.json runs)."""
    import sys

    from vaultbridge.cli._person import at_home
    from vaultbridge.qmd import wrapper
    from vaultcore import manifest

    at_home(session.root, "qmd mcp")  # qmd knows no policy: its tools read every note
    sys.exit(wrapper.serve(session.root, manifest.load(session.root)))
