"""`python -m vaultbridge.profiles [VAULT]`: note down what this release ships."""

from __future__ import annotations

import os
import sys

from vaultbridge.profiles import inventory

if __name__ == "__main__":
    folder = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else os.getcwd())
    sys.stdout.write("written\n" if inventory.build(folder) else "up to date\n")
