"""Whom a memory reaches: the writer declares it, no reader widens it."""

from __future__ import annotations

from . import forms, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .record import Record


class Reader:
    """Somebody who asks: project names and platforms, folded. `everything` is a person or the vault's own session."""

    __slots__ = ("projects", "platforms", "everything", "name", "mark")

    def __init__(self, projects: Iterable[str] = (), platforms: Iterable[str] = (), everything: bool = False) -> None:
        names = list(projects)
        self.name = names[0] if names else ""
        self.projects = frozenset(record.name(p) for p in names) - {""}
        self.platforms = frozenset(record.name(p) for p in platforms) - {""}
        self.everything = everything
        self.mark = (self.projects, self.platforms, everything)


PERSON = Reader(everything=True)


def sees(r: Record, reader: Reader) -> bool:
    """Whether the facets of `r` reach `reader`. A private memory reaches nobody but the vault itself."""
    if reader.everything:
        return True
    if r.private:
        return False
    if r.scope == "general":
        return True
    if not reader.projects.isdisjoint(r.project_names):
        return True
    return r.scope == "platform" and not reader.platforms.isdisjoint(r.platform_names)


def specificity(r: Record, reader: Reader) -> int:
    """How closely `r` is meant for `reader`: named project, then platform, then general."""
    if not reader.projects.isdisjoint(r.project_names):
        return 100 - min(20, len(r.projects))
    if r.scope == "platform" and not reader.platforms.isdisjoint(r.platform_names):
        return 50
    return 10 if r.scope == "general" else 0


def covers(wide: Record, narrow: Record) -> bool:
    """Whether everybody whom `narrow` reaches is surely reached by `wide`."""
    if wide.scope == "general":
        return True
    if narrow.scope == "general":
        return False
    if not narrow.project_names <= wide.project_names:
        return False
    if narrow.scope == "platform":
        return wide.scope == "platform" and narrow.platform_names <= wide.platform_names
    return bool(narrow.projects)


def overlap(a: Record, b: Record) -> bool:
    """Whether some reader may see both: memories that can never meet are neither duplicates nor contradictions."""
    if a.scope == "general" or b.scope == "general":
        return True
    if a.project_names & b.project_names:
        return True
    # what names a platform and what names a project meet in a project that runs on it: nobody here can rule that out
    return (a.scope == "platform" and b.scope == "platform") and bool(a.platform_names & b.platform_names)


class Names:
    """Resolves ids and, for the older format, titles among the records of one store."""

    __slots__ = ("by_key", "by_name")

    def __init__(self, records: Iterable[Record]) -> None:
        self.by_key: dict[str, list[Record]] = {}
        self.by_name: dict[str, list[Record]] = {}
        for r in records:
            self.add(r)

    def add(self, r: Record) -> None:
        self.by_key.setdefault(r.key, []).append(r)
        for name in r.names:
            self.by_name.setdefault(name, []).append(r)

    def remove(self, r: Record) -> None:
        for table, names in ((self.by_key, (r.key,)), (self.by_name, r.names)):
            for name in names:
                left = [other for other in table.get(name, ()) if other is not r]
                if left:
                    table[name] = left
                else:
                    table.pop(name, None)

    def find(self, entry: str) -> list[Record]:
        """Every record that `entry` (id, file name, title or alias) may mean, exact id first."""
        key = record.target(entry)
        found = self.by_key.get(key)
        if found:
            return list(found)
        return list(self.by_name.get(forms.title(key), ()))

    def replacement(self, old: Record, entry: str) -> Record | None:
        """The record that a `superseded_by` entry of `old` means. A title never means `old` itself; of several with
        that title it means the first one later than `old`, else the latest."""
        found = [r for r in self.find(entry) if r is not old]
        if len(found) < 2:
            return found[0] if found else None
        found.sort(key=lambda r: r.order)
        return next((r for r in found if r.order > old.order), found[-1])

    def predecessor(self, new: Record, entry: str) -> Record | None:
        """The record that a `supersedes` entry of `new` means: the latest one earlier than `new`."""
        found = [r for r in self.find(entry) if r is not new]
        if len(found) < 2:
            return found[0] if found else None
        found.sort(key=lambda r: r.order)
        return next((r for r in reversed(found) if r.order < new.order), found[0])


class Edges:
    """Who replaces whom. `by[old]` lists (replacement or None when it is gone, the entry as written)."""

    __slots__ = ("by", "of")

    def __init__(self, records: Iterable[Record], names: Names | None = None) -> None:
        records = list(records)
        names = Names(records) if names is None else names
        self.by: dict[str, list[tuple[Record | None, str]]] = {}
        self.of: dict[str, list[Record]] = {}
        for r in records:
            for entry in r.superseded_by:
                self._add(r, names.replacement(r, entry), entry)
        for r in records:
            for entry in r.supersedes:  # one side is enough: the other may have been lost in a merge
                old = names.predecessor(r, entry)
                if old is not None:
                    self._add(old, r, entry)

    def _add(self, old: Record, new: Record | None, entry: str) -> None:
        known = self.by.setdefault(old.rel, [])
        if new is None:
            known.append((None, entry))
        elif all(held is not new for held, _ in known):
            known.append((new, entry))
            self.of.setdefault(new.rel, []).append(old)

    def effective(self, old: Record, known_at: float | None = None) -> list[Record]:
        """The replacements that count: not those that are no claim themselves (candidate, rejected), and not those
        the vault did not know yet at `known_at`."""
        found = []
        for new, _ in self.by.get(old.rel, ()):
            if new is None or new.declared == "candidate":
                continue
            if new.declared == "rejected" and (known_at is None or new.retired <= known_at):
                continue
            if known_at is not None and new.known > known_at:
                continue
            found.append(new)
        return found


def foreign_narrowing(old: Record, new: Record) -> bool:
    """Whether `new` comes from another project and reaches fewer readers: such a replacement holds where it reaches
    and takes nothing away elsewhere. The author of a memory, and a person, may narrow it for everybody."""
    if not old.origin_name or not new.origin_name or old.origin_name == new.origin_name:
        return False
    return not covers(new, old)


def replaced(
    records: Iterable[Record], edges: Edges, reader: Reader, known_at: float | None = None
) -> tuple[dict[str, list[Record]], set[str]]:
    """Of `records` (all of which `reader` sees): what is superseded by something the reader is served, and what is
    withheld because every replacement is out of reach.

    The withheld set is the complement of the greatest fixpoint: start from all, remove whatever has replacements
    none of which remain, until nothing changes. Cycles, and replacements that no longer exist, keep their members.
    """
    inside = {r.rel: r for r in records}
    withheld: set[str] = set()
    live: dict[str, list[Record]] = {}
    waiting: dict[str, list[str]] = {}
    queue: list[str] = []
    for rel, r in inside.items():
        counted = edges.effective(r, known_at)
        if not counted:
            continue
        here = [new for new in counted if new.rel in inside]
        away = [new for new in counted if new.rel not in inside]
        if away and not here and all(foreign_narrowing(r, new) for new in away):
            continue
        live[rel] = here
        for new in here:
            waiting.setdefault(new.rel, []).append(rel)
        if not here:
            queue.append(rel)
    left = {rel: len(here) for rel, here in live.items()}
    while queue:
        rel = queue.pop()
        if rel in withheld:
            continue
        withheld.add(rel)
        for old in waiting.get(rel, ()):
            left[old] -= 1
            if left[old] == 0:
                queue.append(old)
    served = {rel: [n for n in here if n.rel not in withheld] for rel, here in live.items() if rel not in withheld}
    return _without_cycles(served), withheld


def _without_cycles(served: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """Drop from `served` the members that lie on a cycle: neither of two that replace each other is the older."""
    cyclic: set[str] = set()
    done: set[str] = set()
    for start in served:
        path: list[str] = []
        on: dict[str, int] = {}
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            rel, i = stack.pop()
            if i == 0:
                if rel in on:
                    cyclic.update(path[on[rel] :])
                    continue
                if rel in done:
                    continue
                on[rel] = len(path)
                path.append(rel)
            nexts = served.get(rel, ())
            if i < len(nexts):
                stack.append((rel, i + 1))
                stack.append((nexts[i].rel, 0))
            else:
                path.pop()
                del on[rel]
                done.add(rel)
    return {rel: new for rel, new in served.items() if rel not in cyclic}
