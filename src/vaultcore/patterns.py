"""Paths and globs of the exposure policy, compared without regard to case, Unicode form and separators."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

GLOB = re.compile(r"[*?]|\[[!^]?[^/][^/\]]*\]")
_LONGEST = 500


def fold(path: str) -> str:
    """Return a path in the form in which spellings of the same name are equal: case-folded, composed."""
    if path.isascii():
        return path.lower()
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def loose(path: str) -> str:
    """Fold a path as never-expose needs it: dots and blanks at the end of a part, which Windows drops, do not count."""
    if ". " in path or "./" in path or " /" in path or path[-1:] in (".", " "):
        path = "/".join(part.rstrip(". ") or part for part in path.split("/"))
    return fold(path)


class Roots:
    """Folders, files and globs that open something: honoured as declared, never widened.

    `work` opens a file or a folder and all below it; `brain/*.md` only files directly in brain; `perf/h*-*/` all
    below the matching folders; `**` crosses folders.
    """

    __slots__ = ("_match", "entries", "unusable")

    def __init__(self, declared: Iterable[str]) -> None:
        self.entries, self.unusable = _clean(declared, "root")
        sources = [_opening(entry) for entry in self.entries]
        self._match = re.compile("|".join(sources)).fullmatch if sources else None

    def match(self, rel: str) -> bool:
        """Tell whether a note's path lies in one of the roots."""
        return self._match is not None and self._match(fold(rel)) is not None


class Names:
    """Names, paths, folders and globs that withhold something, in any spelling and at any depth below a match.

    A bare name (`secret.md`, `hr`, `*.key.md`) matches a file or folder of that name anywhere; a path starts at the
    vault. The ending .md may be left out.
    """

    __slots__ = ("_match", "entries", "unusable")

    def __init__(self, declared: Iterable[str]) -> None:
        self.entries, self.unusable = _clean(declared, "never-expose entry")
        sources = [_closing(entry) for entry in self.entries]
        self._match = re.compile("|".join(sources)).match if sources else None

    def match(self, rel: str) -> bool:
        """Tell whether a note's path, or a folder above it, is named."""
        return self._match is not None and self._match(loose(rel)) is not None


def _clean(declared: Iterable[str], what: str) -> tuple[list[str], list[str]]:
    """Bring entries into one form: / as separator, no ./ and no doubled slashes; a slash at the end is kept."""
    kept: list[str] = []
    unusable: list[str] = []
    for entry in declared:
        text = entry.strip().replace("\\", "/")
        parts = [part.strip() if GLOB.search(part) is None else part for part in text.split("/")]
        parts = [part for part in parts if part not in ("", ".")]
        if not parts or ".." in parts or len(text) > _LONGEST:
            unusable.append(f"the {what} {entry[:80]!r} names nothing in the vault and is not used")
            continue
        clean = "/".join(parts) + ("/" if text.endswith("/") else "")
        if clean not in kept:
            kept.append(clean)
    return kept, unusable


def _opening(entry: str) -> str:
    path, folder = entry.rstrip("/"), entry.endswith("/")
    source = _translate(fold(path))
    if GLOB.search(path) is None:
        return f"(?s:{source}(?:/.*)?)"
    return f"(?s:{source}/.*)" if folder else f"(?s:{source})"


def _closing(entry: str) -> str:
    path = entry.rstrip("/")
    source = _translate(loose(path))
    if "[" in path:
        source = f"(?:{source}|{re.escape(loose(path))})"  # a folder may well be called [drafts]
    anchor = "" if "/" in path else "(?:.*/)?"
    return rf"(?s:{anchor}{source}(?:\.md)?(?:/|\Z))"


def _translate(pattern: str) -> str:
    """Return a regular expression for a folded glob: * and ? stay inside a part, ** crosses parts, [a-z] is a class."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            end = at
            while pattern[end : end + 1] == "*":
                end += 1
            whole = (at == 0 or pattern[at - 1] == "/") and pattern[end : end + 1] in ("", "/")
            if end - at > 1 and whole:
                if pattern[end : end + 1] == "/":
                    out.append("(?:[^/]+/)*")
                    end += 1
                else:
                    out.append(".+")
            else:
                out.append("[^/]*")
            at = end
            continue
        if char == "?":
            out.append("[^/]")
        elif char == "[":
            close = pattern.find("]", at + 2 if pattern[at + 1 : at + 2] not in ("!", "^") else at + 3)
            inner = pattern[at + 1 : close] if close > 0 else ""
            if not inner or "/" in inner:
                out.append(r"\[")
            else:
                out.append(_class(inner))
                at = close
        else:
            out.append(re.escape(char))
        at += 1
    return "".join(out)


def _class(inner: str) -> str:
    """Return a character class; a range that runs backwards holds nothing."""
    negated = inner[0] in "!^"
    rest = inner[1:] if negated else inner
    parts: list[str] = []
    at = 0
    while at < len(rest):
        if rest[at + 1 : at + 2] == "-" and at + 2 < len(rest):
            if rest[at] <= rest[at + 2]:
                parts.append(f"{re.escape(rest[at])}-{re.escape(rest[at + 2])}")
            at += 3
        else:
            parts.append(re.escape(rest[at]))
            at += 1
    if not parts:
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]"
