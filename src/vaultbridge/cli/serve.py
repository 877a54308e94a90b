"""`om serve`: the bridge on stdin and stdout. `om.py serve` starts it without coming through here."""

from __future__ import annotations

import os
import sys

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option(
    "--root", metavar="PATH", help="The folder that the client works in, for clients that can't say it themselves."
)
@click.option("--project", metavar="NAME", help="The project's name, as a registration declares it.")
@click.pass_context
def command(ctx: click.Context, root: str | None, project: str | None) -> None:
    """Serve the vault to one MCP client over stdio."""
    session = ctx.obj
    entry = os.path.join(session.code, "src", "vaultbridge", "__main__.py")
    call = [sys.executable, *sys.orig_argv[1 : sys.orig_argv.index(sys.argv[0])], entry, "--vault", session.root]
    if root:
        call += ["--root", root]
    if project:
        call += ["--project", project]
    call += ctx.args  # what is left is not ours: the server says so
    os.execv(sys.executable, call)
