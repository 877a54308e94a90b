"""Which finished work moves where, and the move itself: never over another file, with a receipt."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from vaultbridge.fence import flat
from vaultcore import properties, walk
from vaultcore import write as writer
from vaultcore.errors import VaultError

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot
    from vaultcore.index.rows import Row

ACTIVE = "work/active"
ARCHIVE = "work/archive"


@dataclass(frozen=True)
class Move:
    """One note, or one folder of a topic, that goes to the archive; `files` maps every file's path, old to new."""

    source: str
    target: str
    why: str
    files: dict[str, str]


@dataclass(frozen=True)
class Skip:
    """Finished work that stays, and what a person would have to do."""

    source: str
    why: str


@dataclass
class Tidying:
    """The plan, and after `apply` what was done: `edited` files whose links changed, `receipt` the note about it."""

    moves: list[Move]
    skipped: list[Skip]
    edits: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    receipt: str = ""


def plan(vault: Snapshot, today: date) -> Tidying:
    """What would move, and which links would change. Writes nothing."""
    from vaultbridge.tidy import rewriting

    done = {str(value).strip().lower() for value in vault.manifest.get("done_statuses")}
    tidying = Tidying([], [])
    claimed: set[str] = set()
    for source, rows in sorted(works(vault).items()):
        states = {row.rel: status(row) for row in rows}
        finished = [rel for rel, state in states.items() if state in done]
        if not finished:
            continue
        folder = not source.lower().endswith(".md")
        if folder and len(finished) < len([state for state in states.values() if state]):
            open_ones = [rel for rel, state in states.items() if state and state not in done]
            tidying.skipped.append(Skip(source, f"part of it is not finished: {', '.join(sorted(open_ones)[:3])}"))
            continue
        year = max(completed(row, today) for row in rows if row.rel in finished)
        target = f"{ARCHIVE}/{year}/{source.rsplit('/', 1)[-1]}"
        if os.path.lexists(os.path.join(vault.root, target)) or target.lower() in claimed:
            tidying.skipped.append(Skip(source, f"{target} exists already: rename one of them"))
            continue
        files = members(vault.root, source, target)
        if files is None:
            tidying.skipped.append(Skip(source, "it holds links or files that cannot be moved: move it by hand"))
            continue
        claimed.add(target.lower())
        states_done = sorted({states[rel] for rel in finished})
        tidying.moves.append(Move(source, target, f"status: {', '.join(states_done)}", files))
    moved = {old: new for move in tidying.moves for old, new in move.files.items()}
    if moved:
        tidying.edits, tidying.remarks = rewriting.edits(vault, moved)
    return tidying


def works(vault: Snapshot) -> dict[str, list[Row]]:
    """Each piece of work in the active folder: a note of its own, or a folder with all its notes."""
    found: dict[str, list[Row]] = {}
    for row in vault.rows:
        if row.rel.startswith(ACTIVE + "/") and not row.conflict:
            first = row.rel[len(ACTIVE) + 1 :].split("/")[0]
            found.setdefault(f"{ACTIVE}/{first}", []).append(row)
    return found


def status(row: Row) -> str:
    value: Any = row.properties.get("status")
    return str(value[0] if isinstance(value, list) and value else value or "").strip().lower()


def completed(row: Row, today: date) -> str:
    """The year the work ended: its `completed` property, else now."""
    value = str(row.properties.get("completed") or "")
    return value[:4] if value[:4].isdigit() and value[4:5] == "-" else f"{today.year:04}"


def members(root: str, source: str, target: str) -> dict[str, str] | None:
    """Every file of the work, old path -> new; None when something in it is a link or leads outside."""
    full = os.path.join(root, source)
    if os.path.islink(full):
        return None
    if os.path.isfile(full):
        return {source: target} if walk.contained(root, source) else None
    found: dict[str, str] = {}
    for folder, folders, names in os.walk(full):
        if any(os.path.islink(os.path.join(folder, name)) for name in (*folders, *names)):
            return None
        for name in names:
            rel = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            found[rel] = target + rel[len(source) :]
    return found


def apply(vault: Snapshot, tidying: Tidying, today: date) -> None:
    """Carry the plan out under a lock, all of it or nothing: where something stops it, what was done is undone.

    Raises VaultError with what stopped it; the vault is then as it was.
    """
    moved = {old: new for move in tidying.moves for old, new in move.files.items()}
    undo: list[Callable[[], None]] = []
    with writer.lock(vault.root, "tidy"):
        try:
            for rel, (before, _) in tidying.edits.items():
                with open(os.path.join(vault.root, rel), "rb") as file:
                    if file.read() != before:
                        raise VaultError(f"{rel} changed while the plan was made: run tidy again")
            for old, new in sorted(moved.items()):
                writer.move(vault.root, old, new, hidden=True)
                undo.append(partial(writer.move, vault.root, new, old, hidden=True))
            for rel, (before, after) in tidying.edits.items():
                place = moved.get(rel, rel)
                writer.replace(vault.root, place, after, writer.revision(before))
                undo.append(partial(writer.replace, vault.root, place, before, writer.revision(after)))
                tidying.edited.append(place)
            tidying.receipt = receipt(vault, tidying, today)
        except (VaultError, OSError) as error:
            for step in reversed(undo):
                step()
            tidying.edited.clear()
            what = str(error) if isinstance(error, VaultError) else f"the move failed ({error.strerror or error})"
            raise VaultError(f"{what} (nothing was moved)") from error
        for move in tidying.moves:
            remove_folders(os.path.join(vault.root, move.source))


def remove_folders(path: str) -> None:
    """Remove the folder a topic has left behind, where nothing is in it any more."""
    for folder, _, _ in os.walk(path, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            return


def receipt(vault: Snapshot, tidying: Tidying, today: date) -> str:
    """Write the note that says what was moved; its path. "" when nothing was done."""
    if not tidying.moves and not tidying.edited:
        return ""
    folder = "thinking" if os.path.isdir(os.path.join(vault.root, "thinking")) else vault.manifest.get("mcp_inbox")
    head = {
        "date": today.isoformat(),
        "description": "Receipt of a clean-up: which finished work went to the archive, and which links changed.",
        "tags": ["thinking"],
    }
    lines = [properties.dump(head), "", "Moved by `om tidy`. See also [[Work Index]].", "", "## Moved", ""]
    if not os.path.exists(os.path.join(vault.root, "work/Work Index.md")):
        lines[2] = "Moved by `om tidy`."
    for move in tidying.moves:
        lines.append(f"- `{flat(move.source, 300)}` to `{flat(move.target, 300)}` ({move.why})")
    for title, items in (
        ("Links changed in", [f"- `{flat(rel, 300)}`" for rel in tidying.edited]),
        ("Left alone", [f"- `{flat(skip.source, 300)}`: {flat(skip.why, 300)}" for skip in tidying.skipped]),
        ("To do by hand", [f"- {flat(remark, 300)}" for remark in tidying.remarks]),
    ):
        if items:
            lines += ["", f"## {title}", "", *items]
    text = "\n".join(line.rstrip("\n") for line in lines) + "\n"
    for number in range(1, 100):
        name = f"Tidied {today.isoformat()}" + (f" ({number})" if number > 1 else "")
        try:
            return writer.create(vault.root, f"{folder}/{name}.md", text.encode())
        except VaultError as error:
            if getattr(error, "code", "") != "exists":
                raise
    raise VaultError(f"{folder} holds too many receipts of {today.isoformat()}: clear some away")
