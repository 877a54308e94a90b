"""Three to five occasions, taken from a repository, at which an agent should look into the vault first."""

from __future__ import annotations

import json
import os
import re
from collections import Counter

_LANGUAGES = {
    **dict.fromkeys((".py", ".pyi"), "Python"),
    **dict.fromkeys((".ts", ".tsx", ".mts"), "TypeScript"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "JavaScript"),
    **dict.fromkeys((".cpp", ".cc", ".hpp"), "C++"),
    **{".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".swift": "Swift", ".rb": "Ruby", ".php": "PHP"},
    **{".cs": "C#", ".c": "C", ".h": "C", ".scala": "Scala", ".ex": "Elixir"},
    **{".sh": "shell", ".sql": "SQL", ".tf": "Terraform", ".dart": "Dart", ".lua": "Lua", ".vue": "Vue", ".r": "R"},
    **{
        ".hs": "Haskell",
        ".clj": "Clojure",
        ".zig": "Zig",
        ".nix": "Nix",
        ".css": "CSS",
        ".scss": "CSS",
        ".html": "HTML",
    },
}
_PACKAGES = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "composer.json")
_PASSED_OVER = frozenset("node_modules vendor dist build target venv env __pycache__ out coverage tmp".split())
_PLAIN_HEADINGS = re.compile(
    r"^(table of )?contents?$|install|licen[cs]e|contribut|usage|getting started|quick ?start|requirements|credits|"
    r"overview|introduction|about|features|acknowledg|changelog|support|badges|documentation|authors?$|examples?$|setup",
    re.I,
)
_GENERAL = (
    "choosing a library, a pattern or a convention",
    "an error that you have not seen here before",
    "a question of why something is as it is",
)
_MOST_FILES = 3000


def triggers(folder: str) -> list[str]:
    """Three to five phrases that complete "Search it first for …"."""
    names, folders = _look(folder)
    found: list[str] = []
    top = [name for name, _ in Counter(names).most_common(2)]
    if top:
        found.append(f"a design decision about {' or '.join(top)} code")
    if folders:
        found.append(f"work in {_or([f'`{name}/`' for name in folders[:3]])}")
    package = _package(folder)
    if package:
        found.append(f"the release, dependencies or callers of {package}")
    headings = _headings(folder)
    if headings:
        found.append(f"anything about {_or(headings[:3])}")
    found += _GENERAL[: max(1, 3 - len(found))]
    return found[:5]


def _look(folder: str) -> tuple[list[str], list[str]]:
    """(language of each source file, top folders by how many they hold); bounded."""
    languages: list[str] = []
    counts: Counter[str] = Counter()
    seen = 0
    for base, inner, files in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name not in _PASSED_OVER)
        relative = os.path.relpath(base, folder)
        if relative.count(os.sep) >= 4:
            inner[:] = []
        for name in sorted(files):
            seen += 1
            language = _LANGUAGES.get(os.path.splitext(name)[1].lower())
            if language:
                languages.append(language)
                if relative != ".":
                    counts[relative.split(os.sep)[0]] += 1
        if seen > _MOST_FILES:
            break
    return languages, [clean for name, _ in counts.most_common(3) if (clean := phrase(name))]


def _package(folder: str) -> str:
    for name in _PACKAGES:
        text = _read(os.path.join(folder, name))
        if name.endswith(".json"):
            try:
                found = json.loads(text).get("name") if text else None
            except (ValueError, AttributeError, RecursionError):
                continue
        elif name == "go.mod":
            match = re.search(r"(?m)^module\s+(\S+)", text)
            found = match.group(1) if match else None
        else:
            match = re.search(r'(?ms)^\[(?:project|package|tool\.poetry)\]\s*?$[^\[]*?^name\s*=\s*["\']([^"\']+)', text)
            found = match.group(1) if match else None
        if isinstance(found, str) and phrase(found):
            return f"`{phrase(found)}`"
    return ""


def _headings(folder: str) -> list[str]:
    for name in ("README.md", "readme.md", "README.rst", "README"):
        text = _read(os.path.join(folder, name))
        if text:
            text = re.sub(r"(?ms)^(```|~~~).*?^\1", "", text)
            found = [phrase(line) for line in re.findall(r"(?m)^##\s+(.+?)\s*#*\s*$", text)]
            return [f'"{head}"' for head in dict.fromkeys(found) if head and not _PLAIN_HEADINGS.search(head)]
    return []


def phrase(text: str) -> str:
    """`text` as a few plain words: no markup, no line breaks, at most 60 characters. It ends up in what agents read."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>]*>|[`*\"<>|\[\]]", "", text)
    words = " ".join(word for word in "".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= 60 else words[:60].rsplit(" ", 1)[0] + "…"


def _or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _read(path: str) -> str:
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as handle:
            return handle.read(100_000).decode("utf-8", "replace")
    except OSError:
        return ""
