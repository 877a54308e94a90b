"""Marks that a merge left in a note."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultbridge.checks.finding import Finding

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot

MARK = re.compile(rb"^<{7} [^\n]*\n(?:[^\n]*\n){0,2000}?={7}\r?\n(?:[^\n]*\n){0,2000}?>{7} ", re.MULTILINE)


def check(vault: Snapshot) -> Iterator[Finding]:
    """Unresolved conflicts. Only files that hold the first mark are looked at closely."""
    for rel in (*(row.rel for row in vault.rows), *vault.memory_rels):
        try:
            with open(os.path.join(vault.root, rel), "rb") as file:
                data = file.read(2_000_000)
        except OSError:
            continue
        if b"<<<<<<< " not in data:
            continue
        match = MARK.search(data)
        document = vault.document(rel) if match else None
        if match is None or document is None:
            continue
        line = data.count(b"\n", 0, match.start()) + 1
        if any(fence.line0 < line < fence.line1 for fence in document.fences):
            continue  # an example of what a conflict looks like
        yield Finding(
            rel, line, "merge-marks", "both sides of a merge stand here", "keep what is right and delete the marks"
        )
