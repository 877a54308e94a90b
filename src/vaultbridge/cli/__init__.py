"""The `om` command: one module per command in this package, found by its name and imported only when it runs."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import click

from vaultbridge import __version__


@dataclass
class Session:
    """What every command gets: the vault it is about, and where om's own code lies."""

    root: str
    code: str


def module_names() -> list[str]:
    """The modules that are commands."""
    here = os.path.dirname(os.path.abspath(__file__))
    names = (name[:-3] for name in os.listdir(here) if name.endswith(".py"))
    return sorted(name for name in names if not name.startswith("_"))


class Commands(click.Group):
    """Commands by module name: `import_.py` is `import`, `two_words.py` is `two-words`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name.rstrip("_").replace("_", "-") for name in module_names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        import importlib

        for name in module_names():
            if name.rstrip("_").replace("_", "-") == cmd_name:
                command = importlib.import_module(f"vaultbridge.cli.{name}").command
                return command if isinstance(command, click.Command) else None
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            if near:
                raise click.UsageError(f"{error.message} Did you mean `{near[0]}`?", ctx) from None
            raise


def find_vault(given: str | None, code: str) -> str:
    """The vault a command is about: the one named, else the one around the working directory, else our own."""
    from vaultcore import manifest
    from vaultcore.errors import VaultError

    if given is not None:
        root = os.path.realpath(os.path.expanduser(given))
        if not os.path.isdir(root):
            raise VaultError(f"{given} is not a folder: give the folder of the vault to --vault")
        return root
    try:
        around = manifest.find_root(os.getcwd())
    except OSError:  # the working directory is gone
        around = None
    return os.path.realpath(around or code)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--vault", metavar="PATH", help="The vault to work on. [default: the one around this folder, else om's own]"
)
@click.version_option(__version__, prog_name="om", message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context, vault: str | None) -> None:
    """One vault for every agent: set it up, register repositories, check, search, review."""
    from vaultbridge.bridge import CODE

    ctx.obj = Session(find_vault(vault, CODE), CODE)


def hoist(arguments: list[str]) -> list[str]:
    """`--vault PATH` in front of the command, wherever it was written."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*front, *rest, word, *words]
        if word == "--vault":
            front += [word, *[value for value in [next(words, None)] if value is not None]]
        elif word.startswith("--vault="):
            front.append(word)
        else:
            rest.append(word)
    return front + rest


def main(arguments: list[str] | None = None) -> None:
    """Run the command; a VaultError is one sentence on stderr and exit code 1."""
    from vaultcore.errors import VaultError

    for stream in (sys.stdout, sys.stderr):  # a lone surrogate or a narrow code page must not end in a traceback
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    words = hoist(sys.argv[1:] if arguments is None else arguments)
    try:
        group.main(args=words, prog_name="om", standalone_mode=False)
    except VaultError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader has gone; nothing may be flushed to it at exit
        sys.exit(0)
