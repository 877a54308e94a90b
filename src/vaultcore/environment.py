"""The environment that runs the bridge: made, repaired and found. `om.py setup` and `om.py test` are here.

Standard library only; Python 3.8 can run it, so that it can say what to install instead.
"""

from __future__ import annotations

import os
import sys

from vaultcore import complaints

BRIDGE = (3, 10)
SEARCHED = ("python3.13", "python3.12", "python3.11", "python3.10", "python3", "python")
MARK = "om-environment.json"
SEMANTIC = "requirements-semantic.lock"
IMPORTS = "import click, mcp.server, watchfiles, yaml"


class SetupError(Exception):
    """Set-up can't go on; the sentence says what to do."""


def outside(code: str) -> str:
    """The environment's folder when the vault lies in a synced folder, where thousands of files must not go."""
    from . import places

    return os.path.join(places.cache(code), "venv")


def folder(code: str) -> str:
    """Where set-up puts the environment: `.venv` beside om.py, or the user's cache folder for a synced vault."""
    from . import places

    inside = os.path.join(code, ".venv")
    if os.path.isdir(inside) or not places.is_synced(code):
        return inside
    return outside(code)


def interpreter(environment: str) -> str:
    if os.name == "nt":
        return os.path.join(environment, "Scripts", "python.exe")
    return os.path.join(environment, "bin", "python")


def main(code: str, command: str, arguments: list[str]) -> int:
    """Run `setup` or `test`; returns the exit code."""
    try:
        if command == "test":
            return run_tests(code, arguments)
        return run_setup(code, arguments)
    except SetupError as error:
        sys.stdout.flush()
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; run the same command again to go on", file=sys.stderr)
        return 130


def run_setup(code: str, arguments: list[str]) -> int:
    """Environment first (here), then everything that needs it: `om setup` inside that environment."""
    import subprocess

    if {"-h", "--help"} & set(arguments) and not os.path.exists(interpreter(folder(code))):
        print(
            "Usage: python3 om.py setup [--vault PATH] [--profile NAME] [--semantic] [--json]\n\n"
            "Makes the environment from the lock, adopts or completes the vault, builds the index and proves that the\n"
            "bridge works. Can be run again at any time: it repairs what is broken and leaves the rest alone."
        )
        return 0
    python = prepare(code, choose_lock(code, arguments))
    return subprocess.call(inside(code, python, "setup", arguments))


def choose_lock(code: str, arguments: list[str]) -> str:
    """The packages to install: with search by meaning when that is asked for, or was once."""
    held = read_mark(folder(code)).get("lock")
    return SEMANTIC if "--semantic" in arguments or held == SEMANTIC else "requirements.lock"


def run_tests(code: str, arguments: list[str]) -> int:
    """The test suite in the same environment, with the packages of the development lock added."""
    import subprocess

    python = prepare(code, "requirements-dev.lock")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables["PYTHONPYCACHEPREFIX"] = os.path.join(code, ".cache", "pycache")
    spread = [] if any(word.startswith(("-n", "-x", "--co", "--pdb")) for word in arguments) else ["-n", "auto"]
    return subprocess.call([python, "-m", "pytest", *spread, *arguments], cwd=code, env=variables)


def inside(code: str, python: str, command: str, arguments: list[str]) -> list[str]:
    """The argv that runs an om command in the environment."""
    cache = os.path.join(os.path.dirname(os.path.dirname(python)), "pycache")
    entry = os.path.join(code, "src", "vaultbridge", "cli", "__main__.py")
    return [python, "-I", "-X", "pycache_prefix=" + cache, entry, command, *arguments]


def prepare(code: str, lock: str) -> str:
    """Make or repair the environment so that it holds what `lock` says; returns its interpreter."""
    import json

    home = folder(code)
    python = interpreter(home)
    wanted = {"lock": lock, "hash": fingerprint(os.path.join(code, lock))}
    held = read_mark(home)
    if covers(held, wanted, code) and answers(python):
        say("environment", f"ready in {shown(home)}")
        return python
    base = None
    if not runs(python):
        if os.path.lexists(home):
            say("environment", f"{shown(home)} is broken and is made anew")
            clear(home)
        base = choose_python()
        make(base, home)
    install(python, os.path.join(code, lock))
    if not answers(python):
        raise SetupError(
            f"the environment in {home} does not work after installing: remove that folder and run set-up again"
        )
    compile_sources(python, code)
    with open(os.path.join(home, MARK), "w", encoding="utf-8") as mark:
        json.dump(wanted, mark)
    return python


def covers(held: dict[str, str], wanted: dict[str, str], code: str) -> bool:
    """Whether the environment already holds the wanted lock; the development lock holds the other one too."""
    if held == wanted:
        return True
    development = {"lock": "requirements-dev.lock", "hash": fingerprint(os.path.join(code, "requirements-dev.lock"))}
    return wanted["lock"] == "requirements.lock" and held == development


def read_mark(home: str) -> dict[str, str]:
    import json

    try:
        with open(os.path.join(home, MARK), encoding="utf-8") as mark:
            value = json.load(mark)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def fingerprint(path: str) -> str:
    import hashlib

    try:
        with open(path, "rb") as lock:
            return hashlib.sha256(lock.read()).hexdigest()
    except OSError as error:
        raise SetupError(f"{path} can't be read ({error.strerror}): get a complete copy of om-vault") from None


def choose_python() -> str:
    """A Python that the bridge can run on: this one, else the newest on PATH."""
    import shutil

    if sys.version_info >= BRIDGE:
        return sys.executable
    for name in SEARCHED:
        found = shutil.which(name)
        if found and version_of(found) >= BRIDGE:
            return found
    here = ".".join(map(str, sys.version_info[:2]))
    raise SetupError(
        f"the bridge needs Python 3.10 or newer and only {here} was found: install one (macOS: `brew install python`, "
        "Debian: `apt install python3`, Windows: `winget install Python.Python.3.13`) and run set-up again"
    )


def version_of(python: str) -> tuple[int, ...]:
    done = run([python, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"], timeout=20)
    words = done[1].split() if done[0] == 0 else []
    return tuple(int(word) for word in words) if len(words) == 2 and all(w.isdigit() for w in words) else (0,)


def runs(python: str) -> bool:
    return os.path.exists(python) and version_of(python) >= BRIDGE


def answers(python: str) -> bool:
    """Whether everything the bridge imports is there and works."""
    return os.path.exists(python) and run([python, "-I", "-c", IMPORTS], timeout=120)[0] == 0


def make(base: str, home: str) -> None:
    """An empty environment. Without pip of its own: Debian's python3 has no ensurepip, and none is needed."""
    import shutil

    say("environment", f"made in {shown(home)}")
    uv = shutil.which("uv")
    if uv:
        if run([uv, "venv", "--quiet", "--no-config", "--python", base, home], timeout=300)[0] == 0:
            return
        clear(home)
    code, text = run([base, "-m", "venv", "--without-pip", home], timeout=300)
    if code:
        raise SetupError(f"an environment could not be made in {home}: {complaints.last_line(text)}")


def install(python: str, lock: str) -> None:
    """Install exactly what the lock names, every file checked against its hash."""
    import shutil
    import time

    started = time.time()
    say("packages", f"installing from {os.path.basename(lock)} …")
    uv = shutil.which("uv")
    tried = []
    if uv:
        tried.append([uv, "pip", "sync", "--quiet", "--no-config", "--require-hashes", "--python", python, lock])
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes", "--no-deps", "-r", lock]
    for pip in pips():
        tried.append([*pip, "--python", python, "install", *options])
        tried.append([*pip, "install", "--upgrade", "--target", site_packages(python), *options])
    if not tried:
        raise SetupError(
            "neither uv nor pip was found: install pip (Debian: `apt install python3-pip`) and run set-up again"
        )
    text = ""
    call: list[str] = []
    for call in tried:
        code, text = run(call, timeout=1800)
        if code == 0:
            say("packages", f"installed in {time.time() - started:.0f} s")
            return
    raise SetupError(complaints.sentence(text, "UV" if call[0] == uv else "PIP"))


def pips() -> list[list[str]]:
    """Every pip that may serve: this Python's, then the one on PATH."""
    import shutil

    found = []
    if run([sys.executable, "-m", "pip", "--version"], timeout=60)[0] == 0:
        found.append([sys.executable, "-m", "pip"])
    for name in ("pip3", "pip"):
        path = shutil.which(name)
        if path:
            found.append([path])
            break
    return found


def site_packages(python: str) -> str:
    return run([python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], timeout=60)[1].strip()


def compile_sources(python: str, code: str) -> None:
    """Byte code ahead of the first start, ours and the packages': without it the bridge answers much later."""
    cache = "pycache_prefix=" + os.path.join(os.path.dirname(os.path.dirname(python)), "pycache")
    for folder in (os.path.join(code, "src"), site_packages(python)):
        run([python, "-I", "-X", cache, "-m", "compileall", "-q", "-j", "0", folder], timeout=600)


def run(call: list[str], timeout: float) -> tuple[int, str]:
    """A bounded child without a shell or our stdin: (exit code, what it printed)."""
    import subprocess

    try:
        done = subprocess.run(
            call,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def clear(home: str) -> None:
    import shutil

    if os.path.islink(home):
        os.unlink(home)
    else:
        shutil.rmtree(home, ignore_errors=True)


def shown(path: str) -> str:
    """A path as a person would write it."""
    home = os.path.expanduser("~")
    near = os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path
    return "~" + near[len(home) :] if near.startswith(home + os.sep) else near


def say(topic: str, text: str) -> None:
    sys.stdout.write(f"  {topic:<12} {text}\n")
    sys.stdout.flush()
