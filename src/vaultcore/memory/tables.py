"""Ways to find the memories a new one must be compared with, kept up as records come and go."""

from __future__ import annotations

from . import forms, record, updates
from .snapshot import ABOUT, BODY, OPENING, TITLE, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from .record import Record
    from .snapshot import Snapshot

    K = TypeVar("K")


class Keys:
    """What one memory is found by: the openings of its sentences, its declared key, its body, its title's words."""

    __slots__ = ("buckets", "about", "body", "words")

    def __init__(self, r: Record) -> None:
        core = record.core(r.body)
        self.buckets = list({updates.bucket(c) for c in updates.claims(r.title, core)})
        self.about = key(r.about) if r.about else ""
        self.body = forms.value(core)
        self.words = frozenset(forms.words(r.title))


class Tables:
    """Records by how their sentences open, by declared key, by body; and how common each title word is: in a snapshot
    that all processes share, and here of what is newer than it."""

    __slots__ = ("openings", "abouts", "bodies", "held", "titles", "snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.openings: dict[str, set[str]] = {}
        self.abouts: dict[str, set[str]] = {}
        self.bodies: dict[int, set[str]] = {}
        self.titles: dict[str, int] = {}
        self.held: dict[str, tuple[Record, list[str], str, int, frozenset[str]]] = {}

    def add(self, r: Record) -> None:
        keys = Keys(r)
        body = hash(keys.body)
        for bucket in keys.buckets:
            self.openings.setdefault(bucket, set()).add(r.rel)
        if keys.about:
            self.abouts.setdefault(keys.about, set()).add(r.rel)
        self.bodies.setdefault(body, set()).add(r.rel)
        for word in keys.words:
            self.titles[word] = self.titles.get(word, 0) + 1
        self.held[r.rel] = (r, keys.buckets, keys.about, body, keys.words)

    def remove(self, rel: str) -> None:
        _, buckets, about, body, words = self.held.pop(rel)
        for bucket in buckets:
            _discard(self.openings, bucket, rel)
        if about:
            _discard(self.abouts, about, rel)
        _discard(self.bodies, body, rel)
        for word in words:
            self.titles[word] -= 1

    def opening(self, claims: list[str]) -> set[str]:
        """The records with a sentence that opens like one of `claims`."""
        found: set[str] = set()
        for bucket in dict.fromkeys(map(updates.bucket, claims)):
            found |= self.openings.get(bucket, set()) | set(self.snapshot.having(OPENING, bucket))
        return found

    def about(self, text: str) -> set[str]:
        return self.abouts.get(key(text), set()) | set(self.snapshot.having(ABOUT, key(text)))

    def body(self, form: str) -> set[str]:
        """The records whose body has the normal form `form`."""
        return self.bodies.get(hash(form), set()) | set(self.snapshot.having(BODY, digest(form)))

    def distinctive(self, r: Record) -> frozenset[str]:
        """The words of the title of `r` that few titles have: at most two, or one in a hundred."""
        most = max(2, (len(self.held) + self.snapshot.count) // 100)
        return frozenset(
            w for w in forms.words(r.title) if self.titles.get(w, 0) + len(self.snapshot.having(TITLE, w)) <= most
        )


def key(about: str) -> str:
    """The form in which declared keys are compared."""
    return "/".join(forms.value(part) for part in about.split("/"))


def _discard(table: dict[K, set[str]], name: K, rel: str) -> None:
    table[name].discard(rel)
    if not table[name]:
        del table[name]
