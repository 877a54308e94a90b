"""`om check`: what is wrong in a vault, found by reading it. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultbridge.checks.finding import Finding

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot

__all__ = ["Finding", "Outcome", "run"]


class Outcome:
    """What a check found: `findings` sorted by path and line, `checked` the number of notes that were looked at."""

    def __init__(self, checked: int, findings: list[Finding]) -> None:
        self.checked = checked
        self.findings = findings

    @property
    def errors(self) -> int:
        return sum(finding.level == "error" for finding in self.findings)


def run(root: str, paths: tuple[str, ...] = ()) -> Outcome:
    """Check the whole vault; with `paths` (vault-relative files or folders) report only what lies there.

    Raises VaultError when the vault cannot be read, or when a path is not in it.
    """
    from vaultbridge.checks.snapshot import Snapshot

    vault = Snapshot(root)
    try:
        wanted = [place(vault, path) for path in paths]
        findings = sorted(set(everything(vault)))
        if wanted:
            findings = [finding for finding in findings if inside(finding.path, wanted)]
        checked = sum(not wanted or inside(row.rel, wanted) for row in vault.rows)
        checked += sum(not wanted or inside(rel, wanted) for rel in vault.memory_rels)
        return Outcome(checked, findings)
    finally:
        vault.close()


def everything(vault: Snapshot) -> Iterator[Finding]:
    from vaultbridge import skills
    from vaultbridge.checks import boards, coverage, known, links, merges, properties

    yield from coverage.check(vault)
    yield from properties.check(vault)
    yield from links.check(vault)
    yield from merges.check(vault)
    yield from boards.check(vault)
    yield from skills.check(vault.root, known.names(vault))
    for problem in vault.problems:
        yield Finding(problem.path, problem.line, "file", problem.message, problem.fix, "warning", problem.column)


def place(vault: Snapshot, path: str) -> str:
    """A path or a note's name as somebody typed it -> vault-relative. Raises VaultError when nothing fits."""
    import os

    from vaultcore.errors import VaultError

    plain = path.replace("\\", "/").removeprefix("./").rstrip("/")
    full = os.path.realpath(os.path.join(vault.root, plain))
    if full == vault.root:
        return ""
    if full.startswith(vault.root + os.sep) and os.path.exists(full):
        return os.path.relpath(full, vault.root).replace(os.sep, "/")
    found = vault.resolver.resolve(plain, "").rel
    if found is None:
        near = vault.resolver.nearest(plain, 3)
        hint = f"did you mean {', '.join(near)}?" if near else "give a path inside the vault or a note's name"
        raise VaultError(f"{path} is not in the vault: {hint}")
    return found


def inside(rel: str, wanted: list[str]) -> bool:
    return any(not path or rel == path or rel.startswith(path + "/") for path in wanted)
