"""Which memories share words with a text: BM25 over what this process holds, kept up as records come and go."""

from __future__ import annotations

import math

from . import forms, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .record import Record

TITLE_WEIGHT = 3
K1 = 1.2
B = 0.6


class Lexicon:
    """An inverted index from words to records, by vault-relative path. Adding or removing one costs its own length."""

    __slots__ = ("postings", "lengths", "total", "held")

    def __init__(self) -> None:
        self.postings: dict[str, dict[str, int]] = {}
        self.lengths: dict[str, int] = {}
        self.total = 0
        self.held: dict[str, tuple[frozenset[str], Record]] = {}

    def sync(self, records: dict[str, Record]) -> None:
        """Hold exactly `records`, touching only what changed since the last call."""
        for rel in [rel for rel, (_, r) in self.held.items() if records.get(rel) is not r]:
            self.remove(rel)
        for rel, r in records.items():
            if rel not in self.held:
                self.add(r)

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
        self.held[r.rel] = (frozenset(counts), r)

    def remove(self, rel: str) -> None:
        words, _ = self.held.pop(rel)
        for word in words:
            docs = self.postings[word]
            del docs[rel]
            if not docs:
                del self.postings[word]
        self.total -= self.lengths.pop(rel)

    def scores(self, query: str, within: Iterable[str] | None = None) -> dict[str, float]:
        """BM25 of every record that holds a word of `query`; stop words count only when there is nothing else."""
        words = list(dict.fromkeys(forms.words(query[:2_000])))
        if not any(w in self.postings for w in words):
            words = list(dict.fromkeys(forms.words(query[:2_000], keep_stops=True)))
        count = len(self.lengths)
        if not count or not words:
            return {}
        average = self.total / count or 1.0
        found: dict[str, float] = {}
        for word in words[:64]:
            docs = self.postings.get(word)
            if not docs:
                continue
            weight = math.log(1 + (count - len(docs) + 0.5) / (len(docs) + 0.5))
            for rel, n in docs.items():
                length = self.lengths[rel]
                found[rel] = found.get(rel, 0.0) + weight * n * (K1 + 1) / (n + K1 * (1 - B + B * length / average))
        if within is not None:
            keep = set(within)
            return {rel: score for rel, score in found.items() if rel in keep}
        return found

    def nearest(self, text: str, most: int) -> list[str]:
        """The records that share the rarest words with `text`, best first."""
        ranked = sorted(self.scores(text).items(), key=lambda item: (-item[1], item[0]))
        return [rel for rel, _ in ranked[:most]]


def exact(r: Record, query: str) -> bool:
    """Whether `query` is the id, file name, title or an alias of `r`."""
    return query.strip() == r.key or record.target(query.strip()) == r.id != "" or forms.title(query) in r.names
