"""Ways to find the memories a new one must be compared with, kept up as records come and go."""

from __future__ import annotations

from . import forms, record, updates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .record import Record


class Tables:
    """Records by how their sentences open, by declared key, by body; and how common each title word is."""

    __slots__ = ("openings", "abouts", "bodies", "held", "titles")

    def __init__(self) -> None:
        self.openings: dict[str, set[str]] = {}
        self.abouts: dict[str, set[str]] = {}
        self.bodies: dict[int, set[str]] = {}
        self.titles: dict[str, int] = {}
        self.held: dict[str, tuple[Record, list[str], str, int, frozenset[str]]] = {}

    def add(self, r: Record) -> None:
        core = record.core(r.body)
        buckets = list({updates.bucket(c) for c in updates.claims(r.title, core)})
        about = key(r.about) if r.about else ""
        body = hash(forms.value(core))
        words = frozenset(forms.words(r.title))
        for bucket in buckets:
            self.openings.setdefault(bucket, set()).add(r.rel)
        if about:
            self.abouts.setdefault(about, set()).add(r.rel)
        self.bodies.setdefault(body, set()).add(r.rel)
        for word in words:
            self.titles[word] = self.titles.get(word, 0) + 1
        self.held[r.rel] = (r, buckets, about, body, words)

    def remove(self, rel: str) -> None:
        _, buckets, about, body, words = self.held.pop(rel)
        for bucket in buckets:
            _discard(self.openings, bucket, rel)
        if about:
            _discard(self.abouts, about, rel)
        self.bodies[body].discard(rel)
        if not self.bodies[body]:
            del self.bodies[body]
        for word in words:
            self.titles[word] -= 1

    def opening(self, claims: list[str]) -> set[str]:
        """The records with a sentence that opens like one of `claims`."""
        found: set[str] = set()
        for claim in claims:
            found |= self.openings.get(updates.bucket(claim), set())
        return found

    def about(self, text: str) -> set[str]:
        return self.abouts.get(key(text), set())

    def body(self, form: str) -> set[str]:
        """The records whose body has the normal form `form`."""
        return self.bodies.get(hash(form), set())

    def distinctive(self, r: Record) -> frozenset[str]:
        """The words of the title of `r` that few titles have: at most two, or one in a hundred."""
        most = max(2, len(self.held) // 100)
        return frozenset(w for w in forms.words(r.title) if self.titles.get(w, 0) <= most)


def key(about: str) -> str:
    """The form in which declared keys are compared."""
    return "/".join(forms.value(part) for part in about.split("/"))


def _discard(table: dict[str, set[str]], name: str, rel: str) -> None:
    table[name].discard(rel)
    if not table[name]:
        del table[name]
