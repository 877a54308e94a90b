"""What git knows, asked briefly: five seconds at most, no shell, no prompts, no hooks; None where git cannot say."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TIMEOUT = 5.0
_MOST_BYTES = 4_000_000
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_URL = re.compile(r"\s*url\s*=\s*(.+?)\s*$", re.IGNORECASE)


class Commit:
    """One commit: its full hash, when (ISO 8601 with offset), its subject line and the paths it touched."""

    __slots__ = ("paths", "sha", "subject", "when")

    def __init__(self, sha: str, when: str, subject: str, paths: list[str]) -> None:
        self.sha = sha
        self.when = when
        self.subject = subject
        self.paths = paths


def head_changes(root: str, hours: float, limit: int = 200, timeout: float = 0) -> list[Commit] | None:
    """Return the commits of the last `hours`, newest first, with paths relative to `root`; None without git.

    `timeout`: seconds that git may take here, if fewer than elsewhere.
    """
    if toplevel(root) is None:
        return None
    since = f"--since={int(hours * 3600)} seconds ago"
    out = _git(
        root, "log", since, f"--max-count={limit}", "--no-renames", "--name-only", "--relative", "-z",
        "--format=%x01%H%x02%cI%x02%s%x02", timeout=timeout,
    )  # fmt: skip
    if out is None:
        return None
    commits = []
    for part in out.split("\x01")[1:]:
        fields = part.split("\x02")
        if len(fields) >= 4:
            paths = [path for path in re.split("[\0\n]", fields[3]) if path]
            commits.append(Commit(fields[0], fields[1], fields[2], paths))
    return commits


def root_commit(path: str) -> str | None:
    """Return the hash of the first commit along the main line of HEAD: what all clones of a repository share."""
    folder = toplevel(path)
    if folder is None:
        return None
    common = _common(folder)
    if common is None or os.path.exists(os.path.join(common, "shallow")):
        return None  # a shallow clone's first commit is an accident of its depth
    out = _git(folder, "rev-list", "--max-parents=0", "--first-parent", "HEAD")
    lines = (out or "").split()
    return lines[-1] if lines and re.match(r"[0-9a-f]{40,64}\Z", lines[-1]) else None


def remote(path: str) -> str | None:
    """Return the URL of `origin` (else the first remote) without credentials, read from the config file."""
    folder = toplevel(path)
    common = _common(folder) if folder else None
    if common is None:
        return None
    urls: dict[str, str] = {}
    name = None
    for line in _text(os.path.join(common, "config")).splitlines():
        section = _SECTION.match(line)
        if section:
            name = section.group(2) if section.group(1).lower() == "remote" else None
            line = line[section.end() :]
        found = _URL.match(line) if name else None
        if found and name:
            urls.setdefault(name, found.group(1).strip('"'))
    url = urls.get("origin") or next(iter(urls.values()), None)
    return re.sub(r"(?<=://)[^/@]*@", "", url) if url else None


def toplevel(path: str) -> str | None:
    """Return the real path of the work tree that `path` lies in; no process is started."""
    folder = os.path.realpath(path)
    while True:
        mark = os.path.join(folder, ".git")
        if os.path.isfile(mark) or os.path.exists(os.path.join(mark, "HEAD")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def main_worktree(path: str) -> str | None:
    """Return the work tree that a linked one belongs to (for any other: its own top); no process is started."""
    folder = toplevel(path)
    if folder is None or os.path.isdir(os.path.join(folder, ".git")):
        return folder
    own = _git_folder(folder)
    common = _common(folder)
    if own is None or common is None or os.path.realpath(own) == os.path.realpath(common):
        return folder  # a submodule, or a repository with its git folder elsewhere
    if os.path.basename(common) == ".git":
        return os.path.dirname(common)
    return folder if not os.path.isdir(common) else common


def last_commits(path: str, rels: Iterable[str]) -> dict[str, tuple[str, str]] | None:
    """Return rel -> (hash, when) of the last commit that touched each of `rels`; those never committed are absent."""
    wanted = set(rels)
    if toplevel(path) is None:
        return None
    if not wanted:
        return {}
    names = sorted(wanted) if len(wanted) <= 200 else ["."]
    out = _git(
        path, "--literal-pathspecs", "log", "--max-count=5000", "--no-renames", "--name-only", "--relative", "-z",
        "--format=%x01%H%x02%cI%x02", "--", *names,
    )  # fmt: skip
    if out is None:
        return None
    found: dict[str, tuple[str, str]] = {}
    for part in out.split("\x01")[1:]:
        fields = part.split("\x02")
        if len(fields) >= 3:
            for name in re.split("[\0\n]", fields[2]):
                if name in wanted:
                    found.setdefault(name, (fields[0], fields[1]))
    return found


def files(root: str, untracked: bool = True) -> list[str] | None:
    """Return what git tracks below `root`, and what it would track (not ignored), relative to it; None without git."""
    if toplevel(root) is None:
        return None
    others = ("--others", "--exclude-standard") if untracked else ()
    out = _git(root, "ls-files", "--cached", *others, "-z")
    return None if out is None else sorted({name for name in out.split("\0") if name})


def versions(root: str, rel: str, limit: int = 20) -> Iterator[bytes]:
    """Yield the content that the text file `rel` had in its last commits, newest first; nothing without git."""
    if toplevel(root) is None:
        return
    out = _git(root, "--literal-pathspecs", "log", f"--max-count={limit}", "--format=%H", "--", rel) or ""
    for commit in out.split():
        text = _git(root, "show", f"{commit}:./{rel}")
        if text is not None:
            yield text.encode()


def _git_folder(folder: str) -> str | None:
    mark = os.path.join(folder, ".git")
    if os.path.isdir(mark):
        return mark
    line = _text(mark).strip()
    if not line.startswith("gitdir:"):
        return None
    return os.path.normpath(os.path.join(folder, line[7:].strip()))


def _common(folder: str) -> str | None:
    """Return the git folder that all work trees of a repository share."""
    own = _git_folder(folder)
    if own is None:
        return None
    shared = _text(os.path.join(own, "commondir")).strip()
    return os.path.realpath(os.path.join(own, shared)) if shared else os.path.realpath(own)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(200_000)
    except OSError:
        return ""


def _git(folder: str, *arguments: str, timeout: float = 0) -> str | None:
    import subprocess

    # A repository's own configuration can name programs to run; none of them is needed to read history.
    command = ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or "CONFIG" in key}
    environment.update(GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", LC_ALL="C", GIT_NO_LAZY_FETCH="1")
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=timeout or _TIMEOUT, check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout[:_MOST_BYTES].decode("utf-8", "replace") if done.returncode == 0 else None


def renames(path: str, rels: Iterable[str]) -> dict[str, str]:
    """Return rel -> the name it bears now, for files that are gone, followed through the last 5,000 commits."""
    wanted = set(rels)
    if not wanted or toplevel(path) is None:
        return {}
    out = _git(
        path, "log", "--max-count=5000", "-M", "--diff-filter=R", "--name-status", "--relative", "-z", "--format="
    )
    words = [word.strip("\n") for word in (out or "").split("\0") if word.strip("\n")]
    newer: dict[str, str] = {}  # newest first, so a later name is known when an earlier rename is met
    at = 0
    while at + 2 < len(words):
        if not re.match(r"R\d+\Z", words[at]):
            at += 1
            continue
        old, new = words[at + 1], words[at + 2]
        newer.setdefault(old, newer.get(new, new))
        at += 3
    return {rel: newer[rel] for rel in wanted if rel in newer and os.path.lexists(os.path.join(path, newer[rel]))}
