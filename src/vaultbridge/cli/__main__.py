"""`python <this file> COMMAND …`: how om.py starts a command; puts our sources on the path first."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from vaultbridge.cli import main

if __name__ == "__main__":
    main(sys.argv[1:])
