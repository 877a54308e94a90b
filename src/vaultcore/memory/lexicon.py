"""Which memories share words with a text: BM25 over what this process holds, kept up as records come and go."""

from __future__ import annotations

import heapq
import math

from . import forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .record import Record

TITLE_WEIGHT = 3
K1 = 1.2
B = 0.6
RAREST = 24


class Lexicon:
    """An inverted index from words to records, by vault-relative path. Adding or removing one costs its own length."""

    __slots__ = ("postings", "lengths", "total", "held")

    def __init__(self) -> None:
        self.postings: dict[str, dict[str, int]] = {}
        self.lengths: dict[str, int] = {}
        self.total = 0
        self.held: dict[str, tuple[Record, frozenset[str]]] = {}

    def add(self, r: Record) -> None:
        counts: dict[str, int] = {}
        names = r.title if not r.aliases else r.title + "\n" + "\n".join(r.aliases)
        for word in forms.words(names, keep_stops=True):
            counts[word] = counts.get(word, 0) + TITLE_WEIGHT
        for word in forms.words(r.body[:20_000] + "\n" + r.about, keep_stops=True):
            counts[word] = counts.get(word, 0) + 1
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

    def scores(self, query: str, words: list[str] | None = None) -> dict[str, float]:
        """BM25 of every record that holds a word of `query`; stop words count only when there is nothing else."""
        if words is None:
            words = list(dict.fromkeys(forms.words(query[:2_000])))
            if not any(w in self.postings for w in words):
                words = list(dict.fromkeys(forms.words(query[:2_000], keep_stops=True)))
        count = len(self.lengths)
        if not count or not words:
            return {}
        average = self.total / count or 1.0
        found: dict[str, float] = {}
        lengths, get = self.lengths, found.get
        for word in words[:64]:
            docs = self.postings.get(word)
            if not docs:
                continue
            weight = math.log(1 + (count - len(docs) + 0.5) / (len(docs) + 0.5)) * (K1 + 1)
            share = K1 * B / average
            for rel, n in docs.items():
                found[rel] = get(rel, 0.0) + weight * n / (n + K1 * (1 - B) + share * lengths[rel])
        return found

    def nearest(self, text: str, most: int) -> list[str]:
        """The records that share the rarest words with `text`, best first."""
        words = [w for w in dict.fromkeys(forms.words(text)) if w in self.postings]
        words.sort(key=lambda w: len(self.postings[w]))
        # words that a tenth of all records have tell nothing apart, unless there are no others
        rare = [w for w in words if len(self.postings[w]) * 10 <= len(self.lengths)][:RAREST]
        found = self.scores("", rare if len(rare) >= 3 else words[:RAREST])
        return [rel for _, rel in heapq.nsmallest(most, ((-score, rel) for rel, score in found.items()))]
