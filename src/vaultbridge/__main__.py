"""What a client starts: `python -m vaultbridge [--vault PATH] [--root PATH] [--project NAME]`, over stdio."""

from __future__ import annotations

import os
import sys

if not __package__:  # started as a file, in isolated mode: nothing else puts the sources on the path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


OPTIONS = ("--vault", "--root", "--project")
HELP = """Usage: om.py serve [--vault PATH] [--root PATH] [--project NAME]

Serves the vault to one MCP client over standard input and output, until the client goes away. Clients start it: what
`om register` writes into their configuration does.

  --vault PATH    The vault to serve. [default: $OM_VAULT, else the one that this program lies in]
  --root PATH     The folder that the client works in, for clients that can't say it themselves.
  --project NAME  The project's name, as a registration declares it.
"""


def fault(arguments: list[str]) -> str:
    """What is wrong with the words of the command line, as a sentence; "" when nothing is."""
    words = iter(arguments)
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in OPTIONS:
            what = "no such option" if word[:1] == "-" else "a word too many"
            return f"serve: {what}: {word[:100]!r} (it takes {', '.join(OPTIONS)}; --help says more)"
        if not equals and next(words, None) is None:
            return f"serve: {option} needs a value (--help says more)"
    return ""


def main(arguments: list[str]) -> None:
    """Serve one client until it goes away. Never returns."""
    if "--help" in arguments or "-h" in arguments:
        sys.stdout.write(HELP)
        sys.exit(0)
    wrong = fault(arguments)
    if wrong:
        sys.stderr.write(f"Error: {wrong}\n")
        sys.exit(2)
    if os.name == "nt":  # select() knows no pipes there
        from vaultbridge import serving

        serving.serve_plainly(arguments)
    else:
        from vaultbridge import boot

        boot.serve(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
