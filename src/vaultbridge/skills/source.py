"""The files that skills and agents are written in: a block of properties in YAML, then Markdown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from vaultcore.errors import VaultError

SKILLS = ".agents/skills"
AGENTS = ".claude/agents"
SIZE = 200_000
BLOCK = re.compile(r"---\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """One file: `rel` in the vault, `head` its properties, `body` the text below, `body_line` where that starts."""

    rel: str
    name: str
    head: dict[str, Any]
    body: str
    body_line: int


def read(root: str, rel: str) -> Source:
    """The file at `rel`, taken apart. Raises VaultError with the path where it has not that form."""
    import yaml

    try:
        with open(os.path.join(root, rel), encoding="utf-8") as file:
            text = file.read(SIZE + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise VaultError(f"{rel} cannot be read: {error.__class__.__name__}") from error
    if len(text) > SIZE:
        raise VaultError(f"{rel} is larger than {SIZE:,} characters: move parts of it to files beside it")
    if text.startswith("\ufeff"):
        raise VaultError(f"{rel} starts with a byte order mark: save it as UTF-8 without one")
    match = BLOCK.match(text)
    if not match:
        raise VaultError(f"{rel} does not start with a closed block of properties between two '---' lines")
    try:
        head = yaml.safe_load(match.group(1) or "")
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 2}" if mark else ""
        why = getattr(error, "problem", "") or "not valid YAML"
        raise VaultError(f"{rel}{line}: {why}; quote values that hold ': '") from error
    if not isinstance(head, dict):
        raise VaultError(f"{rel}: the properties must be names with values")
    name = os.path.basename(os.path.dirname(rel)) if rel.endswith("SKILL.md") else os.path.basename(rel)[:-3]
    return Source(rel, name, head, text[match.end() :], text.count("\n", 0, match.end()) + 1)


def skill_files(root: str) -> list[str]:
    """The SKILL.md of every skill folder, whether it exists or not."""
    return [f"{SKILLS}/{name}/SKILL.md" for name in folders(os.path.join(root, SKILLS))]


def agent_files(root: str) -> list[str]:
    """The agents' files."""
    try:
        names = os.listdir(os.path.join(root, AGENTS))
    except OSError:
        return []
    return [f"{AGENTS}/{name}" for name in sorted(names) if name.endswith(".md") and not name.startswith(".")]


def folders(path: str) -> list[str]:
    """The names of the folders in `path`; none where it does not exist."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return []


def files(path: str, prefix: str = "") -> list[str]:
    """Every file below `path`, relative to it, POSIX slashes; dot files and byte code left out."""
    found: list[str] = []
    try:
        with os.scandir(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
    for entry in listed:
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir(follow_symlinks=False):
            found.extend(files(entry.path, f"{prefix}{entry.name}/"))
        elif entry.is_file():
            found.append(prefix + entry.name)
    return found
