"""The command lines that can answer: which one is used, where it is, and the environment it gets."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable

NAMES = ("claude", "codex", "gemini")
INSIDE = "OM_REASONING"  # set in the environment of every run: a bridge that finds it does not start another

# where installers put them; a client started from a desktop often has a short PATH
USUAL = ("~/.local/bin", "~/.claude/local", "~/.npm-global/bin", "~/.bun/bin", "/opt/homebrew/bin", "/usr/local/bin")

PLAIN = frozenset(
    {
        "HOME", "USER", "LOGNAME", "USERNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "PATH", "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
        "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
        "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
    }
)  # fmt: skip
CLOUD = ("AWS_", "GOOGLE_", "CLOUD_ML_", "AZURE_", "VERTEX_")
OWN = {
    "claude": (
        "ANTHROPIC_", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", *CLOUD,
    ),
    "codex": ("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE", "OPENAI_", *CLOUD),
    "gemini": ("GEMINI_API_KEY", *CLOUD),
}  # fmt: skip


class Program:
    """One agent's command line: its name (claude, codex, gemini) and the absolute path of its executable."""

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path


def choose(choice: str) -> Program | str:
    """The program for the manifest's `reason.cli`, or one sentence why there is none."""
    wanted = NAMES if choice not in NAMES else (choice,)
    for name in wanted:
        found = find(name)
        if found is not None:
            return found
    if len(wanted) > 1:
        return (
            f"none of {', '.join(NAMES[:-1])} and {NAMES[-1]} is installed where om looks (PATH and the usual folders)"
        )
    return f"reason.cli is {choice}, which is not installed where om looks (PATH and the usual folders)"


def find(name: str) -> Program | None:
    """An installed program. OM_CLAUDE, OM_CODEX and OM_GEMINI name its executable outright."""
    chosen = os.environ.get(f"OM_{name.upper()}")
    if chosen:
        path = os.path.abspath(os.path.expanduser(chosen))
        return Program(name, path) if _runnable(path) else None
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    folders += [os.path.expanduser(folder) for folder in USUAL]
    path = shutil.which(name, path=os.pathsep.join(folders)) or ""
    return Program(name, path) if _runnable(path) else None


def _runnable(path: str) -> bool:
    """A batch file is none: it can only be started through a shell."""
    return os.path.isfile(path) and os.access(path, os.X_OK) and not path.lower().endswith((".cmd", ".bat", ".ps1"))


def environment(program: Program, temp: str, extra: Iterable[str] = ()) -> dict[str, str]:
    """What the program gets of our environment: a list of what it may know, not of what it may not.

    Left out are the variables by which it would take the client's project, session or options for its own. `extra`
    names more variables to pass on. `temp` becomes its temporary folder.
    """
    wanted = set(extra)
    kept = {}
    for key, value in os.environ.items():
        name = key.upper()
        if name in PLAIN or name.startswith("LC_") or key in wanted or name.startswith(OWN[program.name]):
            kept[key] = value
    bin_folder = os.path.dirname(program.path)
    path = kept.get("PATH", os.defpath)
    if bin_folder not in path.split(os.pathsep):  # its own Node stands beside it
        path = path + os.pathsep + bin_folder
    kept.update({"PATH": path, "TMPDIR": temp, "NO_COLOR": "1", "TERM": "dumb", INSIDE: "1"})
    if sys.platform == "win32":
        kept.update({"TEMP": temp, "TMP": temp})
    return kept
