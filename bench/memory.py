"""`om bench memory`: are answers current, is anything retired that should stay, and how long do the verbs take?

FactConsolidation (455 facts, 161 of them outdated by a later one) goes through the public verbs, one call a fact, and
100 questions are asked; then again in a fresh process state with every derived file deleted. Beside it: 1,000 titles
that differ by a qualifier, of which nothing may be retired; update pairs and non-updates in plain prose, half of them
not in English; and the time of both verbs at 50 and at 5,000 memories.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
# pairs that no rule was ever tuned on or may be: written and committed before the rules first saw them
HELDOUT = Path(__file__).parents[1] / "tests" / "memory" / "data" / "heldout.json"
K = 10
_FRAME = re.compile(r"<memory-([0-9a-f]+)([^>]*)>\n(.*?)\n</memory-\1>", re.S)


class Subject:
    """A throw-away vault and one calling project, reached through the bridge's own tools."""

    def __init__(self, folder: str, rule: str, project: str = "bench") -> None:
        self.root = os.path.join(folder, "vault")
        os.makedirs(self.root, exist_ok=True)
        manifest = {"memory": {"auto_retire": rule}}
        Path(self.root, "vault-manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        self.project = project
        self.open()

    def open(self) -> None:
        from vaultbridge.bridge import Bridge
        from vaultcore.identity import Caller

        self.bridge = Bridge(self.root)
        self.caller = Caller(project=self.project, source="bench", projects=(self.project,))

    def forget_derived(self) -> None:
        from vaultcore import places

        self.bridge.close()
        shutil.rmtree(places.cache(self.root), ignore_errors=True)
        self.open()

    def remember(self, title: str, body: str, **more: Any) -> str:
        from vaultbridge.tools import remember

        given = {"title": title, "body": body, "confidence": "verified", "verification": "the bench says so", **more}
        return remember.run(self.bridge, self.caller, given)

    def recall(self, query: str, limit: int = K) -> list[tuple[str, str]]:
        from vaultbridge.tools import recall

        reply = recall.run(self.bridge, self.caller, {"query": query, "limit": limit})
        return [(attributes, text) for _, attributes, text in _FRAME.findall(reply)]


def run(options: dict[str, Any]) -> dict[str, Any]:
    """The figures for one arm (`raw`, `keyed`, `off`) and one setting of memory.auto_retire."""
    arm = str(options.get("arm") or "raw")
    rule = "off" if arm == "off" else str(options.get("auto_retire") or "key")
    with tempfile.TemporaryDirectory() as folder:
        held = os.environ.get("OM_CACHE")
        os.environ["OM_CACHE"] = os.path.join(folder, "cache")
        try:
            result = {"arm": arm, "auto_retire": rule, **facts(folder, arm, rule)}
            if not options.get("facts_only"):
                result["qualified"] = qualified(os.path.join(folder, "q"), rule)
                result["pairs"] = pairs()
                result["heldout"] = pairs(HELDOUT)
                result["scale"] = scale(os.path.join(folder, "s"))
        finally:
            os.environ.pop("OM_CACHE", None) if held is None else os.environ.update(OM_CACHE=held)
    return result


def load() -> dict[str, Any]:
    return json.loads((DATA / "fact-consolidation" / "single-hop-6k.json").read_text(encoding="utf-8"))


def facts(folder: str, arm: str, rule: str) -> dict[str, Any]:
    """The instance told fact by fact, asked, and asked again after a restart without derived files."""
    data = load()
    subject = Subject(folder, rule)
    told = data["facts"]
    latest = {(f["relation"], f["subject"]): f["text"] for f in told}
    stale = {f["text"] for f in told if latest[f["relation"], f["subject"]] != f["text"]}
    spent = []
    refused = []
    for fact in told:
        title = f"{fact['relation']} {fact['subject']}" if arm == "keyed" else fact["text"]
        started = time.perf_counter()
        try:
            subject.remember(title, fact["text"])
        except Exception as error:  # a refused fact is a missing answer: counted, never hidden
            refused.append(f"{fact['text']}: {error}")
        spent.append((time.perf_counter() - started) * 1000)
    first = ask(subject, data["questions"], stale)
    retired = retired_texts(subject)
    subject.forget_derived()
    again = ask(subject, data["questions"], stale)
    return {
        **first,
        "facts": len(told),
        "refused": len(refused),
        "retired_right": len(retired & stale),
        "retired_wrong": len(retired - stale),
        "missed": len(stale - retired),
        "stable": {k: first[k] == again[k] for k in ("top1", "stale_at_k", "unmarked_stale_at_k")},
        "p50": round(statistics.median(spent), 2),
        "p95": round(sorted(spent)[int(len(spent) * 0.95)], 2),
        "examples": refused[:5],
    }


def ask(subject: Subject, questions: list[dict[str, Any]], stale: set[str]) -> dict[str, Any]:
    top = anywhere = stale_k = unmarked = stale_top = empty = 0
    spent = []
    for item in questions:
        started = time.perf_counter()
        found = subject.recall(item["question"])
        spent.append((time.perf_counter() - started) * 1000)
        assert len(found) <= K, "k is an upper bound"
        hits = [any(a.lower() in text.lower() for a in item["answers"]) for _, text in found]
        old = [any(s in text for s in stale) for _, text in found]
        marked = ["DISPUTED" in attributes or "SUPERSEDED" in attributes for attributes, _ in found]
        top += hits[:1] == [True]
        anywhere += any(hits)
        stale_top += old[:1] == [True]
        stale_k += any(old)
        unmarked += any(o and not m for o, m in zip(old, marked, strict=True))
        empty += not found
    return {
        "top1": top,
        "any_at_k": anywhere,
        "stale_top1": stale_top,
        "stale_at_k": stale_k,
        "unmarked_stale_at_k": unmarked,
        "empty": empty,
        "ask_p50": round(statistics.median(spent), 2),
        "ask_p95": round(sorted(spent)[int(len(spent) * 0.95)], 2),
    }


def retired_texts(subject: Subject) -> set[str]:
    """The text of every memory that is no longer served as current."""
    from vaultbridge import memories
    from vaultcore.memory import record, selection

    store = memories.of(subject.bridge).open()
    found = selection.select(store, memories.reader(subject.caller), include=("history",))
    return {record.core(e.record.body).strip() for e in found.entries if e.state == "superseded"}


AREAS = (
    "parser uploader gateway billing mailer indexer scheduler renderer login exporter importer cache broker "
    "worker search"
).split()
THINGS = (
    "rate limit,retry budget,timeout,batch size,queue depth,memory ceiling,page size,backoff,pool size,log level,"
    "shard count,lease time,token lifetime,header size,disk quota,warm-up"
).split(",")
QUALIFIERS = ("", "south", "north", "for guests", "in staging", "on Windows", "per tenant", "during import")


def qualified_titles(count: int = 1_000) -> list[tuple[str, str]]:
    """Decisions meant to be distinct, whose titles are each other's with a qualifier more."""
    made = []
    for i, (area, thing, qualifier) in enumerate((a, t, q) for a in AREAS for t in THINGS for q in QUALIFIERS):
        title = f"{area.title()} {thing} {qualifier}".strip()
        made.append((title, f"The {thing} of the {area} {qualifier} is {17 + i % 89}, decided after load test {i}."))
        if len(made) == count:
            break
    return made


def qualified(folder: str, rule: str) -> dict[str, Any]:
    """1,000 qualified titles: none may be retired, none refused."""
    subject = Subject(folder, rule)
    refused = 0
    for title, body in qualified_titles():
        try:
            subject.remember(title, body)
        except Exception:
            refused += 1
    return {
        "titles": 1_000,
        "retired_wrong": len(retired_texts(subject)),
        "refused": refused,
        "disputed": disputed(subject),
    }


def disputed(subject: Subject) -> int:
    from vaultbridge import memories
    from vaultcore.memory import selection

    found = selection.select(memories.of(subject.bridge).open(), memories.reader(subject.caller))
    return sum(1 for e in found.entries if e.state == "disputed")


def pairs(path: Path = DATA / "updates.json") -> dict[str, Any]:
    """Precision and recall of noticing an update, by language: on the pairs of `path`, {} without that file."""
    from vaultcore.memory import updates

    if not path.exists():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    counts: dict[str, dict[str, int]] = {}
    for kind, truth in (("updates", True), ("others", False)):
        for item in data[kind]:
            said = noticed(updates, item["held"], item["new"])
            for group in ("all", "english" if item["language"] == "en" else "other languages"):
                tally = counts.setdefault(group, {"tp": 0, "fp": 0, "fn": 0, "tn": 0})
                tally["tp" if said and truth else "fp" if said else "fn" if truth else "tn"] += 1
    for tally in counts.values():
        tally["precision"] = round(100 * tally["tp"] / max(1, tally["tp"] + tally["fp"]))  # type: ignore[assignment]
        tally["recall"] = round(100 * tally["tp"] / max(1, tally["tp"] + tally["fn"]))  # type: ignore[assignment]
    return counts


def noticed(updates: Any, held: str, new: str) -> bool:
    """Whether the rules would mark `new` as contradicting or updating `held`."""
    from vaultcore.memory import forms

    if updates.same_slot(held, new) or updates.opposed(held, new):
        return True
    return bool(updates.reversal(held, updates.claims(new, ""), frozenset(forms.words(held))))


def scale(folder: str) -> dict[str, Any]:
    """Time of both verbs with 50 and with 5,000 memories, in milliseconds, and their ratio."""
    found: dict[str, Any] = {}
    for count in (50, 5_000):
        place = os.path.join(folder, str(count))
        subject = Subject(place, "key")
        seed(subject.root, count)
        started = time.perf_counter()
        subject.recall("warm up")
        first = (time.perf_counter() - started) * 1000
        subject.remember("A first lesson to warm the tables", "Nothing here is of interest to anybody but the bench.")
        recalls, writes = [], []
        for i in range(40):
            started = time.perf_counter()
            subject.recall(f"{AREAS[i % 15]} {THINGS[i % 16]}")
            recalls.append((time.perf_counter() - started) * 1000)
        for i in range(40):
            started = time.perf_counter()
            subject.remember(
                f"Lesson {chr(97 + i % 26)}{i} of the {AREAS[i % 15]}",
                f"Case {i * 7919} shows {THINGS[i % 16]} matters {i}.",
            )
            writes.append((time.perf_counter() - started) * 1000)
        found[str(count)] = {
            "first_call": round(first, 1),
            "recall_p50": round(statistics.median(recalls), 2),
            "remember_p50": round(statistics.median(writes), 2),
        }
    for verb in ("recall", "remember"):
        found[f"{verb}_ratio"] = round(found["5000"][f"{verb}_p50"] / found["50"][f"{verb}_p50"], 2)
    return found


def seed(root: str, count: int) -> None:
    """`count` memories written straight to disk, a tenth of them for other projects."""
    from vaultcore.memory import record

    for i in range(count):
        month = 1 + i % 9
        title = f"{AREAS[i % 15].title()} note {i}: {THINGS[i % 16]}"
        facets = {
            "date": f"2026-{month:02d}-{1 + i % 28:02d}",
            "description": title,
            "tags": ["memory"],
            "id": f"m-{i:012d}",
            "source": "mcp-capture",
            "origin": "bench",
            "scope": "project" if i % 10 else "general",
            "projects": ["bench" if i % 3 else "other"] if i % 10 else [],
            "confidence": "inferred",
            "recorded_at": f"2026-{month:02d}-{1 + i % 28:02d}T10:00:00.000Z",
        }
        body = " ".join(
            f"Step {i * 31 + j} of the {AREAS[j % 15]} touches its {THINGS[(i + j) % 16]}." for j in range(8)
        )
        path = Path(root, "memories", f"2026/{month:02d}", f"2026-{month:02d}-{1 + i % 28:02d} n{i}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(record.render(facets, title, body, []))


def table(result: dict[str, Any]) -> str:
    """The figures as lines."""
    lines = [f"FactConsolidation 6k, arm {result['arm']}, auto_retire {result['auto_retire']}"]
    for name in (
        "top1",
        "any_at_k",
        "stale_at_k",
        "unmarked_stale_at_k",
        "retired_right",
        "retired_wrong",
        "missed",
        "refused",
        "p50",
        "p95",
    ):
        lines.append(f"  {name:22}{result[name]}")
    lines.append(f"  same after restart    {all(result['stable'].values())}")
    for name in ("qualified", "pairs", "heldout", "scale"):
        for key, value in result.get(name, {}).items():
            lines.append(f"{name} {key}: {value}")
    return "\n".join(lines)
