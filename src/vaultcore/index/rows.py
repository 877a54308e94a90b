"""What the index tells about notes, links and memories."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from vaultcore.errors import Problem

    T = TypeVar("T")


def loads(text: str, otherwise: T) -> T:
    """JSON from the index; `otherwise` when it is empty, or damaged in a way that SQLite did not notice."""
    if len(text) == 2:
        return otherwise
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return otherwise
    return found if isinstance(found, type(otherwise)) else otherwise


class Row:
    """One note as indexed. `problem` is a sentence when its properties could not be read whole; `private` the reason
    why it is withheld; `state` is "absent", "whole", "recovered" or "unreadable" (its properties).

    `more` fetches what most callers of a long list never ask for: (properties, headings) as JSON.
    """

    __slots__ = (
        "id", "rel", "size", "mtime_ns", "sha", "title", "note_id", "description", "private", "conflict", "state",
        "problem", "_aliases", "_tags", "_more",
    )  # fmt: skip

    COLUMNS = (
        "id, rel, size, mtime_ns, sha, title, note_id, description, private, conflict, state, problem, aliases, tags"
    )

    def __init__(self, values: tuple[Any, ...], more: Callable[[int], tuple[str, str]]) -> None:
        (
            self.id, self.rel, self.size, self.mtime_ns, self.sha, self.title, self.note_id, self.description,
            self.private, self.conflict, self.state, self.problem, self._aliases, self._tags,
        ) = values  # fmt: skip
        self.conflict = bool(self.conflict)
        self._more = more

    @property
    def aliases(self) -> list[str]:
        return loads(self._aliases, [])

    @property
    def tags(self) -> list[str]:
        """Tags of properties and body, without `#`."""
        return loads(self._tags, [])

    @property
    def properties(self) -> dict[str, Any]:
        """The properties, empty when they are larger than 16 KB as JSON."""
        return loads(self._more(self.id)[0], {})

    @property
    def headings(self) -> list[tuple[int, str, int]]:
        """(level, text, line), at most 200."""
        found: list[Any] = loads(self._more(self.id)[1], [])
        return [tuple(h) for h in found]


class MemoryRow:
    """One file under the memory root, parsed: `properties` whole, `body` the text behind them."""

    __slots__ = ("rel", "size", "mtime_ns", "sha", "title", "properties", "body", "private", "problem", "conflict")

    def __init__(
        self, rel: str, size: int, mtime_ns: int, sha: str, title: str, properties: dict[str, Any], body: str,
        private: str | None, problem: str | None, conflict: bool,
    ) -> None:  # fmt: skip
        self.rel, self.size, self.mtime_ns, self.sha, self.title = rel, size, mtime_ns, sha, title
        self.properties, self.body, self.private, self.problem, self.conflict = (
            properties,
            body,
            private,
            problem,
            conflict,
        )


class LinkRow:
    """One link as indexed: resolve `raw` (all before the pipe); `target`, `heading` and `block` are its parts."""

    __slots__ = ("source", "raw", "target", "heading", "block", "alias", "embed", "kind", "line", "in_properties")

    def __init__(self, source: str, raw: str, alias: str | None, embed: int, kind: str, line: int, inside: int) -> None:
        from vaultcore.markdown import split_subpath

        self.source, self.raw, self.alias, self.embed = source, raw, alias, bool(embed)
        self.kind, self.line, self.in_properties = kind, line, bool(inside)
        self.target, self.heading, self.block = split_subpath(raw)


class Refresh:
    """What bringing the index up to the files did.

    `ready` False: answers may miss notes, and `reason` says why (still being built, the vault is not there, …).
    `scanned` counts the notes and memories known so far, `waiting` those still to be read.
    """

    __slots__ = ("scanned", "added", "changed", "removed", "waiting", "problems", "ready", "reason")

    def __init__(self) -> None:
        self.scanned = self.added = self.changed = self.removed = self.waiting = 0
        self.problems: list[Problem] = []
        self.ready = True
        self.reason: str | None = None

    def unready(self, reason: str) -> Refresh:
        self.ready, self.reason = False, reason
        return self
