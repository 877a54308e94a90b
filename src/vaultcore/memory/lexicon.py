"""Which memories share words with a text: BM25 over what this process holds, kept up as records come and go."""

from __future__ import annotations

import heapq
import math

from . import forms
from .snapshot import WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array

    from .record import Record
    from .snapshot import Snapshot

TITLE_WEIGHT = 3
K1 = 1.2
B = 0.6
RAREST = 24


def counted(r: Record) -> dict[str, int]:
    """The words of a record, and how often each; those of its names count more."""
    counts: dict[str, int] = {}
    names = r.title if not r.aliases else r.title + "\n" + "\n".join(r.aliases)
    for word in forms.words(names, keep_stops=True):
        counts[word] = counts.get(word, 0) + TITLE_WEIGHT
    for word in forms.words(r.body[:20_000] + "\n" + r.about, keep_stops=True):
        counts[word] = counts.get(word, 0) + 1
    return counts


class Lexicon:
    """An inverted index from words to records, by vault-relative path: a snapshot that all processes share, and here
    what is newer than it. Adding or removing one costs its own length."""

    __slots__ = ("postings", "lengths", "total", "held", "snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.postings: dict[str, dict[str, int]] = {}
        self.lengths: dict[str, int] = {}
        self.total = 0
        self.held: dict[str, tuple[Record, frozenset[str]]] = {}

    def add(self, r: Record) -> None:
        counts = counted(r)
        for word, n in counts.items():
            self.postings.setdefault(word, {})[r.rel] = n
        self.lengths[r.rel] = sum(counts.values())
        self.total += self.lengths[r.rel]
        self.held[r.rel] = (r, frozenset(counts))

    def remove(self, rel: str) -> None:
        _, words = self.held.pop(rel)
        for word in words:
            docs = self.postings[word]
            del docs[rel]
            if not docs:
                del self.postings[word]
        self.total -= self.lengths.pop(rel)

    def scores(self, query: str) -> dict[str, float]:
        """BM25 of every record that holds a word of `query`; stop words count only when there is nothing else."""
        found = self._found(forms.words(query[:2_000]))
        if not any(found.values()):
            found = self._found(forms.words(query[:2_000], keep_stops=True))
        return self._weighed(list(found.values())[:64])

    def nearest(self, text: str, most: int) -> list[str]:
        """The records that share the rarest words with `text`, best first."""
        held = sorted((docs for docs in self._found(forms.words(text)).values() if docs), key=len)
        # words that a tenth of all records have tell nothing apart, unless there are no others
        count = len(self.lengths) + self.snapshot.count
        rare = [docs for docs in held if len(docs) * 10 <= count][:RAREST]
        found = self._weighed(rare if len(rare) >= 3 else held[:RAREST])
        return [rel for _, rel in heapq.nsmallest(most, ((-score, rel) for rel, score in found.items()))]

    def _found(self, words: list[str]) -> dict[str, Docs]:
        kept, dead = self.snapshot.term, self.snapshot.dead
        return {word: Docs(self.postings.get(word), kept(WORD, word), dead) for word in words}

    def _weighed(self, words: list[Docs]) -> dict[str, float]:
        count = len(self.lengths) + self.snapshot.count
        if not count or not words:
            return {}
        average = (self.total + self.snapshot.total) / count or 1.0
        found: dict[str, float] = {}
        get, share = found.get, K1 * B / average
        rels, long, lengths, dead = self.snapshot.rels, self.snapshot.lengths, self.lengths, self.snapshot.dead
        for docs in words:
            if not docs:
                continue
            weight = math.log(1 + (count - len(docs) + 0.5) / (len(docs) + 0.5)) * (K1 + 1)
            for rel, n in docs.newer.items():
                found[rel] = get(rel, 0.0) + weight * n / (n + K1 * (1 - B) + share * lengths[rel])
            kept = iter(docs.kept)
            for number, n in zip(kept, kept):
                if number in dead:
                    continue
                rel = rels[number]
                found[rel] = get(rel, 0.0) + weight * n / (n + K1 * (1 - B) + share * long[number])
        return found


class Docs:
    """Where one word stands: in what is `newer` than the snapshot, and in the snapshot (`kept`: number, how often;
    `dead` ones do not count)."""

    __slots__ = ("newer", "kept", "count")

    def __init__(self, newer: dict[str, int] | None, kept: array[int], dead: set[int]) -> None:
        self.newer, self.kept = newer or {}, kept
        self.count = len(self.newer) + len(kept) // 2
        if dead:
            self.count -= len(dead.intersection(kept[::2]))

    def __len__(self) -> int:
        return self.count
