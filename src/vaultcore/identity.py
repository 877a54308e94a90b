"""Who is calling?  From what a process was told and where it runs, to the projects whose memories it may see.

A name has one canonical form, `canonical(name)`: NFC, case-folded, runs of white space as one space, no control
characters, at most 100 characters. `Caller.project`, `projects.json` and the `projects:` list of a memory are compared
in that form, so a folder called `My Proj É` is targeted by `my proj é`.

Strongest first: the client's roots, what `om register` declared (`--root`, `OM_ROOT`; `--project`, `OM_PROJECT`),
CLAUDE_PROJECT_DIR, the working directory, WORKSPACE_FOLDER_PATHS (often inherited by processes it is not about). All of
it is scoping and attribution among processes of one user, not authentication.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from vaultcore.projects import Projects
    from vaultcore.repository import Place

_NAMED = ("flag", "env:OM_ROOT", "env:OM_PROJECT")  # written by a registration, not by chance
_WEAK = "env:WORKSPACE_FOLDER_PATHS"
_MOST_ROOTS = 64


class Claim:
    """One thing known about the caller: `source` says who told, `value` is a path or a name, as `kind` says."""

    __slots__ = ("source", "value", "kind")

    def __init__(self, source: str, value: str, kind: str = "path") -> None:
        self.source, self.value, self.kind = source, value, kind

    def __repr__(self) -> str:
        return f"Claim({self.source!r}, {self.value!r}, {self.kind!r})"


class Caller:
    """Who asks, for the length of one request.

    project: canonical name of what it works on, None when unknown or contested; projects: the names of all its roots
    (first = project), none of them contested; root: that project's folder; roots: the folders of all; source: the claim
    that decided; platforms: of all its projects; contested: the name belongs to another repository, general reach only
    (`name` still tells it); conflicts: sentences for a person; vault: the session works in the vault itself;
    provisional: the client's roots are not known yet.
    """

    __slots__ = (
        *("project", "root", "source", "platforms", "conflicts", "contested", "vault"),
        *("provisional", "roots", "projects", "claimed"),
    )

    def __init__(
        self,
        project: str | None = None,
        root: str | None = None,
        source: str = "none",
        platforms: tuple[str, ...] = (),
        conflicts: tuple[str, ...] = (),
        contested: bool = False,
        vault: bool = False,
        provisional: bool = False,
        roots: tuple[str, ...] = (),
        projects: tuple[str, ...] = (),
        claimed: str | None = None,
    ) -> None:
        self.project, self.root, self.source, self.platforms = project, root, source, platforms
        self.conflicts, self.contested, self.vault, self.provisional = conflicts, contested, vault, provisional
        self.roots, self.projects = roots, projects or ((project,) if project else ())
        self.claimed = claimed or project

    @property
    def name(self) -> str:
        """For sentences: never empty, and a contested name too."""
        return self.claimed or ("the vault" if self.vault else "anonymous")

    @property
    def anonymous(self) -> bool:
        """Nothing says who calls, or the name it goes by is another repository's."""
        return self.project is None and not self.vault

    def but(self, **changes: Any) -> Caller:
        """A copy with some attributes changed."""
        return Caller(**{name: changes.get(name, getattr(self, name)) for name in self.__slots__})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Caller) and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.project, self.root, self.source))

    def __repr__(self) -> str:
        return f"Caller({self.name!r}, root={self.root!r}, source={self.source!r}, contested={self.contested})"


ANONYMOUS = Caller()
# somebody at the command line of this machine, to whom the whole vault belongs
PERSON = Caller(source="person", vault=True)


def canonical(name: object) -> str | None:
    """The one form of a project's name; None when nothing usable is left of it."""
    if not isinstance(name, str):
        return None
    from unicodedata import category, normalize

    text = normalize("NFC", normalize("NFC", name[:1000]).casefold())
    text = "".join(c if category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else " " for c in text)
    text = " ".join(text.replace("/", " ").replace("\\", " ").split())[:100].strip()
    return text if text.strip(".") else None


def process_claims(argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> list[Claim]:
    """What holds for the life of a process, strongest first. `cwd` None means: unknown (a deleted folder, say)."""
    found: list[Claim] = []
    kinds = {"--root": "path", "--project": "name"}
    for at, word in enumerate(argv):
        option, equals, value = word.partition("=")
        if option in kinds:
            given = value if equals else (argv[at + 1] if at + 1 < len(argv) else "")
            found.append(Claim("flag", given, kinds[option]))
    found.append(Claim("env:OM_ROOT", env.get("OM_ROOT", "")))
    found.append(Claim("env:OM_PROJECT", env.get("OM_PROJECT", ""), "name"))
    found.append(Claim("env:CLAUDE_PROJECT_DIR", env.get("CLAUDE_PROJECT_DIR", "")))
    found.append(Claim("cwd", cwd or ""))
    folders = env.get("WORKSPACE_FOLDER_PATHS", "").replace(",", os.pathsep).split(os.pathsep)
    found += [Claim(_WEAK, folder) for folder in folders[:_MOST_ROOTS]]
    # A variable that the client left as it stands (`${workspaceFolder}`) claims nothing.
    return [claim for claim in found if claim.value.strip() and "${" not in claim.value]


class Finding:
    """What one path turned out to be."""

    __slots__ = ("source", "name", "root", "vault", "contested", "verified", "notes", "place")

    def __init__(self, source: str, name: str | None, root: str, place: Place | None = None) -> None:
        self.source, self.name, self.root, self.place = source, name, root, place
        self.vault = self.contested = self.verified = False
        self.notes: list[str] = []


def resolve(
    vault_root: str,
    roots: Iterable[str] | None,
    claims: Iterable[Claim],
    lookup: Callable[[str], Iterable[str]] | None = None,
) -> Caller:
    """The caller behind `roots` (URIs of the client's `roots/list`; None or empty: it told nothing) and `claims`.

    `lookup(name)` may give the platforms that the project's own note declares; else its registration's count.
    Never raises for what a client sends.
    """
    from vaultcore import projects

    known = projects.load(vault_root)
    vault = os.path.realpath(vault_root)
    claims = list(claims)
    notes: list[str] = [known.problem] if known.problem else []
    given = list(dict.fromkeys(uri for uri in roots or () if isinstance(uri, str)))[:_MOST_ROOTS]
    found: list[Finding] = []
    if given:
        from vaultcore.repository import path_of

        paths = [path_of(uri) for uri in given]
        found = [hit for path in paths if path and (hit := _identify(known, vault, "roots", path))]
        notes += [f"root ignored, not a folder of this machine: {uri[:120]}" for uri, p in zip(given, paths) if not p]
        if not found and any(paths):  # the client works in a folder that says nothing: chance must not say more
            claims = [claim for claim in claims if claim.source in _NAMED]
    return _decide(known, vault, found, claims, notes, lookup)


def _decide(
    known: Projects,
    vault: str,
    found: list[Finding],
    claims: list[Claim],
    notes: list[str],
    lookup: Callable[[str], Iterable[str]] | None,
) -> Caller:
    paths = [(claim.source, os.path.expanduser(claim.value)) for claim in claims if claim.kind == "path"]
    others = [hit for source, path in paths if (hit := _identify(known, vault, source, path))]
    named = [(c, name) for c in claims if c.kind == "name" and (name := canonical(c.value))]
    if not found and others:
        # The vault's own session sees everything: neither a repository's configuration nor an inherited variable may
        # claim to be it.
        elsewhere = [hit for hit in others if not hit.vault and hit.source != _WEAK]
        if elsewhere and others[0].vault:
            notes.append(f"{others[0].source} says the vault, {elsewhere[0].source} says {elsewhere[0].name}")
            others = elsewhere
        found, others = others[:1], others[1:]
        if named and not found[0].vault:
            _declare(known, found[0], *named.pop(0))
    elif not found and named:  # no path says otherwise
        claim, name = named.pop(0)
        found = [Finding(claim.source, name, "")]
    if not found:
        return ANONYMOUS.but(conflicts=tuple(notes))
    first = found[0]
    for hit in found:
        notes += hit.notes
    for hit in others:
        if (hit.name, hit.vault) != (first.name, first.vault):
            told, decided = hit.name or "the vault", first.name or "the vault"
            notes.append(f"{hit.source} says {told}, {first.source} says {decided}")
    notes += [f"{claim.source} says {name}, {first.source} decided" for claim, name in named if name != first.name]
    mine = list(dict.fromkeys(hit.name for hit in found if hit.name and not hit.contested))
    platforms: list[str] = []
    for name in mine:
        platforms += _platforms(known, name, lookup)
    return Caller(
        project=None if first.contested else first.name,
        root=first.root or None,
        source=first.source,
        platforms=tuple(dict.fromkeys(platforms)),
        conflicts=tuple(dict.fromkeys(notes)),
        contested=first.contested,
        vault=first.vault,
        roots=tuple(hit.root for hit in found if hit.root),
        projects=tuple(mine),
        claimed=first.name,
    )


def _identify(known: Projects, vault: str, source: str, path: str) -> Finding | None:
    from vaultcore import repository

    try:
        real = os.path.realpath(path) if os.path.isabs(path) else ""
    except (OSError, ValueError):
        return None
    where = repository.place(path) if real else None
    if real and (repository.inside(real, vault) or (where and repository.inside(where.root, vault))):
        hit = Finding(source, None, vault)
        hit.vault = True
        return hit
    if where is None:
        return None
    bound = known.by_path(where.chain)
    declared = canonical(where.declared)
    if bound:
        hit = Finding(source, bound[0], bound[1], where)
        hit.verified = True
        if declared and declared != bound[0]:
            hit.notes.append(f".om-project says {declared}, but this folder is known as {bound[0]}")
        _settle(known, hit)
        return hit
    name = declared or known.by_remote(repository.remote(where.git), where.within) or canonical(where.folder)
    if not name:
        return None
    hit = Finding(source, name, where.root, where)
    _settle(known, hit)
    return hit


def _declare(known: Projects, hit: Finding, claim: Claim, name: str) -> None:
    """A name told beside a path: it may come from a file in the repository, so it must fit the path's evidence."""
    if hit.name == name:
        return
    if hit.verified:
        hit.notes.append(f"{claim.source} says {name}, but this folder is known as {hit.name}")
        return
    hit.name, hit.source = name, claim.source
    _settle(known, hit)


def _settle(known: Projects, hit: Finding) -> None:
    """Mark a name that belongs to other evidence."""
    hit.contested = not (hit.place and hit.name and known.fits(hit.name, hit.place, hit.root))
    if hit.contested and not known.problem:
        hit.notes.append(
            f"{hit.name} is the name of another repository: this one has general reach only until "
            f"`om register {hit.root} --as NEWNAME` (another project) or `--same` (the same project) is run"
        )


def _platforms(known: Projects, name: str, lookup: Callable[[str], Iterable[str]] | None) -> list[str]:
    declared = list(lookup(name) or ()) if lookup else []
    return [p for p in map(canonical, declared or known.platforms(name)) if p]
