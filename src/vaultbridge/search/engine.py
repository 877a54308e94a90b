"""Search as the tools see it: identity first, the engines' lists fused, every hit checked against policy and file.

Engines return pointers, never text. What is shown comes from the file as it is now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller


class Chunk:
    """A piece of a note: the path of headings it stands under, its inclusive lines."""

    __slots__ = ("heading", "line0", "line1")

    def __init__(self, heading: str, line0: int, line1: int) -> None:
        self.heading, self.line0, self.line1 = heading, line0, line1


class Pointer:
    """One entry of an engine's list. `rank` counts from 1; `chunk` None when the engine knows only the note; `score` is
    for people who look at one engine, no two engines' scores compare."""

    __slots__ = ("rel", "chunk", "rank", "why", "score")

    def __init__(self, rel: str, chunk: Chunk | None, rank: int, why: str, score: float = 0.0) -> None:
        self.rel, self.chunk, self.rank, self.why, self.score = rel, chunk, rank, why, score


class Engine(Protocol):
    """A search engine. `weight` is what its list counts in fusion; `state` is "ok" or one sentence; neither blocks."""

    name: str
    weight: float

    def search(self, query: str, limit: int, *, folder: str | None = None, tag: str | None = None) -> list[Pointer]: ...

    def state(self) -> str: ...


class NotAsked(RuntimeError):
    """An engine sits this query out; its text becomes the lane's state as it is."""


class Hit:
    """One note of an answer. `heading` is the path of headings above the match, `line0`-`line1` the piece, `line` the
    line the snippet is about; `snippet` is one line of text from the file as it is now. `kind` is "note" or
    "memory"."""

    __slots__ = (
        "rel", "title", "heading", "line0", "line1", "line", "snippet", "why", "score", "lane", "id", "tags",
        "conflict", "kind",
    )  # fmt: skip

    def __init__(self, rel: str, title: str) -> None:
        self.rel, self.title = rel, title
        self.heading = self.snippet = self.why = self.lane = ""
        self.line0 = self.line1 = self.line = 1
        self.score = 0.0
        self.id: str | None = None
        self.tags: list[str] = []
        self.conflict = False
        self.kind = "note"


class Answer:
    """What a search found and what it did not show.

    `lanes`: engine -> "ok" or why it gave nothing. `withheld` by policy, `dropped` because the file is gone or
    unreadable,
    `more` admitted candidates behind the cut, `copies` conflict copies left out, `searched` notes that were looked at,
    `incomplete` a sentence when notes may be missing.
    """

    __slots__ = ("hits", "lanes", "withheld", "dropped", "more", "copies", "searched", "incomplete")

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.lanes: dict[str, str] = {}
        self.withheld = self.dropped = self.more = self.copies = self.searched = 0
        self.incomplete: str | None = None


def search(
    bridge: Bridge,
    caller: Caller | None,
    query: str,
    limit: int,
    folder: str | None = None,
    tag: str | None = None,
    include: Iterable[str] = (),
    *,
    engines: list[Engine] | None = None,
    memories: Callable[[str, int], list[Hit]] | None = None,
) -> Answer:
    """The notes that `query` finds, at most `limit`, and as many as that whenever enough exist that may be shown.

    `folder` and `tag` (with everything nested in it) narrow the search; `include` may hold "conflicts". `memories`,
    when
    given, is asked for the memories that the caller may see; they come behind the notes. Raises VaultError when the
    vault
    is not there.
    """
    from .gathering import gather

    return gather(bridge, query, limit, folder, tag, frozenset(include), engines or default(bridge), memories)


def default(bridge: Bridge) -> list[Engine]:
    """The embedded engine, vectors and qmd where they are used, and what others put under `extras["engines"]`."""
    from vaultbridge import qmd, vectors

    from .embedded import Embedded

    more: Any = bridge.extras.get("engines", ())
    optional: list[Engine | None] = [vectors.engine(bridge), qmd.engine(bridge)]
    return [Embedded(bridge.index), *(engine for engine in optional if engine is not None), *more]
