"""Taking back an operation that failed half way, also where the disk has no room for it any more."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .journal import Journal


def undo(root: str, done: list[tuple[str, bytes | None]]) -> bool:
    """Put everything back, what was made first: on a full disk its room is needed. Whether all of it could be."""
    from functools import partial

    from vaultcore import write
    from vaultcore.errors import VaultError

    from . import intents

    made = [rel for rel, before in reversed(done) if before is None]
    whole = True

    def restore(rel: str, before: bytes) -> None:
        moved = [to for to in made if intents.read(root, to) == before] if intents.read(root, rel) is None else []
        if moved:  # a move goes back as one: its bytes are never only in our hands
            write.move(root, moved[0], rel)
            made.remove(moved[0])
        else:
            now = intents.read(root, rel)
            write.replace(root, rel, before, write.revision(now) if now is not None else None)

    def attempt(work: Callable[[], None]) -> None:
        nonlocal whole
        try:
            work()
        except (VaultError, OSError):
            whole = False

    lost = [(rel, before) for rel, before in reversed(done) if before is not None]
    for rel, before in lost:
        if intents.read(root, rel) is None:
            attempt(partial(restore, rel, before))
    for rel in list(made):
        attempt(partial(write.remove, root, rel))
    for rel, before in lost:
        if intents.read(root, rel) != before:
            attempt(partial(restore, rel, before))
    return whole


def go_on(root: str, steps: list[dict[str, Any]], journal: Journal, line: dict[str, Any], path: str) -> list[str]:
    """Go on with an undo that found no room: what was made is removed, what was added to properties is taken out.
    Returns the paths; the intent waits for the next opening when there is still no room."""
    from vaultcore import write
    from vaultcore.errors import VaultError

    from . import intents

    try:
        for step in steps:
            rel = str(step["rel"])
            if step["do"] == "create" and intents.is_done(root, step):
                write.remove(root, rel)
            elif step["do"] == "edit" and "entry" not in step and intents.is_done(root, step):
                back = {"set": dict.fromkeys(step.get("set") or {}), "drop": step.get("append") or {}}
                intents.do(root, {"do": "edit", "rel": rel, **back})
        journal.append(
            "repair",
            "system",
            str(line.get("caller", "")),
            path=line.get("path"),
            reason="a write that failed was taken back",
            tx=line["tx"],
        )
    except (VaultError, OSError):
        return []
    intents.drop(path)
    return [str(step["rel"]) for step in steps]
