"""Which memories and notes are about a path of the reader's repository: one rule for every surface that asks."""

from __future__ import annotations

from . import anchors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .anchors import Match
    from .reach import Reader
    from .record import Record

MOST = 16  # globs of one note that count


def of_memory(r: Record, reader: Reader, wanted: Iterable[str]) -> Match | None:
    """How `r` is about one of `wanted`, repository-relative paths of the reader's. Paths belong to the repository that
    wrote them; the same path elsewhere is another file."""
    if not r.paths:
        return None
    if r.origin_name and reader.projects and r.origin_name not in reader.projects and not reader.everything:
        return None
    return anchors.matching(r.paths, wanted)


def scopes(values: dict[str, Any]) -> list[str]:
    """The paths that a note's properties declare."""
    value = values.get("paths")
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    found = [s.strip() for s in listed if isinstance(s, str) and s.strip()]
    return [s.removeprefix("./").rstrip("/") or "." for s in found][:MOST]


def owners(values: dict[str, Any]) -> set[str]:
    """The projects that a note's properties name, in the form in which names are compared."""
    from vaultcore.properties import as_list

    from . import record

    return {record.name(p) for key in ("project", "projects") for p in as_list(values.get(key) or [])}


def concerns(values: dict[str, Any], mine: Iterable[str], vault: bool) -> bool:
    """Whether a note that declares paths means the reader's repository: it names one of its projects (`mine`), or the
    reader is the vault itself."""
    return vault or bool(owners(values) & set(mine))
