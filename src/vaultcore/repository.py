"""Which repository does a path belong to?  Answered from files alone: no git process, nothing believed that git's own
back-pointers do not confirm."""

from __future__ import annotations

import os
import re
import sys

DECLARATION = ".om-project"
_DEEP = 64  # folders walked upwards; deeper than anything real
_SYSTEM = frozenset(
    "/ /bin /boot /dev /dev/shm /etc /home /lib /media /mnt /opt /private /private/tmp /private/var /root /run /sbin "
    "/srv /sys /tmp /usr /usr/bin /usr/local /var /var/tmp /proc /Users /Volumes /Applications /Library /System".split()
)
# Where hosts keep plugins, caches and state: started from there, a server learns nothing about its caller.
_HOST_FOLDERS = (
    *(".cache .claude .codex .gemini .cursor .copilot .vscode .npm .cargo .rustup .pyenv .nvm AppData").split(),
    *("Library/Caches", "Library/Application Support", ".local/share/uv", ".local/share/pipx"),
)
# These hold settings mostly, but people keep repositories and synced documents in them too.
_MIXED_FOLDERS = (".config", ".local", "Library")
_DOCUMENTS = ("Library/Mobile Documents", "Library/CloudStorage")


class Place:
    """Where a path belongs.

    start: the real path asked about; root: the folder that identity hangs on (main working tree, or the folder of the
    nearest `.om-project`, or the path itself); folder: the name that root suggests; declared: first line of the
    nearest `.om-project` or ""; git: the verified git directory or None; within: root relative to its repository, ""
    for the whole; chain: root and the folders between it and start, deepest first, as in the main working tree.
    """

    __slots__ = ("start", "root", "folder", "declared", "git", "within", "chain")

    def __init__(
        self, start: str, root: str, folder: str, declared: str, git: str | None, within: str, chain: list[str]
    ) -> None:
        self.start, self.root, self.folder, self.declared = start, root, folder, declared
        self.git, self.within, self.chain = git, within, chain


def path_of(uri: str) -> str | None:
    """A `file:` URI as an absolute local path: decoded once, as UTF-8. None for every other scheme, a remote authority,
    a query or fragment, NUL and relative paths."""
    if len(uri) > 8192 or uri[:5].lower() != "file:":
        return None
    rest = uri[5:]
    if rest.startswith("//"):  # authority, then path
        authority, slash, rest = rest[2:].partition("/")
        rest = slash + rest
        if authority.lower() not in ("", "localhost"):
            return None
    if "?" in rest or "#" in rest:
        return None
    raw = rest.encode("utf-8", "surrogatepass")
    decoded = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found.group(1), 16)]), raw)
    path = decoded.decode("utf-8", "surrogateescape")
    if re.match(r"^/[A-Za-z]:([/\\]|$)", path) and os.name == "nt":
        path = path[1:]
    return path if "\0" not in path and os.path.isabs(path) else None


def inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it; both real paths. Case counts as little as the platform makes it."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def says_nothing(path: str) -> bool:
    """Folders that many unrelated sessions start in: the file system's own, homes, temp."""
    if path in _SYSTEM or os.path.dirname(path) == path:
        return True
    same = os.path.normcase(path)
    if sys.platform == "win32" and re.match(r"^[a-z]:\\(windows|program files|program files \(x86\)|users$)", same):
        return True
    return any(same == os.path.normcase(os.path.realpath(known)) for known in (_home(), *_temps()) if known)


def belongs_to_a_host(path: str, repository: bool = False) -> bool:
    """Whether `path` lies in a folder where agents and package managers keep plugins, caches and state. A `repository`
    of its own may lie among settings."""
    home = os.path.realpath(_home())

    def lies_in(folders: tuple[str, ...]) -> bool:
        return any(inside(path, os.path.realpath(os.path.join(home, folder))) for folder in folders)

    cache = os.environ.get("XDG_CACHE_HOME")
    if lies_in(_HOST_FOLDERS) or (cache and inside(path, os.path.realpath(cache))):
        return True
    return not repository and lies_in(_MIXED_FOLDERS) and not lies_in(_DOCUMENTS)


def place(path: str) -> Place | None:
    """Where `path` (absolute, it need not exist) belongs, or None when it says nothing about a caller."""
    if "\0" in path or not os.path.isabs(path):
        return None
    try:
        return _place(path)
    except (OSError, ValueError):  # too long, a loop of links, a lone surrogate
        return None


def _place(path: str) -> Place | None:
    start = os.path.realpath(path)
    if os.path.isfile(start):
        start = os.path.dirname(start)
    chain: list[str] = []
    declared, declared_at, top = "", "", ""
    for folder in _upwards(start):
        chain.append(folder)
        if not declared:
            declared, declared_at = _declaration(folder), folder
        if os.path.lexists(os.path.join(folder, ".git")):
            top = folder
            break
    if not chain:
        return None
    if not top:
        root = declared_at if declared else start
        if belongs_to_a_host(root):
            return None
        return Place(start, root, os.path.basename(root), declared, None, "", chain)
    git = _git_folder(top)
    linked = main_worktree(top)
    folder_name = ""
    if linked:
        main, folder_name, git = linked
        chain = [os.path.normpath(os.path.join(main, os.path.relpath(folder, top))) for folder in chain]
        if declared:
            declared_at = os.path.normpath(os.path.join(main, os.path.relpath(declared_at, top)))
        else:
            declared, declared_at = _declaration(main), main
        top = main
    root = declared_at if declared else top
    if says_nothing(root) or belongs_to_a_host(root, repository=True):
        return None
    within = "" if root == top else os.path.relpath(root, top).replace(os.sep, "/")
    return Place(start, root, folder_name or os.path.basename(root), declared, git, within, chain)


def main_worktree(top: str) -> tuple[str, str, str] | None:
    """For a linked worktree: (main working tree, its name, git directory). Believed only when the main repository
    points back at it, so that a forged `.git` file borrows nothing."""
    pointer = os.path.join(top, ".git")
    if not os.path.isfile(pointer):
        return None
    own = _pointed_at(top)
    if own is None:
        return None
    back, common = _line(os.path.join(own, "gitdir")), _line(os.path.join(own, "commondir"))
    if not back or not common:
        return None
    common = os.path.realpath(os.path.join(own, common))
    if os.path.realpath(os.path.join(own, back)) != os.path.realpath(pointer):
        return None
    if os.path.dirname(os.path.dirname(own)) != common:
        return None
    name = os.path.basename(common)
    if name in (".git", ".bare"):
        return os.path.dirname(common), "", common
    return common, name[:-4] if name.endswith(".git") else name, common  # a bare repository with worktrees beside it


def _git_folder(top: str) -> str | None:
    """The git directory of an ordinary repository or a submodule, when it surely is this folder's own."""
    git = os.path.join(top, ".git")
    if os.path.isdir(git):
        borrowed = os.path.islink(git) or os.path.lexists(os.path.join(git, "commondir"))
        return None if borrowed else git
    own = _pointed_at(top)
    if own is None:
        return None
    for key, value in _settings(own):
        if key == "core.worktree" and os.path.realpath(os.path.join(own, value)) == os.path.realpath(top):
            return own
    return None


def remote(git: str | None) -> str | None:
    """`host/path` of origin (else of the first remote) from a git directory's config: no scheme, no credentials, no
    port, no `.git`, lower case. None without one, or when it is a path of this machine."""
    urls = {key: value for key, value in reversed(_settings(git)) if key.startswith("remote.") and key.endswith(".url")}
    if not urls:
        return None
    return normal_remote(urls.get("remote.origin.url") or list(urls.values())[-1])


def normal_remote(url: str) -> str | None:
    """The one form in which remotes are compared and kept; None for local paths and what is no remote."""
    url = url.strip()
    with_scheme = re.match(r"^(?:[a-z+]+)://(?:[^/]*@)?([^/:@]+|\[[0-9a-fA-F:]+\])(?::\d*)?/+([^?#]+)", url, re.I)
    short = re.match(r"^(?:[^/@:]*@)?([^/:@\\]{2,}):(?!//)([^?#]+)$", url)  # host:path; one letter is a drive
    found = with_scheme or short
    if not found or url.lower().startswith("file:"):
        return None
    path = found.group(2).strip("/")
    path = path[:-4] if path.lower().endswith(".git") else path
    return f"{found.group(1)}/{path.strip('/')}".lower() if path else None


def shallow(git: str) -> bool:
    """Whether history is cut off, so that the oldest commit here is not the root."""
    return os.path.exists(os.path.join(git, "shallow"))


def _upwards(start: str) -> list[str]:
    found: list[str] = []
    while len(found) < _DEEP and not says_nothing(start):
        found.append(start)
        start = os.path.dirname(start)
    return found


def _declaration(folder: str) -> str:
    """First line of `.om-project` that is neither empty nor a comment."""
    for line in _text(os.path.join(folder, DECLARATION), 4096).splitlines():
        line = line.lstrip("\ufeff").strip()
        if line and not line.startswith("#"):
            return line
    return ""


def _pointed_at(top: str) -> str | None:
    line = _line(os.path.join(top, ".git"))
    if not line.startswith("gitdir:"):
        return None
    return os.path.realpath(os.path.join(top, line[7:].strip()))


def _settings(git: str | None) -> list[tuple[str, str]]:
    """(section.sub.key, value) of a git config file, in order; enough of its syntax for urls and worktrees."""
    found: list[tuple[str, str]] = []
    section = ""
    for line in _text(os.path.join(git, "config"), 262_144).splitlines() if git else ():
        head = re.match(r'^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]', line)
        if head:
            section = head.group(1).lower() + (f".{head.group(2)}" if head.group(2) is not None else "")
            continue
        pair = re.match(r"^\s*([A-Za-z][\w-]*)\s*=\s*(.*?)\s*$", line)
        if pair:
            value = pair.group(2)
            if value.startswith('"') and value.endswith('"') and len(value) > 1:
                value = re.sub(r"\\(.)", r"\1", value[1:-1])
            found.append((f"{section}.{pair.group(1).lower()}", value))
    return found


def _line(path: str) -> str:
    return _text(path, 4096).strip()


def _text(path: str, limit: int) -> str:
    try:
        if not os.path.isfile(path):  # a named pipe would hang the caller
            return ""
        with open(path, "rb") as handle:
            return handle.read(limit).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _home() -> str:
    return os.path.expanduser("~")


def _temps() -> list[str]:
    return [os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)]
