"""qmd as a program: where it is, whether it can be used, and running one of its commands to its end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from vaultcore import places
from vaultcore.errors import VaultError

if TYPE_CHECKING:
    from vaultcore.qmd import Index

PACKAGE = os.path.join("@tobilu", "qmd")
ENTRY = os.path.join("dist", "cli", "qmd.js")
FLOOR = (2, 8, 3)  # before it links were followed out of a folder and commands in a cloned configuration were run
NODE = (22,)
INSTALL = "npm install -g @tobilu/qmd"
REMEMBER = 30.0  # seconds for which a look around stays true

_found: tuple[float, tuple[object, ...], Program | str | None] | None = None


class Program:
    """A qmd that can be run: Node, the entry script, its version."""

    __slots__ = ("entry", "node", "version")

    def __init__(self, node: str, entry: str, version: str) -> None:
        self.node, self.entry, self.version = node, entry, version

    def command(self, index: Index, *words: str) -> list[str]:
        """The argv for one of qmd's commands on an index; the entry script itself, because killing the launcher leaves
        its child running."""
        return [self.node, self.entry, "--index", index.name, *words]


def find(least: str = "") -> Program | str | None:
    """qmd as installed; a sentence why the one that is there cannot be used; None when there is none.

    `least`: the oldest version taken (the manifest's qmd_min_version), if newer than our own floor. No process is
    started unless the package is there. OM_QMD (the entry script) and OM_NODE override the search.
    """
    global _found
    asked = (least, *(os.environ.get(name) for name in ("PATH", "OM_QMD", "OM_NODE", "HOME")))
    if _found is not None and _found[1] == asked and time.monotonic() - _found[0] < REMEMBER:
        return _found[2]
    answer = _look(least)
    _found = (time.monotonic(), asked, answer)
    return answer


def _look(least: str) -> Program | str | None:
    package = _package()
    if package is None:
        return None
    version = _version_of(package)
    needed = max(FLOOR, _numbers(least))
    if _numbers(version) < needed:
        wanted = ".".join(map(str, needed))
        return f"qmd {version or 'of unknown version'} is older than {wanted}: run `{INSTALL}`"
    node = _node(package)
    if node is None:
        return f"qmd {version} needs Node {NODE[0]} or newer on PATH: install it"
    return Program(node, os.path.join(package, ENTRY), version)


def _package() -> str | None:
    """The folder of the installed package, by looking at files only."""
    chosen = os.environ.get("OM_QMD")
    if chosen:
        entry = os.path.realpath(chosen)
        return entry[: -len(ENTRY) - 1] if entry.endswith(os.sep + ENTRY) and os.path.isfile(entry) else None
    places_: list[str] = []
    launcher = shutil.which("qmd")
    if launcher:
        real = os.path.realpath(launcher)
        if os.sep + PACKAGE + os.sep in real:
            places_.append(real[: real.index(os.sep + PACKAGE + os.sep)])
        places_.append(os.path.join(os.path.dirname(launcher), "node_modules"))  # npm's shim on Windows
        places_.append(os.path.join(os.path.dirname(launcher), "..", "lib", "node_modules"))
    node = shutil.which("node")
    if node:
        for beside in (node, os.path.realpath(node)):
            places_.append(os.path.join(os.path.dirname(os.path.dirname(beside)), "lib", "node_modules"))
            places_.append(os.path.join(os.path.dirname(beside), "node_modules"))
    home = os.path.expanduser("~")
    places_.append(os.path.join(home, ".npm-global", "lib", "node_modules"))
    places_.append(os.path.join(home, ".bun", "install", "global", "node_modules"))
    for folder in places_:
        package = os.path.join(os.path.abspath(folder), PACKAGE)
        if os.path.isfile(os.path.join(package, ENTRY)):
            return package
    return None


def _version_of(package: str) -> str:
    try:
        with open(os.path.join(package, "package.json"), encoding="utf-8") as file:
            declared = json.loads(file.read(200_000))
    except (OSError, ValueError):
        return ""
    version = declared.get("version") if isinstance(declared, dict) else None
    return version if isinstance(version, str) else ""


def _node(package: str) -> str | None:
    """The first Node that is new enough: the one qmd was installed with before the one on PATH."""
    beside = os.path.join(package, "..", "..", "..", "..", "bin", "node")
    for candidate in (os.environ.get("OM_NODE"), os.path.abspath(beside), shutil.which("node")):
        if candidate and os.access(candidate, os.X_OK):
            done = run([candidate, "--version"], 10)
            if done[0] == 0 and _numbers(done[1]) >= NODE:
                return candidate
    return None


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\s*v?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def needed(least: str = "") -> Program:
    """qmd, or VaultError with what to install."""
    found = find(least)
    if isinstance(found, Program):
        return found
    raise VaultError(found or f"qmd is not installed: run `{INSTALL}` (it needs Node {NODE[0]} or newer)")


def environment(index: Index) -> dict[str, str]:
    """The environment of every qmd process: the index pinned by path as well as by name, its logs quiet.

    Makes the store's folder, which qmd does not do for a path that it is given.
    """
    os.makedirs(os.path.dirname(index.store), exist_ok=True)
    quiet = {"LLAMA_LOG_LEVEL": "error", "GGML_LOG_LEVEL": "error", "GGML_BACKEND_SILENT": "1", "NO_COLOR": "1"}
    return {**os.environ, **quiet, "INDEX_PATH": index.store}


def qmd(program: Program, root: str, index: Index, *words: str, timeout: float) -> tuple[int, str]:
    """Run one command of qmd outside the vault (a `.qmd` folder inside it would be obeyed); see `run`."""
    return run([*leash(), *program.command(index, *words)], timeout, environment(index), places.cache(root))


def leash() -> list[str]:
    """What goes before a command so that it ends when the thread that started it does, killed or not. Elsewhere than on
    Linux the end of its stdin tells a server, as soon as it is idle."""
    found = shutil.which("setpriv") if sys.platform == "linux" else None
    return [os.path.realpath(found), "--pdeathsig", "KILL", "--"] if found else []


def run(
    call: list[str], timeout: float, variables: dict[str, str] | None = None, cwd: str | None = None
) -> tuple[int, str]:
    """(exit code, the last 20,000 characters it printed) of a child with no stdin, in a process group that ends with
    it. -1 when it did not start or had to be ended."""
    try:
        child = subprocess.Popen(
            call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables, cwd=cwd,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return -1, f"{call[0]} did not start ({error.strerror})"
    try:
        printed, _ = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        end_group(child)
        return -1, f"it was ended after {timeout:.0f} s"
    except BaseException:
        end_group(child)
        raise
    return child.returncode, printed.decode("utf-8", "replace")[-20_000:]


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and everything it started, and collect it."""
    try:
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
    except (OSError, ProcessLookupError):
        pass
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                pass
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        pass


def last_line(printed: str) -> str:
    """What a failed command said, in one line."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or ["it gave no reason"])[-1][:200]
