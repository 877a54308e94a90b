"""Keeping qmd's index up to the files: the ignore rules first, then `update`, then `embed` where the models are. One
process of a vault does it at a time; everybody else asks the vault's one worker."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from vaultcore import locks, qmd
from vaultcore.errors import Refusal, VaultError
from vaultcore.numerals import counted

from . import config, ignoring, models, program

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.qmd import Index

UPDATE = 120.0  # seconds; a first one of 10,000 notes takes 30
EMBED = 300.0  # seconds of one round; qmd goes on where it stopped
ANSWER = 30.0
PATTERN = "**/*.md"


def setup(bridge: Bridge) -> list[str]:
    """Register this vault with qmd and index it; the lines say what was done. Can be run again at any time.

    Raises VaultError when qmd is missing or too old, when the index name is another vault's, or when qmd fails.
    """
    found = program.needed(str(bridge.manifest.get("qmd_min_version")))
    index = qmd.resolve(bridge.root, bridge.manifest)
    if index.taken and not index.registered:
        raise VaultError(
            f"the qmd index {index.name} is in use for {index.taken}: "
            "set another qmd_index in vault-manifest.local.json"
        )
    said = [f"qmd {found.version}, index {index.name}"]
    if index.problem:
        said.append(index.problem)
    bridge.index.refresh(budget=None, full=True)
    with locks.lock(bridge.root, "qmd", timeout=60):
        if not index.registered:
            said.append(f"collection {index.collection}: {bridge.root}")
        purge, remarks = describe(bridge, index)
        said += remarks
        said.append(update(bridge, found, index, purge))
        told = program.qmd(found, bridge.root, index, "collection", "show", index.collection, timeout=ANSWER)
        if told[0] != 0 or bridge.root not in told[1]:
            raise VaultError(f"qmd does not show the collection {index.collection}: {program.last_line(told[1])}")
    missing = models.missing(models.present(index))
    if missing:
        said.append(
            f"models missing: {', '.join(missing)}. Until `qmd --index {index.name} pull` has fetched them"
            " qmd adds nothing to searches, which are answered by the embedded engine"
        )
    else:
        said.append("vectors are made in the background: `om qmd status` says how far they are")
    return said


def remove(bridge: Bridge) -> list[str]:
    """Take this vault out of qmd: its collection, and the store when nothing else is in it."""
    index = qmd.resolve(bridge.root, bridge.manifest)
    if not index.registered:
        return ["qmd has no index of this vault"]
    with locks.lock(bridge.root, "qmd", timeout=60):
        shared = config.drop(index.config, index.collection)
        ignoring.record(bridge.root, [], [])
        if not shared:
            for end in ("", "-wal", "-shm"):
                if os.path.exists(index.store + end):
                    os.remove(index.store + end)
            return [f"the qmd index {index.name} is removed"]
    found = program.find(str(bridge.manifest.get("qmd_min_version")))
    if isinstance(found, program.Program):
        for word in ("update", "cleanup"):
            program.qmd(found, bridge.root, index, word, timeout=UPDATE)
        flush(index)
    return [f"the collection {index.collection} is removed from the qmd index {index.name}"]


def describe(bridge: Bridge, index: Index) -> tuple[bool, list[str]]:
    """Write collection, context and ignore rules into qmd's configuration. (whether text must be purged from its
    store, remarks)."""
    rules = ignoring.wanted(bridge)
    filters, hidden = ignoring.recorded(bridge.root)
    held = config.rules(index.config, index.collection)
    ignore = ignoring.merged(held, [*filters, *hidden], rules, filters)
    changes: dict[str, object] = {"ignore": ignore}
    if not index.registered:
        changes = {"path": bridge.root, "pattern": PATTERN, **changes}
    context = str(bridge.manifest.get("qmd_context")).strip()
    if context:
        changes["context"] = {**contexts(index), "": " ".join(context.split())}
    changed = config.put(index.config, index.collection, changes)
    ignoring.record(bridge.root, filters if rules.filters is None else rules.filters, rules.withheld)
    index.registered = True
    return changed and bool(set(ignore) - set(held)), rules.remarks


def contexts(index: Index) -> dict[str, str]:
    """The contexts that the collection has, by folder inside it."""
    held = qmd.configuration(index.config).get("collections")
    entry = held.get(index.collection) if isinstance(held, dict) else None
    found = entry.get("context") if isinstance(entry, dict) else None
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def update(bridge: Bridge, found: program.Program, index: Index, purge: bool) -> str:
    """Bring the store up to the files; qmd's own account of it. The lock must be held. VaultError when it fails twice:
    once is what qmd does when another process opened the store at the same moment."""
    code, printed = program.qmd(found, bridge.root, index, "update", timeout=UPDATE)
    if code != 0:
        code, printed = program.qmd(found, bridge.root, index, "update", timeout=UPDATE)
    if code != 0:
        raise VaultError(f"`qmd update` failed: {program.last_line(printed)}")
    if purge:
        code, told = program.qmd(found, bridge.root, index, "cleanup", timeout=UPDATE)
        if code != 0:
            raise VaultError(f"`qmd cleanup` failed, ignored text is still in its store: {program.last_line(told)}")
        flush(index)
    lines = [line.strip() for line in printed.splitlines() if line.strip().startswith("Indexed:")]
    return lines[-1] if lines else "indexed"


def flush(index: Index) -> None:
    """Make the store's file be what its log says: while a server has it open, purged text would stay in both."""
    import sqlite3

    try:
        connection = sqlite3.connect(index.store, timeout=5)
        try:
            connection.execute("pragma wal_checkpoint(truncate)")
        finally:
            connection.close()
    except sqlite3.Error:
        pass  # the last one to close it does the same


def refresh(bridge: Bridge, wait: float = 0.0, embed: bool = True) -> list[str]:
    """Rules, `update`, `embed` with models, and a last `update` for what was written meanwhile. The lines say what was
    done; empty when this vault has no qmd index or another process is at it. The vault's index must be fresh."""
    found = program.find(str(bridge.manifest.get("qmd_min_version")))
    if not isinstance(found, program.Program) or bridge.manifest.get("search.backend") == "embedded":
        return []
    index = qmd.resolve(bridge.root, bridge.manifest)
    if not index.registered:
        return []
    try:
        with locks.lock(bridge.root, "qmd", timeout=wait):
            purge, said = describe(bridge, index)
            said.append(update(bridge, found, index, purge))
            if embed and "embed" in models.present(index):
                said.append(vectors(bridge, found, index))
                update(bridge, found, index, False)
            return said
    except Refusal as refusal:
        if refusal.code != "busy":
            raise
        return []


def vectors(bridge: Bridge, found: program.Program, index: Index) -> str:
    """Make vectors for some minutes. When there is more to do and this got on, the worker is told to come again."""
    before = pending(bridge, found, index)
    if before == 0:
        return "vectors are up to date"
    minutes = f"{EMBED / 60:.0f}"
    code, printed = program.qmd(found, bridge.root, index, "embed", "--timeout", minutes, timeout=EMBED + 30)
    left = pending(bridge, found, index)
    if left == 0:
        return "vectors are up to date"
    if left is not None and before is not None and left < before:
        from vaultcore.session import refresh as worker

        worker.mark(bridge.root)
        return f"vectors are missing for {counted(left, 'note')}, the worker goes on with them"
    return f"embed got nowhere: {program.last_line(printed)}" if code else "embed: done"


def pending(bridge: Bridge, found: program.Program, index: Index) -> int | None:
    """Notes without vectors, None when qmd does not say."""
    code, printed = program.qmd(found, bridge.root, index, "status", timeout=ANSWER)
    if code != 0:
        return None
    told = re.search(r"Pending:\s+(\d+)", printed)
    return int(told[1]) if told else 0
