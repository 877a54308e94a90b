"""Which code a memory or note is about: matching repository paths, and what became of them since."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_GLOB = re.compile(r"[*?\[]")
_CHURN = re.compile(
    r"(?i)(?:^|/)(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|uv\.lock|"
    r"poetry\.lock|"
    r"pdm\.lock|pipfile\.lock|cargo\.lock|go\.sum|gemfile\.lock|composer\.lock|mix\.lock|flake\.lock|"
    r"requirements[^/]*\.lock|"
    r"changelog[^/]*|changes\.[^/]*|history\.[^/]*|readme[^/]*|\.github/.*|(?:dist|build|coverage|target|out|"
    r"node_modules)/.*)$"
)
EXACT, GLOB, ANCESTOR, INSIDE = "exact", "glob", "ancestor", "inside"
_compiled: dict[str, re.Pattern[str]] = {}


class Match:
    """The deepest declared scope that holds for a path: `depth` counts its literal segments."""

    __slots__ = ("scope", "kind", "depth", "path")

    def __init__(self, scope: str, kind: str, depth: int, path: str) -> None:
        self.scope, self.kind, self.depth, self.path = scope, kind, depth, path

    def why(self) -> str:
        return {
            EXACT: f"is about {self.scope}",
            GLOB: f"{self.scope} matches {self.path}",
            ANCESTOR: f"{self.scope} holds {self.path}",
            INSIDE: f"{self.scope} lies in {self.path}",
        }[self.kind]


def churns(path: str) -> bool:
    """Whether a file changes all the time without meaning anything: locks, changelogs, readmes, build output."""
    return bool(_CHURN.search(path))


def matching(scopes: list[str], paths: Iterable[str]) -> Match | None:
    """The deepest of `scopes` that is about one of `paths`; of equally deep ones the more exact."""
    order = {EXACT: 3, GLOB: 2, ANCESTOR: 1, INSIDE: 0}
    best: Match | None = None
    for path in paths:
        for scope in scopes:
            found = _match(scope, path)
            if found and (best is None or (found.depth, order[found.kind]) > (best.depth, order[best.kind])):
                best = found
    return best


def _match(scope: str, path: str) -> Match | None:
    parts = scope.split("/")
    if not _GLOB.search(scope):
        if scope == path:
            return Match(scope, EXACT, len(parts), path)
        if scope == "." or path.startswith(scope + "/"):
            return Match(scope, ANCESTOR, 0 if scope == "." else len(parts), path)
        if scope.startswith(path + "/"):
            return Match(scope, INSIDE, path.count("/") + 1, path)
        return None
    literal = 0
    while literal < len(parts) and not _GLOB.search(parts[literal]):
        literal += 1
    pattern = pattern_of(scope)
    tried = path
    while tried:
        if pattern.match(tried):
            return Match(scope, GLOB, literal, path)
        tried = tried.rpartition("/")[0]
    head = "/".join(parts[:literal])
    if head == path or (head + "/").startswith(path + "/"):
        return Match(scope, INSIDE, path.count("/") + 1, path)
    return None


def pattern_of(glob: str) -> re.Pattern[str]:
    """A glob as a pattern over whole paths: `**` crosses folders, `*` and `?` do not."""
    found = _compiled.get(glob)
    if found is None:
        out = ""
        i = 0
        while i < len(glob):
            if glob.startswith("**/", i):
                out, i = out + "(?:[^/]+/)*", i + 3
            elif glob.startswith("**", i):
                out, i = out + ".*", i + 2
            elif glob[i] == "*":
                out, i = out + "[^/]*", i + 1
            elif glob[i] == "?":
                out, i = out + "[^/]", i + 1
            else:
                out, i = out + re.escape(glob[i]), i + 1
        if len(_compiled) > 2_000:
            _compiled.clear()
        found = _compiled[glob] = re.compile(out + r"\Z")
    return found


def relative(root: str, paths: list[str]) -> list[str]:
    """`paths` (relative to `root`, or absolute inside it) as repository-relative ones; a Refusal for one outside."""
    from vaultcore.errors import Refusal

    real = os.path.realpath(root) if root else ""
    found: list[str] = []
    for path in paths:
        text = path.strip().replace("\\", "/")
        if os.path.isabs(text):
            inside = os.path.relpath(os.path.realpath(text), real) if real else ".."
            text = inside.replace(os.sep, "/")
        text = os.path.normpath(text or ".").replace(os.sep, "/")
        if text == ".." or text.startswith("../") or os.path.isabs(text) or "\0" in text:
            shown = " ".join(path.split())[:80]
            raise Refusal("bad-path", f"{shown!r} is no path inside your repository.", "Give it relative to the root.")
        if text not in found:
            found.append(text)
    return found


class Fate:
    """What became of the code a memory is about: `changed` since it was recorded, `missing`, `renamed` old -> new,
    of `total` files; `since` is a date."""

    __slots__ = ("changed", "missing", "renamed", "total", "since")

    def __init__(self, since: str) -> None:
        self.changed: list[str] = []
        self.missing: list[str] = []
        self.renamed: dict[str, str] = {}
        self.total = 0
        self.since = since

    def sentence(self) -> str:
        """What to do, first; "" when nothing happened."""
        parts = []
        if self.changed:
            names = self.changed[:3]
            shown = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
            many = "1 file" if self.total == 1 else f"{self.total} files"
            parts.append(f"Open {shown}, then check: {len(self.changed)} of {many} changed since {self.since}")
        for old, new in list(self.renamed.items())[:3]:
            parts.append(f"{old} is now {new}")
        gone = [m for m in self.missing if m not in self.renamed]
        if gone:
            parts.append(
                "no longer there: " + ", ".join(gone[:3]) + (f" and {len(gone) - 3} more" if len(gone) > 3 else "")
            )
        return "; ".join(parts)


def fates(root: str, items: list[tuple[str, list[str], float, str]]) -> dict[str, Fate]:
    """What became of the code of each (key, scopes, known since in seconds, date): one listing and one log of the
    repository at `root` for all of them. Without git only what is missing is told."""
    from vaultcore import git

    from . import times

    listed = git.files(root)
    files = [f for f in listed or () if not churns(f)]
    wanted: dict[str, list[str]] = {}
    found: dict[str, Fate] = {}
    lost: set[str] = set()
    for key, scopes, _, date in items:
        fate = found[key] = Fate(date)
        mine: list[str] = []
        for scope in scopes:
            if _GLOB.search(scope):
                pattern = pattern_of(scope)
                hits = [f for f in files if pattern.match(f)]
            elif not os.path.lexists(os.path.join(root, scope)):
                fate.missing.append(scope)
                lost.add(scope)
                hits = []
            else:
                hits = [f for f in files if f == scope or scope == "." or f.startswith(scope + "/")]
            mine.extend(hits[:100])
        wanted[key] = list(dict.fromkeys(mine))[:200]
        fate.total = len(wanted[key])
    every = sorted({f for mine in wanted.values() for f in mine})
    commits = git.last_commits(root, every) if every else {}
    moved = git.renames(root, lost) if lost else {}
    for key, _, known, _ in items:
        fate = found[key]
        for file in wanted[key]:
            when = times.moment((commits or {}).get(file, ("", ""))[1])
            if when is not None and when > known:
                fate.changed.append(file)
        fate.renamed = {old: moved[old] for old in fate.missing if old in moved}
    return found
