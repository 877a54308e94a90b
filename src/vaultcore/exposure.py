"""Which notes other repositories may see. Two predicates, one answer: `visible` lists what `readable` admits.

A note is exposed when its path lies in a root, is not named in never-expose, is no memory and no dot entry, when the
same holds for the file it really is (links resolved), and when its properties do not make it private.
"""

from __future__ import annotations

import os

from vaultcore import walk
from vaultcore.errors import Problem, VaultError
from vaultcore.patterns import GLOB, Names, Roots, fold, loose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from vaultcore.manifest import Manifest

FALLBACK = ("brain", "reference")


class Policy:
    """What may be exposed, by path alone.

    `source`: where the roots come from: "manifest" (mcp_exposed_roots), "derived" (user_content_roots), "fallback".
    `problems`: entries that say nothing usable.
    """

    __slots__ = ("_memory", "_never", "_roots", "memory_root", "never", "problems", "roots", "source", "why_closed")

    def __init__(self, roots: list[str], source: str, never: list[str], memory_root: str, why_closed: str = "") -> None:
        self.source = source
        self.memory_root = memory_root
        self.why_closed = why_closed
        self._roots = Roots(roots)
        self._never = Names(never)
        self.roots = self._roots.entries
        self.never = self._never.entries
        self._memory = loose(memory_root)
        self.problems = [Problem("vault-manifest.json", text) for text in self._roots.unusable + self._never.unusable]

    @property
    def fingerprint(self) -> str:
        """A text that changes when the policy changes."""
        import hashlib
        import json

        state = json.dumps([self.roots, self.never, self.memory_root, self.why_closed])
        return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def admits(self, rel: str) -> bool:
        """Tell whether a note may be exposed, by its path alone."""
        return self.refuses(rel) == ""

    def refuses(self, rel: str) -> str:
        """Return why a path is not exposed ("not-exposed", "never", "memory"), "" if it is admitted."""
        if not walk.is_note(rel) or walk.hidden(rel) or "\\" in rel:
            return "not-exposed"
        if self.is_memory(rel):
            return "memory"
        if self._never.match(rel):
            return "never"
        return "" if self._roots.match(rel) else "not-exposed"

    def is_memory(self, rel: str) -> bool:
        """Tell whether a path is the memory root or lies in it, in any spelling."""
        return loose(rel.replace("\\", "/").lstrip("/").split("/", 1)[0]) == self._memory


class Decision:
    """Whether a note may be read. `rel` is its real path when `ok`; `why` is a sentence for the vault's own log.

    `reason`: ok, outside, missing, not-exposed, never, private, memory or unreadable.
    """

    __slots__ = ("ok", "reason", "rel", "why")

    def __init__(self, reason: str, rel: str | None, why: str) -> None:
        self.ok = reason == "ok"
        self.reason = reason
        self.rel = rel
        self.why = why

    def __repr__(self) -> str:
        return f"Decision({self.reason!r}, {self.rel!r}, {self.why!r})"


_policies: dict[tuple[object, ...], Policy] = {}


def policy(manifest: Manifest) -> Policy:
    """Return the exposure policy that a manifest declares.

    Roots: mcp_exposed_roots, else the user_content_roots that exist, else brain and reference. Where a broken
    manifest hides what it declares about exposure, nothing is exposed.
    """
    closed = ""
    roots, source = list(manifest.get("mcp_exposed_roots")), "manifest"
    lost = manifest.lost - {"user_content_roots"} if roots else manifest.lost
    if lost:
        closed = f"the manifest is broken and may declare {', '.join(sorted(lost))}: nothing is exposed"
    if not roots:
        derived = Roots(manifest.get("user_content_roots"))
        roots, source = [entry for entry in derived.entries if _exists(manifest.root, entry)], "derived"
        if not roots:
            roots, source = list(FALLBACK), "fallback"
    never, memory = list(manifest.get("mcp_never_expose")), str(manifest.get("memory_root"))
    key = (tuple(roots), source, tuple(never), memory, closed)
    found = _policies.get(key)
    if found is None:
        if len(_policies) > 20:
            _policies.clear()
        found = _policies[key] = Policy([] if closed else roots, source, never, memory, closed)
    return found


def visible(manifest: Manifest, policy: Policy) -> Iterator[walk.Entry]:
    """Yield the notes that exist for a caller from another repository, sorted by `rel`."""
    for entry in walk.walk(manifest.root):
        if not entry.linked and policy.admits(entry.rel):
            if not _withheld(os.path.join(manifest.root, entry.rel), entry.rel, manifest.root):
                yield entry


def readable(manifest: Manifest, policy: Policy, rel: str) -> Decision:
    """Say whether a caller from another repository may read `rel` (any spelling of separators)."""
    if not isinstance(rel, str) or not rel or len(rel) > 4096 or "\0" in rel:
        return Decision("missing", None, "no path was given")
    plain = rel.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if plain.startswith("/") or ".." in parts or not parts or (os.name == "nt" and ":" in plain):
        return Decision("outside", None, f"{rel[:200]!r} is not a path inside the vault")
    asked = "/".join(parts)
    reason = policy.refuses(asked)
    if reason:
        return Decision(reason, None, _why(reason, asked, policy))
    root = os.path.realpath(manifest.root)
    path = walk.contained(root, asked)
    if path is None:
        return Decision("outside", None, f"{asked} leads outside the vault")
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        if not os.path.isdir(root):
            return Decision("unreadable", None, f"the vault {root} is not there")
        return Decision("missing", None, f"{asked} is not there")
    if (state.st_mode & 0o170000) != 0o100000:
        return Decision("missing", None, f"{asked} is not a file")
    real = walk.spelled(root, walk.relative(root, path) or "")
    reason = policy.refuses(real)
    if reason:
        return Decision(reason, None, f"{asked} is {real}: {_why(reason, real, policy)}")
    withheld = _withheld(path, real, root)
    return Decision(*withheld) if withheld else Decision("ok", real, "")


def unmatched(manifest: Manifest, policy: Policy) -> list[Problem]:
    """Return declared entries that match nothing on disk: most likely typing mistakes."""
    rels = [entry.rel for entry in walk.walk(manifest.root)]
    found = list(policy.problems)
    for name, one in (
        *((entry, Names([entry]).match) for entry in policy.never),
        *(((entry, Roots([entry]).match) for entry in policy.roots) if policy.source == "manifest" else ()),
    ):
        if not any(map(one, rels)):
            found.append(Problem("vault-manifest.json", f"{name!r} matches no note", fix="Check its spelling."))
    return found


def _why(reason: str, rel: str, policy: Policy) -> str:
    if reason == "memory":
        return f"{rel} is a memory, not a note"
    if reason == "never":
        return f"{rel} is named in mcp_never_expose"
    if policy.why_closed:
        return policy.why_closed
    return f"{rel} is in none of the exposed roots"


_withheld_cache: dict[str, tuple[object, tuple[str, str | None, str] | None]] = {}


def _withheld(path: str, rel: str, root: str) -> tuple[str, str | None, str] | None:
    """Return (reason, None, why) if the file's properties withhold it; read again only when the file has changed."""
    from vaultcore import notes, private, properties

    try:
        state = os.stat(path)
        stamp = (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
        known = _withheld_cache.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        data, _, _ = notes.load(path, rel, root, 4 * properties.LIMIT + 1024)
    except (OSError, VaultError) as error:
        return "unreadable", None, f"{rel} cannot be read ({error})"
    text, _ = properties.decode(data)
    why = private.why_private(properties.read(text))
    found = ("private", None, f"{rel} is private: {why}") if why else None
    import time

    # A change within the same tick of the file system's clock would not show in the stamp.
    if time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns) > 2_000_000_000:
        if len(_withheld_cache) > 100_000:
            _withheld_cache.clear()
        _withheld_cache[path] = (stamp, found)
    else:
        _withheld_cache.pop(path, None)
    return found


def _exists(root: str, entry: str) -> bool:
    """Tell whether the part of a root before its first glob is on disk, in any case."""
    folder = root
    for part in entry.rstrip("/").split("/"):
        if GLOB.search(part):
            return True
        path = os.path.join(folder, part)
        if not os.path.lexists(path):
            try:
                near = [name for name in os.listdir(folder) if fold(name) == fold(part)]
            except OSError:
                return False
            if not near:
                return False
            path = os.path.join(folder, near[0])
        folder = path
    return True
