"""Which note a link means, as Obsidian decides it (`getFirstLinkpathDest`), with what the app keeps to itself: the
other candidates.
"""

from __future__ import annotations

from .text import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

KINDS = ("self", "name", "relative", "path", "suffix", "alias", "missing")


class Resolution:
    """`rel` is the file meant (None: unresolved), `candidates` every file that fits, the one meant first.

    kind: "self" (this note), "name" (the only file of that name), "relative", "path" (exact path), "suffix" (chosen
    among several or
    by a partial path), "alias" (the app does NOT resolve these; no file has the name, a note has the alias), "missing".
    `ambiguous`: several files fit and only the path's length decided. `subpath` is what follows the path's `#`.
    """

    __slots__ = ("rel", "candidates", "kind", "ambiguous", "subpath")

    def __init__(
        self, rel: str | None, candidates: list[str], kind: str, ambiguous: bool = False, subpath: str = ""
    ) -> None:
        self.rel, self.candidates, self.kind, self.ambiguous, self.subpath = rel, candidates, kind, ambiguous, subpath


class Resolver:
    """Resolves link targets against a set of files: `paths` (notes and attachments) and, optionally, alias -> note or
    notes.

    `files_named` and `notes_called` replace the tables for callers that keep them elsewhere; both take a folded key.
    """

    def __init__(
        self,
        paths: Iterable[str] = (),
        aliases: Mapping[str, str | list[str]] | None = None,
        *,
        files_named: Callable[[str], list[str]] | None = None,
        notes_called: Callable[[str], list[str]] | None = None,
        stems: Callable[[], Iterable[tuple[str, str]]] | None = None,
    ) -> None:
        names: dict[str, list[str]] = {}
        for rel in paths:
            names.setdefault(file_key(rel), []).append(rel)
        called: dict[str, list[str]] = {}
        for alias, target in (aliases or {}).items():
            called.setdefault(fold(alias), []).extend([target] if isinstance(target, str) else target)
        self._named = files_named or (lambda key: names.get(key, []))
        self._called = notes_called or (lambda key: called.get(key, []))
        self._stems = stems or (
            lambda: [
                *((stem(key), rel) for key, rels in names.items() for rel in rels),
                *((key, rel) for key, rels in called.items() for rel in rels),
            ]
        )

    def resolve(self, target: str, source: str = "") -> Resolution:
        """What `target` (a link's part before the pipe, `#subpath` and all) means in the note `source` ("" = seen
        from the root).

        A path that itself holds a `#` is tried whole first and then shortened at each `#` from the right.
        """
        target = target.replace("\xa0", " ").strip()
        at = len(target)
        while True:
            path, sub = target[:at].strip(), target[at + 1 :].strip()
            if not path:
                return Resolution(
                    source or None, [source] if source else [], "self" if source else "missing", False, sub
                )
            found = self._path(path, source)
            if found:
                break
            cut = target.rfind("#", 0, at)
            if cut < 0:
                path, _, sub = (x.strip() for x in target.partition("#"))
                found = self._alias(path) or Resolution(None, [], "missing")
                break
            at = cut
        found.subpath = sub
        return found

    def _path(self, path: str, source: str) -> Resolution | None:
        folded = fold_path(path)
        name = folded.rsplit("/", 1)[-1]
        if not name or name in (".", ".."):
            return None
        named = list(self._named(name)) if "." in name else []
        if not named:
            folded, name = folded + ".md", name + ".md"
            named = list(self._named(name))
        if not named:
            return None
        exact_case = _spelling(path)
        if "/" not in folded and len(named) == 1:
            return Resolution(named[0], named, "name")
        if folded.startswith(("./", "../")):
            wanted = _join(source, folded)
            exact = [] if wanted is None else _first_spelled([p for p in named if fold_path(p) == wanted], exact_case)
            return Resolution(exact[0], exact, "relative", len(exact) > 1) if exact else None
        bare = folded.lstrip("/")
        exact = _first_spelled([p for p in named if fold_path(p) == bare], exact_case)
        if exact:
            return Resolution(exact[0], exact, "path", len(exact) > 1 and not exact_case(exact[0]))
        if folded.startswith("/"):
            return None
        ending = [p for p in named if fold_path(p).endswith(bare)]
        if not ending:
            return None
        folder = fold_path(source).rpartition("/")[0]
        inside = [p for p in ending if folder and fold_path(p).startswith(folder + "/")]
        others = [p for p in ending if p not in inside]
        order = [*sorted(inside, key=_short), *sorted(others, key=_short)]
        own = [p for p in inside if fold_path(p).rpartition("/")[0] == folder]
        return Resolution(order[0], order, "suffix", len(order) > 1 and len(own) != 1 and len(inside) != 1)

    def _alias(self, path: str) -> Resolution | None:
        found = sorted(set(self._called(fold(path))), key=_short)
        return Resolution(found[0], found, "alias", len(found) > 1) if found else None

    def nearest(self, target: str, n: int = 3) -> list[str]:
        """Up to `n` files whose name or alias is most like `target`, best first; for "did you mean"."""
        wanted = stem(fold_path(target.partition("#")[0] or target).rsplit("/", 1)[-1])
        if not wanted:
            return []
        pairs, size = _pairs(wanted), len(wanted)
        scores: dict[str, float] = {}
        for name, rel in self._stems():
            if not name or not (size // 3 <= len(name) <= 4 * size + 8):
                continue
            other = _pairs(name)
            score = 2 * len(pairs & other) / (len(pairs) + len(other))
            if wanted in name or name in wanted:
                score += 0.3
            if score > max(0.45, scores.get(rel, 0)):
                scores[rel] = score
        return sorted(scores, key=lambda rel: (-scores[rel], _short(rel)))[:n]


def fold_path(path: str) -> str:
    """`fold` for each part of a path."""
    return fold(path) if path.isascii() and "  " not in path else "/".join(fold(part) for part in path.split("/"))


def file_key(rel: str) -> str:
    """The key under which a file is looked up: its folded name, extension included."""
    return fold(rel.rsplit("/", 1)[-1])


def stem(name: str) -> str:
    """A folded file name without `.md`."""
    return name[:-3] if name.endswith(".md") else name


def _short(path: str) -> tuple[int, str]:
    return len(path), path


def _spelling(path: str) -> Callable[[str], bool]:
    tail = path.lstrip("./")
    return lambda rel: rel.endswith((tail, tail + ".md"))


def _first_spelled(rels: list[str], exact: Callable[[str], bool]) -> list[str]:
    return sorted(rels, key=lambda rel: (not exact(rel), rel))


def _join(source: str, folded: str) -> str | None:
    """`./x` and `../x` from the folder of `source`; None if that leaves the vault."""
    parts = [p for p in fold_path(source).split("/")[:-1] if p]
    for part in folded.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _pairs(name: str) -> set[str]:
    return {name[i : i + 2] for i in range(len(name) - 1)} or {name}
