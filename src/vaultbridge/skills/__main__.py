"""`python -m vaultbridge.skills [VAULT]`: bring the mirrors up to date and say which files changed."""

from __future__ import annotations

import os
import sys

from vaultbridge.skills import build


def main(arguments: list[str]) -> int:
    root = os.path.realpath(arguments[0] if arguments else os.getcwd())
    changed = build(root)
    for path in changed:
        sys.stdout.write(f"{path}\n")
    sys.stdout.write(f"{len(changed)} files written\n" if changed else "everything is up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
