"""What a release ships of notes, templates, bases, skills and agents, each with the hash of its content.

A profile removes a file only while it is what was shipped; the hash tells.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache

NAME = "shipped.json"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOTS = ("brain", "work", "org", "perf", "reference", "thinking", "inbox", "memories")
PLACES = (
    *ROOTS, "templates", "bases", ".agents/skills", ".claude/skills", ".claude/agents", ".codex/agents",
    ".gemini/commands", ".gemini/agents",
)  # fmt: skip
SINGLE = ("Home.md",)


@cache
def shipped() -> dict[str, str]:
    """Path -> hash of everything the release ships in these places."""
    with open(os.path.join(HERE, NAME), encoding="utf-8") as file:
        return dict(json.load(file))


def digest(data: bytes) -> str:
    """The hash of a file's content, whatever its line ends."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()[:32]


def unchanged(root: str, rel: str) -> bool | None:
    """Whether the file is what was shipped; None when it is not there."""
    try:
        with open(os.path.join(root, rel), "rb") as file:
            return digest(file.read()) == shipped().get(rel)
    except OSError:
        return None


def survey(root: str, listed: list[str] | None = None) -> dict[str, str]:
    """Path -> hash of what lies in these places: of the files `listed`, by default those that git sees."""
    from vaultcore import git

    if listed is None:
        listed = git.files(root)
    if listed is None:
        listed = [
            os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            for place in PLACES
            for folder, _, names in os.walk(os.path.join(root, place))
            for name in names
        ] + list(SINGLE)
    found: dict[str, str] = {}
    for rel in sorted(set(listed)):
        if rel in SINGLE or any(rel.startswith(place + "/") for place in PLACES):
            try:
                with open(os.path.join(root, rel), "rb") as file:
                    found[rel] = digest(file.read())
            except OSError:
                continue  # listed by git, deleted on disk
    return found


def build(root: str) -> bool:
    """Write the inventory of what git tracks at `root` beside this module; whether it changed."""
    from vaultcore import git

    text = json.dumps(survey(root, git.files(root, untracked=False)), indent=1, ensure_ascii=False) + "\n"
    path = os.path.join(HERE, NAME)
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    except OSError:
        pass
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    shipped.cache_clear()
    return True
