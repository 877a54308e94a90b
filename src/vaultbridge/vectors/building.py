"""Making vectors: in the background, in rounds, one process at a time; what is made stays made."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from vaultcore import locks, properties
from vaultcore.errors import Refusal
from vaultcore.index import entries

from . import model, shelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbridge.bridge import Bridge

ROUND = 180.0  # seconds
SPEED = 10.0  # pieces a second on a small machine
STEP = 64  # pieces in one transaction


class Progress:
    """How far the vectors of a vault are: pieces without one, all pieces, and how many were made just now."""

    __slots__ = ("every", "left", "made")

    def __init__(self, left: int, every: int, made: int) -> None:
        self.left, self.every, self.made = left, every, made


def build(bridge: Bridge, budget: float = ROUND, say: Callable[[Progress], None] | None = None) -> Progress:
    """Make what is missing for at most `budget` seconds, unless another process is at it. The index must be fresh.

    `say` is called after every step. Raises VaultError when the model cannot be loaded.
    """
    until = time.monotonic() + budget
    try:
        with locks.lock(bridge.root, "vectors", timeout=0):
            shelf.prepare(bridge.index)
            shelf.sweep(bridge.index)
            first, _ = shelf.counts(bridge.index)
            now = Progress(*shelf.counts(bridge.index), 0)
            made = None
            changed: set[str] = set()
            while now.left and time.monotonic() < until:
                pieces = shelf.missing(bridge.index, STEP, changed)
                if not pieces:
                    break
                made = made or model.Model()
                _step(bridge, made, pieces, changed)
                left, every = shelf.counts(bridge.index)
                now = Progress(left, every, first - left)
                if say is not None:
                    say(now)
            return now
    except Refusal as refusal:
        if refusal.code != "busy":
            raise
        return Progress(*(shelf.counts(bridge.index) if shelf.stamp(bridge.index) else (0, 0)), 0)


def _step(bridge: Bridge, made: model.Model, pieces: list[shelf.Piece], changed: set[str]) -> None:
    """Vectors for some pieces; the hashes of files that are no longer what the index says go into `changed`."""
    texts: list[tuple[shelf.Piece, str]] = []
    lines: dict[str, list[str]] = {}
    for piece in pieces:
        if piece.sha not in lines and piece.sha not in changed:
            source = entries.load(bridge.root, piece.rel)
            if source is None or source.sha != piece.sha:
                changed.add(piece.sha)
                continue
            lines[piece.sha] = properties.decode(source.data)[0].split("\n")
        if piece.sha in lines:
            body = "\n".join(lines[piece.sha][piece.line0 - 1 : piece.line1])
            texts.append((piece, f"{piece.title} {piece.heading}\n{body}"))
    read = [(piece, words) for piece, words in texts if reads(words)]
    read.sort(key=lambda pair: len(pair[1]))  # a batch is as slow as its longest
    rows = made.vectors([words for _, words in read])
    kept = [(piece.sha, piece.ord, rows[i].astype("float16").tobytes()) for i, (piece, _) in enumerate(read)]
    kept += [(piece.sha, piece.ord, b"") for piece, words in texts if not reads(words)]
    shelf.put(bridge.index, kept)


def reads(words: str) -> bool:
    """Whether the model can make something of a text: it knows English, gets on in what is written like it, and takes
    every other script for noise."""
    letters = [c for c in words[:4_000] if c.isalpha()]
    return 4 * sum(c < "\u0250" or "\u1e00" <= c < "\u1f00" for c in letters) > 3 * len(letters)
