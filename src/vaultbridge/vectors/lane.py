"""Meaning as one of the engines of a search: pieces of notes whose vector lies near that of the query."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from vaultbridge.search.embedded import scope
from vaultbridge.search.engine import Chunk, NotAsked, Pointer
from vaultcore.errors import VaultError

from . import model, shelf
from .building import reads

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge

MOST = 50  # notes of one list
BLOCK = 400  # pieces looked up at once
FAR = 0.3  # cosine below which a piece has nothing to do with the query; nonsense comes up to 0.25
FRESH = 10.0  # seconds for which a count holds
ENOUGH = 0.95  # of all pieces; below that the lane would favour the notes it happens to know


class Lane:
    """The lane `vectors`, one for a bridge. Model and vectors are loaded by the first search that uses them."""

    name = "vectors"
    weight = 1.0  # against 2 of the words

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.broken = ""
        self._model: model.Model | None = None
        self._lock = threading.Lock()
        self._counted: tuple[float, str] = (-FRESH, "")
        self._stamp = ""
        self._last = 0
        self._keys: list[tuple[str, int]] = []
        self._rows: Any = None

    def state(self) -> str:
        """ "ok", or what is missing."""
        if self.broken:
            return f"off: {self.broken}"
        at, held = self._counted
        if time.monotonic() - at >= FRESH or (held != "ok" and shelf.stamp(self.bridge.index) != self._stamp):
            held = self._count()
            self._counted = (time.monotonic(), held)
        return held

    def _count(self) -> str:
        if not shelf.stamp(self.bridge.index):
            return "not built yet: `om refresh` makes them"
        left, every = shelf.counts(self.bridge.index)
        if left and every - left < ENOUGH * every:
            return f"half built: {every - left:,} of {every:,} pieces, not used yet"
        return "ok"

    def search(self, query: str, limit: int, *, folder: str | None = None, tag: str | None = None) -> list[Pointer]:
        """At most `limit` notes, nearest first, each by its nearest piece. Raises NotAsked."""
        if not reads(query):
            raise NotAsked("not asked: its model reads Latin script only")
        try:
            with self._lock:
                self._model = self._model or model.Model()
                keys, rows = self._load()
        except VaultError as error:
            self.broken = str(error)
            raise NotAsked(f"off: {error}") from None
        if not keys:
            return []
        import numpy

        near = rows @ self._model.vectors([query[:2_000]])[0]
        order = numpy.argsort(-near)
        order = order[: int(numpy.searchsorted(-near[order], -FAR, side="right"))]
        found: dict[str, Pointer] = {}
        for at in range(0, len(order), BLOCK):
            block = [keys[i] for i in order[at : at + BLOCK]]
            for rel, chunk in self._look_up(block, folder, tag):
                if rel not in found:
                    found[rel] = Pointer(rel, chunk, len(found) + 1, "meaning")
            if len(found) >= min(limit, MOST):
                break
        return list(found.values())[: min(limit, MOST)]

    def _load(self) -> tuple[list[tuple[str, int]], Any]:
        """Keys and rows, with what was added since the last time. Rows of texts that are gone are left where they are:
        looking them up finds nothing."""
        import numpy

        stamp = shelf.stamp(self.bridge.index)
        if stamp != self._stamp or self._rows is None:
            self._stamp, self._last, self._keys = stamp, 0, []
            self._rows = numpy.zeros((0, model.WIDTH), numpy.float32)
        new = shelf.since(self.bridge.index, self._last) if stamp else []
        if new:
            joined = numpy.frombuffer(b"".join(row[3] for row in new), numpy.float16).reshape(len(new), model.WIDTH)
            self._rows = numpy.concatenate([self._rows, joined.astype(numpy.float32)])
            self._keys = [*self._keys, *((row[1], row[2]) for row in new)]
            self._last = new[-1][0]
        return self._keys, self._rows

    def _look_up(self, keys: list[tuple[str, int]], folder: str | None, tag: str | None) -> list[tuple[str, Chunk]]:
        where, values = scope(folder, tag)
        asked = ",".join(f"({i},?,?)" for i in range(len(keys)))
        query = (
            f"with k(at, sha, ord) as (values {asked}) select n.rel, c.heading, c.line0, c.line1 from k"
            " join notes n on n.sha=k.sha join chunks c on c.note=n.id and c.ord=k.ord"
            f" where n.gone=0 and n.kind='note'{where} order by k.at, n.rel"
        )
        given = [value for key in keys for value in key]
        rows = self.bridge.index.ask(lambda c: c.execute(query, (*given, *values)).fetchall())
        return [(rel, Chunk(heading, line0, line1)) for rel, heading, line0, line1 in rows]
