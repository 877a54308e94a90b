"""Values that a person ruled out. The value itself is not kept, only the hash of its normal form: what was forgotten
stays forgotten, and is recognised wherever it comes back (written, imported, promoted, typed by hand)."""

from __future__ import annotations

import json
import os
import re

from vaultcore.regular import opener

from . import forms, record, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record import Record

FOLDER = ".om/tombstones"
FEWEST_WORDS = 3
_NAME = re.compile(r"^[0-9a-f]{16}\.json$")


class Stone:
    """One ruling: the hashes of what was ruled out, whom it concerned, why, by whom and when."""

    __slots__ = (
        "key",
        "hashes",
        "scope",
        "projects",
        "platforms",
        "reason",
        "at",
        "id",
        "verb",
        "external_id",
        "rel",
        "names",
        "systems",
    )

    def __init__(self, values: dict[str, Any], rel: str = "") -> None:
        self.key = str(values.get("key", ""))
        self.hashes = frozenset(str(h) for h in values.get("hashes", []) if isinstance(h, str))
        self.scope = str(values.get("scope", "general"))
        self.projects = [str(p) for p in values.get("projects", [])]
        self.platforms = [str(p) for p in values.get("platforms", [])]
        self.reason = str(values.get("reason", ""))
        self.at = str(values.get("at", ""))
        self.id = str(values.get("id", ""))
        self.verb = str(values.get("verb", "reject"))
        self.external_id = str(values.get("external_id", ""))
        self.rel = rel
        self.names = frozenset(record.name(p) for p in self.projects)
        self.systems = frozenset(record.name(p) for p in self.platforms)

    def concerns(self, r: Record) -> bool:
        """Whether somebody whom the ruling concerned is reached by `r`: the same value elsewhere is another claim."""
        if self.scope == "general" or r.scope == "general":
            return True
        return bool(self.names & r.project_names or (self.systems & r.platform_names))


class Tombstones:
    """All rulings of one vault, re-read when a file in their folder came or went."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.stones: list[Stone] = []
        self.generation = 0
        self.problems: list[str] = []
        self._by_hash: dict[str, list[Stone]] = {}
        self._listed: tuple[tuple[str, int, int], ...] = ()
        self._external: dict[str, Stone] = {}

    @property
    def count(self) -> int:
        return len(self.stones)

    def refresh(self) -> None:
        folder = os.path.join(self.root, FOLDER)
        try:
            with os.scandir(folder) as entries:
                listed = tuple(
                    sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in entries if _NAME.match(e.name))
                )
        except OSError:
            listed = ()
        if listed == self._listed:
            return
        self._listed, self.stones, self.problems, self._by_hash, self._external = listed, [], [], {}, {}
        self.generation += 1
        for name, _, _ in listed:
            try:
                with open(os.path.join(folder, name), encoding="utf-8", opener=opener) as file:
                    values = json.load(file)
                stone = Stone(values, f"{FOLDER}/{name}")
            except (OSError, ValueError, AttributeError):
                self.problems.append(
                    f"{FOLDER}/{name} cannot be read: restore it from git, what it ruled out may come back"
                )
                continue
            self.stones.append(stone)
            for h in stone.hashes:
                self._by_hash.setdefault(h, []).append(stone)
            if stone.external_id:
                self._external[stone.external_id] = stone

    def match(self, r: Record) -> Stone | None:
        """The ruling that `r` meets, if any: by its title, its whole text, or one sentence or line of it."""
        if not self.stones:
            return None
        for h in hashes_of(r.title, record.core(r.body), every=True):
            for stone in self._by_hash.get(h, ()):
                if stone.concerns(r):
                    return stone
        if r.external_id and r.external_id in self._external:
            return self._external[r.external_id]
        return None

    def match_text(self, text: str) -> Stone | None:
        """The ruling that some free text holds, whatever it reaches."""
        for h in hashes_of("", text, every=True):
            if h in self._by_hash:
                return self._by_hash[h][0]
        return None


def hashes_of(title: str, body: str, every: bool = False) -> list[str]:
    """What identifies a value: the hash of its body, of its title when that is a statement, and of the body's only
    sentence. `every`: of each sentence and line, to find a value inside a longer text."""
    pieces = {body}
    if _says_something(title):
        pieces.add(title)
    parts = [
        p for line in body.split("\n") for p in [line, *re.split(r"(?<=[.!?\u3002\uff01\uff1f])\s*", line)] if p.strip()
    ]
    if every or len({forms.value(p) for p in parts}) == 1:
        pieces.update(p for p in parts[:400] if _says_something(p))
    return list(dict.fromkeys(h for h in map(_hash, pieces) if h))


def _says_something(text: str) -> bool:
    form = forms.value(text)
    return len(form.split()) >= FEWEST_WORDS or (forms.holds_dense(form) and len(form) >= 6)


def _hash(text: str) -> str:
    import hashlib

    form = forms.value(text).replace("\n", " ")
    form = re.sub(r"\s*-\s*", "-", form)
    return hashlib.sha256(form.encode("utf-8", "replace")).hexdigest() if form else ""


def make(r: Record, verb: str, reason: str) -> tuple[str, dict[str, Any]]:
    """File name and content of the ruling on `r`. One value and one reach make one file, whoever rules again."""
    import hashlib

    hashes = hashes_of(r.title, record.core(r.body))
    reach = [r.scope, *sorted(r.project_names), "|", *sorted(r.platform_names)]
    key = hashlib.sha256("\n".join([*reach, *sorted(hashes)]).encode()).hexdigest()
    values = {
        "key": key,
        "hashes": hashes,
        "scope": r.scope,
        "projects": r.projects,
        "platforms": r.platforms,
        "verb": verb,
        "reason": record.one_line(reason)[:500],
        "by": "person",
        "at": times.stamp(),
        "id": r.key,
        "external_id": r.external_id,
    }
    return f"{FOLDER}/{key[:16]}.json", {k: v for k, v in values.items() if v not in ("", [])}


def encode(values: dict[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
