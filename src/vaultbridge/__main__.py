"""What a client starts: `python -m vaultbridge [--vault PATH] [--root PATH] [--project NAME]`, over stdio."""

from __future__ import annotations

import os
import sys

if not __package__:  # started as a file, in isolated mode: nothing else puts the sources on the path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main(arguments: list[str]) -> None:
    """Serve one client until it goes away. Never returns."""
    if os.name == "nt":  # select() knows no pipes there
        from vaultbridge import serving

        serving.serve_plainly(arguments)
    else:
        from vaultbridge import boot

        boot.serve(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
