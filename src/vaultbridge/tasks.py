"""The open tasks of a vault, with where they stand and when they are due."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot

DAY = r"(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)"
DUE = re.compile(rf"(?:📅\s*|⏳\s*|\b(?:due|by|until|before)\b\s*:{{0,2}}\s*\[*){DAY}", re.IGNORECASE)


@dataclass(frozen=True)
class Task:
    """One task. `heading` is the path of headings above it; `due` and `dated` (the note's own date) are ISO or ""."""

    path: str
    line: int
    text: str
    done: bool
    marker: str
    heading: str
    due: str
    dated: str

    def overdue(self, today: date) -> bool:
        return bool(self.due) and not self.done and self.due < today.isoformat()


def tasks(vault: Snapshot, folder: str = "", done: bool = False) -> Iterator[Task]:
    """Every task of the notes below `folder` (""= the vault), finished ones only with `done`. Templates, manuals,
    archived work and memories hold none that anybody means to do.
    """
    prefix = folder.strip("/") + "/" if folder.strip("/") else ""
    archive = "work/archive/"
    for row in vault.rows:
        if row.conflict or not vault.is_note(row.rel) or not row.rel.startswith(prefix):
            continue
        if row.rel.startswith(archive) and not prefix.startswith(archive):
            continue
        document = vault.document(row.rel)
        if document is None or "[" not in document.clean:
            continue
        for task in document.tasks:
            if done or not task.done:
                match = DUE.search(task.text)
                yield Task(
                    path=row.rel,
                    line=task.line,
                    text=" ".join(task.text.split()),
                    done=task.done,
                    marker=task.marker,
                    heading=document.path_of(task.line),
                    due=match.group(1) if match else "",
                    dated=str(row.properties.get("date") or "")[:10],
                )


def ordered(found: list[Task]) -> list[Task]:
    """Due first, earliest first; then by note, oldest note first."""
    return sorted(found, key=lambda task: (not task.due, task.due, task.dated or "9999", task.path, task.line))
