"""The projects that a vault knows, as rows for a person or a program."""

from __future__ import annotations

from collections import Counter
from typing import Any

from vaultcore import projects as bindings
from vaultcore.identity import canonical


def projects(root: str) -> tuple[list[dict[str, Any]], str]:
    """(rows by name, what is wrong with the file). A row: name, since, evidence, within, platforms, agents, contested,
    memories (how many name the project; None when the index cannot say)."""
    known = bindings.load(root)
    counts = _memories(root)
    here = registered(root)
    rows = []
    for name, entry in sorted(known.entries.items()):
        evidence = [*entry.remotes, *(f"root commit {commit[:12]}" for commit in entry.roots)]
        # a linked worktree is recognised by its main working tree: only the registration knows its folder
        folders = len({*entry.paths, *(known.hash(folder) for folder in here.get(name, ()))})
        if folders:
            evidence.append(f"{folders} folder{'s' if folders > 1 else ''}")
        rows.append(
            {
                "name": name,
                "since": entry.since,
                "evidence": evidence,
                "within": entry.within,
                "platforms": entry.platforms,
                "agents": entry.agents,
                "contested": [rival.get("since", "") for rival in entry.contested],
                "broken": entry.broken,
                "memories": None if counts is None else counts[name],
            }
        )
    return rows, known.problem


def registered(root: str) -> dict[str, dict[str, set[str]]]:
    """Project -> its registered folders on this machine -> the agents that a file there was written for."""
    from vaultbridge.registration import record
    from vaultcore import identity
    from vaultcore.errors import VaultError

    found: dict[str, dict[str, set[str]]] = {}
    try:
        entries = record.load(root)
    except VaultError:  # registering and taking back say so
        return found
    folders: dict[str, set[str]] = {}
    for entry in entries.values():
        for scope in {str(entry.get("scope")), *record.lines(entry)} - {"user"}:
            folders.setdefault(scope, set()).update(record.words(entry, "agents"))
    for folder, agents in folders.items():
        name = identity.resolve(root, None, [identity.Claim("flag", folder)]).claimed
        if name:
            found.setdefault(name, {})[folder] = agents
    return found


def line(row: dict[str, Any]) -> str:
    """One row in one line, with what to do about a contested name."""
    parts = [row["name"]]
    parts += [f"in {row['within']}"] if row["within"] else []
    parts += ["; ".join(row["evidence"]) or "no evidence yet"]
    parts += [f"platforms {', '.join(row['platforms'])}"] if row["platforms"] else []
    parts += [f"agents {', '.join(row['agents'])}"] if row["agents"] else []
    parts += [f"memories {row['memories']}"] if row["memories"] is not None else []
    if row["contested"]:
        parts.append(
            f"CONTESTED by {len(row['contested'])} other folder(s), last {max(row['contested'])}: run `om register` "
            "there with --as NEWNAME, or --same"
        )
    if row["broken"]:
        parts.append("DAMAGED in .om/projects.json: repair it or restore it with git")
    return " · ".join(parts)


def _memories(root: str) -> Counter[str] | None:
    import sqlite3

    from vaultbridge.bridge import Bridge
    from vaultcore import properties
    from vaultcore.errors import VaultError

    bridge = Bridge(root, channel="person")
    found: Counter[str] = Counter()
    try:
        bridge.refresh()
        for row in bridge.index.memories():
            named = row.properties.get("projects")
            listed = properties.as_list(named) if isinstance(named, (str, list)) else []
            found.update({name for one in listed if (name := canonical(one))})
    except (VaultError, sqlite3.Error, OSError):  # the list of projects is worth having without the counts
        return None
    finally:
        bridge.close()
    return found
