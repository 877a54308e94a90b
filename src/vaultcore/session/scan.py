"""The scan of the whole vault for drift: done by the detached worker, read back by the hooks with its date."""

from __future__ import annotations

import os

from vaultcore.session import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultcore.session import hygiene

NAME = "hygiene.json"
VERSION = 1
RECENT = 300  # notes changed last whose times are kept, for the stop hook


def run(root: str, told: str) -> None:
    """Run every detector and remember what they found; `told` is what the index refresh complained about."""
    import time

    from vaultcore import walk
    from vaultcore.session import hygiene, settings

    now = time.time()
    notes = list(walk.walk(root))
    index = _index(root)
    vault = hygiene.Vault(root, settings.load(root), notes, index, now)
    flags: list[hygiene.Flag] = []
    unchecked: list[str] = []
    for detector in hygiene.DETECTORS:
        try:
            flag = detector(vault)
        except Exception as trouble:  # one broken detector must not hide the others
            unchecked.append(f"{detector.__name__} ({type(trouble).__name__})")
            continue
        if flag:
            flags.append(flag)
    try:
        if index is None:
            unchecked.append("broken links and orphans (no index here yet)")
        else:
            flags += hygiene.linking(vault)
    except Exception as trouble:
        unchecked.append(f"links ({type(trouble).__name__})")
    latest = sorted(notes, key=lambda note: -note.mtime_ns)[:RECENT]
    state.write(
        root,
        NAME,
        {
            "version": VERSION,
            "as_of": now,
            "notes": len(notes),
            "index": told or ("" if index is not None else "not built"),
            "flags": [flag.as_json() for flag in flags],
            "unchecked": unchecked,
            "recent": [[note.rel, note.size, note.mtime_ns] for note in latest],
        },
    )


def load(root: str) -> dict[str, Any] | None:
    """What the last scan found, or None."""
    found = state.read(root, NAME)
    return found if isinstance(found, dict) and found.get("version") == VERSION else None


def _index(root: str) -> Any:
    """The index, if one has been built; never built here, where PyYAML may be missing."""
    from vaultcore import places
    from vaultcore.errors import VaultError

    try:
        if not os.path.exists(os.path.join(places.cache(root), "index.sqlite")):
            return None
        from vaultcore.index import open_index

        return open_index(root)
    except (ImportError, OSError, VaultError):
        return None
