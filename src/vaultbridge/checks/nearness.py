"""Which file names are so like a wanted one that it may be a slip: quick, however many links are broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from vaultcore.links import file_key, stem

LEAST = 0.8
RARE = 4  # pairs of letters that a candidate is looked up by
CLOSER = 40  # candidates that are compared letter by letter


class Nearness:
    """File names by their pairs of letters. `near(target)` gives at most two paths, best first."""

    def __init__(self, rels: Iterable[str]) -> None:
        self.names: dict[str, str] = {}
        for rel in sorted(rels, key=lambda rel: (len(rel), rel)):
            self.names.setdefault(stem(file_key(rel)), rel)
        self.by_pair: dict[str, list[str]] = {}
        for name in self.names:
            for pair in pairs(name):
                self.by_pair.setdefault(pair, []).append(name)
        self.known: dict[str, list[str]] = {}

    def near(self, target: str) -> list[str]:
        wanted = stem(file_key(target))
        if wanted not in self.known:
            self.known[wanted] = self.search(wanted)
        return self.known[wanted]

    def search(self, wanted: str) -> list[str]:
        rare = sorted((pair for pair in pairs(wanted) if pair in self.by_pair), key=lambda p: len(self.by_pair[p]))
        shared: Counter[str] = Counter()
        for pair in rare[:RARE]:
            shared.update(self.by_pair[pair])
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(wanted)
        found: list[tuple[float, str]] = []
        for name, _ in shared.most_common(CLOSER):
            matcher.set_seq1(name)
            if matcher.real_quick_ratio() >= LEAST and matcher.quick_ratio() >= LEAST:
                ratio = matcher.ratio()
                if ratio >= LEAST:
                    found.append((-ratio, name))
        return [self.names[name] for _, name in sorted(found)[:2]]


def pairs(name: str) -> set[str]:
    """The pairs of neighbouring letters, ends marked."""
    padded = f" {name} "
    return {padded[at : at + 2] for at in range(len(padded) - 1)}
