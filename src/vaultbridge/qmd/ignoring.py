"""Which notes qmd must not index: what Obsidian ignores, what the policy never exposes, what is private now.

As globs relative to the collection, for qmd's `ignore`. Every hit is held against the policy anyway; this keeps the
text itself out of a second store.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from vaultcore import places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vaultbridge.bridge import Bridge

APP = os.path.join(".obsidian", "app.json")
RECORD = "qmd-ignored.json"
LARGEST = 1_000_000
_SPECIAL = re.compile(r"([\\*?\[\](){}!+@|])")


class Rules:
    """What to ignore: `filters` from Obsidian (None: its settings cannot be read, so what is there stays), `withheld`
    by the policy; `remarks` are sentences about what could not be carried over."""

    __slots__ = ("filters", "remarks", "withheld")

    def __init__(self, filters: list[str] | None, withheld: list[str], remarks: list[str]) -> None:
        self.filters, self.withheld, self.remarks = filters, withheld, remarks


def wanted(bridge: Bridge) -> Rules:
    """The rules for a vault as it is now. The index must be up to date."""
    filters, remarks = obsidian(bridge.root)
    return Rules(filters, withheld(bridge), remarks)


def obsidian(root: str) -> tuple[list[str] | None, list[str]]:
    """Obsidian's "excluded files" as globs, with remarks. None when they cannot be read; none at all when there is no
    such file."""
    path = os.path.join(root, APP)
    try:
        with open(path, "rb") as file:
            held = json.loads(file.read(LARGEST).decode("utf-8-sig"))
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError, RecursionError) as error:
        return None, [f"{APP} cannot be read ({str(error)[:120]}): the ignore rules stay as they are"]
    declared = held.get("userIgnoreFilters") if isinstance(held, dict) else None
    found, remarks = list[str](), list[str]()
    for entry in declared if isinstance(declared, list) else ():
        if not isinstance(entry, str) or not entry.strip("/ "):
            continue
        if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
            remarks.append(f"{APP}: {entry[:80]} is a regular expression, which qmd has no form for: left out")
            continue
        folder = entry.endswith("/") or os.path.isdir(os.path.join(root, entry))
        found.append(literal(entry.strip("/")) + ("/**" if folder else ""))
    return list(dict.fromkeys(found)), remarks


def withheld(bridge: Bridge) -> list[str]:
    """The notes that may never be shown, by path or by their properties; a folder's name where that is all of it."""
    policy = bridge.policy
    hidden, shown = list[str](), set[str]()
    for row in bridge.index.notes():
        if row.private or policy.refuses(row.rel) == "never":
            hidden.append(row.rel)
        else:
            shown.update(_folders(row.rel))
    whole = dict[str, None]()
    for rel in hidden:
        folder = next((folder for folder in _folders(rel) if folder not in shown), None)
        whole[literal(rel) if folder is None else literal(folder) + "/**"] = None
    return sorted(whole)


def _folders(rel: str) -> list[str]:
    """The folders above a note, outermost first."""
    parts = rel.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def literal(path: str) -> str:
    """A glob that matches exactly this path."""
    return _SPECIAL.sub(r"\\\1", path)


def merged(held: Iterable[str], before: Iterable[str], rules: Rules, kept: Iterable[str]) -> list[str]:
    """The new list: what others wrote into it, then ours. `before`: what we wrote last time; `kept`: the part of that
    which came from Obsidian, for when its settings cannot be read."""
    ours = set(before)
    filters = list(kept) if rules.filters is None else rules.filters
    return list(dict.fromkeys([*(rule for rule in held if rule not in ours), *filters, *rules.withheld]))


def recorded(root: str) -> tuple[list[str], list[str]]:
    """(filters, withheld) as written last time."""
    try:
        with open(os.path.join(places.cache(root), RECORD), encoding="utf-8") as file:
            held = json.load(file)
        return [str(rule) for rule in held["filters"]], [str(rule) for rule in held["withheld"]]
    except (OSError, ValueError, KeyError, TypeError):
        return [], []


def record(root: str, filters: list[str], hidden: list[str]) -> None:
    """Remember what is ours in qmd's list, so that another's rules are never taken out of it."""
    path = os.path.join(places.cache(root), RECORD)
    draft = f"{path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump({"filters": filters, "withheld": hidden}, file)
    os.replace(draft, path)
