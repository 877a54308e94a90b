"""The releases of a template: its tags vX.Y.Z, fetched into a bare repository in the vault's cache folder."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from typing import NamedTuple

from vaultcore import places
from vaultcore.errors import VaultError

TAG = re.compile(r"v(\d{1,6})\.(\d{1,6})\.(\d{1,6})\Z")
FETCH = 600.0
LOCAL = 60.0
MOST_BYTES = 50_000_000
MOST_COMMITS = 2_000
SETTINGS = ("gc.auto=0", "http.lowSpeedLimit=1", "http.lowSpeedTime=60")
# What ties git to another repository than the one that is meant.
FOREIGN = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX",
)  # fmt: skip


class GitError(VaultError):
    """Git could not do it; the sentence is git's own last line."""


class Blob(NamedTuple):
    """One entry of a tree: git's mode (100644, 100755, …), the hash of its content, its size in bytes."""

    mode: str
    sha: str
    size: int

    @property
    def plain(self) -> bool:
        """Whether it is a file that an update carries over: no link, no submodule, not larger than 50 MB."""
        return self.mode in ("100644", "100755") and self.size <= MOST_BYTES


def parse(version: str) -> tuple[int, int, int] | None:
    """(1, 2, 3) for 1.2.3 or v1.2.3; None for anything else."""
    match = TAG.match(version if version.startswith("v") else "v" + version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def text(version: tuple[int, int, int]) -> str:
    """1.2.3, as the manifest writes it."""
    return ".".join(map(str, version))


def run(folder: str, *words: str, given: bytes = b"", timeout: float = LOCAL) -> bytes:
    """What git prints. Raises GitError with git's last line; VaultError when there is no git."""
    env = {key: value for key, value in os.environ.items() if key not in FOREIGN}
    env.update(GIT_TERMINAL_PROMPT="0", LC_ALL="C", GIT_NO_LAZY_FETCH="1")
    # A repository's configuration can name programs to run; none is needed to read history.
    call = ["git", "--no-pager"]
    for setting in ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", *SETTINGS):
        call += ["-c", setting]
    try:
        done = subprocess.run(
            [*call, *words], cwd=folder, env=env, input=given, capture_output=True, timeout=timeout, check=False
        )
    except FileNotFoundError as error:
        raise VaultError("git was not found, and an update needs it: install git, then try again") from error
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {words[0]} did not end within {timeout:.0f} s") from error
    except (OSError, ValueError) as error:
        raise GitError(f"git {words[0]} could not run: {error}") from error
    if done.returncode:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:"))]
        said = (fatal or lines or [f"exit code {done.returncode}"])[0]
        raise GitError(hidden(said.strip())[:300])
    return done.stdout


def hidden(url: str) -> str:
    """A URL, or a sentence with one, without the name and password in it."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", url)


class Releases:
    """The releases at `source` (a URL or an absolute path), as the last `fetch` left them in the cache."""

    def __init__(self, root: str, source: str) -> None:
        self.source = source
        name = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.folder = os.path.join(places.cache(root), "releases", name + ".git")
        self._versions: list[tuple[int, int, int]] | None = None

    def fetch(self) -> None:
        """Get the release tags. Raises GitError: no network, no such repository, no permission."""
        import shutil

        known = os.path.isdir(self.folder)
        try:
            self._fetch()
        except GitError:
            if not known:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
            shutil.rmtree(self.folder, ignore_errors=True)  # the cache may be what is broken: once more without it
            self._fetch()

    def _fetch(self) -> None:
        self._versions = None
        if not os.path.isfile(os.path.join(self.folder, "HEAD")):
            os.makedirs(self.folder, exist_ok=True)
            run(self.folder, "init", "--quiet", "--bare", "--template=", ".")
        tags = "+refs/tags/v*:refs/tags/v*"
        run(self.folder, "fetch", "--quiet", "--force", "--prune", "--no-tags", "--", self.source, tags, timeout=FETCH)

    def versions(self) -> list[tuple[int, int, int]]:
        """Every release, oldest first; tags that are no plain vX.Y.Z are none."""
        if self._versions is not None:
            return self._versions
        names = run(self.folder, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags").decode().split()
        self._versions = sorted({found for name in names if TAG.match(name) and (found := parse(name))})
        return self._versions

    def tree(self, ref: str) -> dict[str, Blob]:
        """Path -> entry of a tag (`v1.2.3`) or commit."""
        out = run(self.folder, "ls-tree", "-r", "-z", "-l", "--full-tree", named(ref))
        found: dict[str, Blob] = {}
        for line in out.split(b"\0"):
            head, _, name = line.partition(b"\t")
            fields = head.decode().split()
            if len(fields) == 4:
                size = int(fields[3]) if fields[3].isdigit() else 0
                try:
                    found[name.decode()] = Blob(fields[0], fields[2], size)
                except UnicodeDecodeError:
                    continue  # no vault can store such a name
        return found

    def read(self, shas: list[str]) -> dict[str, bytes]:
        """Hash -> content, in one process."""
        wanted = sorted(set(shas))
        if not wanted:
            return {}
        out = run(self.folder, "cat-file", "--batch", given="".join(sha + "\n" for sha in wanted).encode())
        found: dict[str, bytes] = {}
        at = 0
        for sha in wanted:
            end = out.index(b"\n", at)
            head = out[at:end].split()
            if len(head) != 3:
                raise GitError(f"{self.source} has no object {sha}")
            size = int(head[2])
            found[sha] = out[end + 1 : end + 1 + size]
            at = end + 2 + size
        return found

    def known(self, commits: list[str]) -> str | None:
        """The first of `commits` that belongs to a release's history."""
        given = "".join(commit + "\n" for commit in commits).encode()
        out = run(self.folder, "cat-file", "--batch-check", given=given).decode("utf-8", "replace")
        for line in out.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] == "commit":
                return fields[0]
        return None

    def follows(self, commit: str, ref: str) -> bool:
        """Whether `commit` is the release `ref` or a later state of it."""
        try:
            run(self.folder, "merge-base", "--is-ancestor", named(ref), commit)
        except GitError:
            return False
        return True


def named(ref: str) -> str:
    return f"refs/tags/{ref}" if TAG.match(ref) else ref


def history(root: str) -> list[str]:
    """The last commits of the vault's own repository, newest first; none without one."""
    from vaultcore import git

    if git.toplevel(root) != os.path.realpath(root):
        return []
    try:
        return run(root, "rev-list", f"--max-count={MOST_COMMITS}", "HEAD").decode().split()
    except GitError:
        return []
