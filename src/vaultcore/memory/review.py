"""What waits for a person: a queue worked out from the files, verdicts kept by content, and the list in Review.md."""

from __future__ import annotations

import json
import os
import re
import time

from . import forms, reach, record, selection, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record import Record
    from .store import Store

VERDICTS = ".om/verdicts"
SOON = 14 * 86_400
_TICK = re.compile(r"^\s*- \[[xX]\] ([a-z-]+)\b.*\^rv-([0-9a-f]{12})-[a-z]+\s*$")
CHOICES = {
    "conflict": ("newer", "older", "both", "neither"),
    "duplicate": ("archive", "keep"),
    "candidate": ("accept", "reject"),
    "inbox": ("accept", "discard"),
    "expired": ("archive", "keep"),
    "expiring": ("archive", "keep"),
    "untrusted": ("trust", "reject"),
}
MEANING = {
    "newer": "the newer one holds, the older is superseded",
    "older": "the older one holds, the newer is rejected",
    "both": "both hold, it is no contradiction",
    "neither": "neither holds, both are rejected",
    "accept": "it holds: serve it",
    "reject": "it does not hold: never serve it, and never take it again",
    "discard": "drop the proposal",
    "archive": "keep the file, serve it no more",
    "keep": "leave it as it is, do not ask again",
    "trust": "leave it as it is, do not ask again",
}


class Item:
    """One question. `key` is a hash of what is asked about: another text is another question."""

    __slots__ = ("key", "kind", "records", "why")

    def __init__(self, kind: str, records: list[Record], why: str) -> None:
        self.kind = kind
        self.records = records
        self.why = why
        self.key = key_of(kind, records)

    @property
    def choices(self) -> tuple[str, ...]:
        return CHOICES[self.kind]


def key_of(kind: str, records: list[Record]) -> str:
    """The key of a question: the normal forms of the claims in it, in no order, wherever their files lie."""
    import hashlib

    texts = sorted(forms.value(f"{r.title}\n{record.core(r.body)}") for r in records)
    dates = [r.valid_until for r in records] if kind in ("expired", "expiring") else []
    return hashlib.sha256("\n\0".join([kind[:6], *texts, *dates]).encode("utf-8", "replace")).hexdigest()[:12]


def queue(store: Store) -> list[Item]:
    """Everything that waits, most urgent first. Questions with a verdict that leaves things as they are stay away."""
    put_aside = settled(store.root)
    entries = selection.select(store, reach.PERSON, include=selection.INCLUDES).entries
    now = time.time()
    found: list[Item] = []
    pairs: set[frozenset[str]] = set()
    for e in entries:
        r = e.record
        if e.state == "disputed":
            for other in e.by:
                pair = frozenset((r.rel, other.rel))
                if pair not in pairs:
                    pairs.add(pair)
                    two = sorted((r, other), key=lambda x: x.order, reverse=True)
                    found.append(Item("conflict", two, "they seem to contradict each other"))
            if not e.by:
                found.append(Item("conflict", [r], "it is marked disputed, with nothing beside it"))
        elif e.state == "candidate":
            found.append(Item("candidate", [r], store.doubtful(r) or "; ".join(r.problems) or "nobody has accepted it"))
        elif e.state == "expired":
            found.append(Item("expired", [r], f"it held until {r.valid_until}"))
        elif e.state == "current" and r.valid[1] - now < SOON:
            found.append(Item("expiring", [r], f"it holds until {r.valid_until}"))
        if e.state in selection.LIVE and ("no-generality" in r.flags or r.problems):
            why = "; ".join(r.problems) or "it reaches everybody without a reason"
            found.append(Item("untrusted", [r], why))
    for r in store.inbox.values():
        found.append(Item("inbox", [r], "proposed, nobody has looked at it"))
    order = list(CHOICES)
    live = {e.record.rel for e in entries if e.state in selection.LIVE}
    for r, other in store.marks.pairs(store, "duplicate"):
        if r.rel in live and other.rel in live:
            found.append(
                Item("duplicate", [r, other], "the first was written by hand and says nearly what the second does")
            )
    kept = [i for i in found if i.key not in put_aside]
    return sorted(kept, key=lambda i: (order.index(i.kind), [r.order for r in i.records]))


def verdicts(root: str) -> dict[str, dict[str, Any]]:
    """What people decided, by key."""
    folder = os.path.join(root, VERDICTS)
    found: dict[str, dict[str, Any]] = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in names:
        if name.endswith(".json"):
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    value = json.load(file)
            except (OSError, ValueError):
                continue
            if isinstance(value, dict):
                found[name[:-5]] = value
    return found


def settled(root: str) -> set[str]:
    """The keys of questions whose verdict leaves everything as it is: they are not asked again."""
    return {key for key, v in verdicts(root).items() if v.get("verdict") in ("both", "keep", "trust")}


def settled_pairs(root: str) -> set[str]:
    """The keys of conflicts a person found to be none: they are not raised again."""
    return {key for key, v in verdicts(root).items() if v.get("verdict") == "both"}


def verdict_file(item: Item, verdict: str, reason: str) -> tuple[str, bytes]:
    """Path and bytes of the file that keeps a verdict."""
    values = {
        "kind": item.kind,
        "verdict": verdict,
        "by": "person",
        "at": times.stamp(),
        "ids": [r.key for r in item.records],
        "reason": record.one_line(reason)[:500],
    }
    text = json.dumps({k: v for k, v in values.items() if v}, ensure_ascii=False, indent=1, sort_keys=True)
    return f"{VERDICTS}/{item.key}.json", (text + "\n").encode()


def page(items: list[Item], ticked: dict[str, str]) -> str:
    """The list for Obsidian: a tick says what you decide, `om review` applies it. `ticked` are ticks to keep."""
    lines = [
        "---",
        f"date: {times.today()}",
        "description: What waits for a person's decision; generated, tick one box per question and run om review",
        "tags:",
        "  - review",
        "---",
        "",
        "# Review",
        "",
        f"{len(items)} waiting. Tick one box per question, then run `om review` in a terminal: nothing is "
        f"applied before."
        if items
        else "Nothing waits.",
    ]
    for item in items[:200]:
        lines += ["", f"## {item.kind}: {_safe(item.records[0].title)}", "", f"{_safe(item.why)}.", ""]
        for r in item.records:
            says = _safe(record.described(record.core(r.body)))
            lines.append(f"> [[{r.rel[:-3]}|{_safe(r.title)}]] ({_safe(r.key)}, {_safe(r.date)}): {says}")
            lines.append(">")
        lines.append("")
        for choice in item.choices:
            mark = "x" if ticked.get(item.key) == choice else " "
            lines.append(f"- [{mark}] {choice}: {MEANING[choice]} ^rv-{item.key}-{choice}")
    if len(items) > 200:
        lines += ["", f"{len(items) - 200} more: `om review` shows all."]
    return "\n".join(lines) + "\n"


def ticks(text: str) -> dict[str, str]:
    """What is ticked in a Review.md: key -> choice. Two ticks for one question say nothing."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        hit = _TICK.match(line)
        if hit:
            found.setdefault(hit.group(2), set()).add(hit.group(1))
    return {key: next(iter(choices)) for key, choices in found.items() if len(choices) == 1}


def _safe(text: str) -> str:
    """One line that can neither link, tag, tick nor open a block."""
    return re.sub(r"([\[\]|^#`<>])", r"\\\1", record.one_line(text))[:200]
