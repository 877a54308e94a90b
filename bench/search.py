"""`om bench search`: are the right notes found, and how fast?

Judged sets lie in bench/data/search (see bench/judged.py for what they are). Each becomes a vault; every query goes
through the bridge's own search, and through the plain baseline that systems of this kind start from: SQLite FTS5 on
whole notes, all words required, BM25. nDCG@10 and recall@5 (hits among the first five over min(5, relevant)) are means
over queries; `empty` counts queries without any answer.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "search"


def run(options: dict[str, Any]) -> dict[str, Any]:
    """Figures for every set, or those named in `sets` (comma-separated); `engines` names lanes to use beside ours."""
    chosen = [x for x in str(options.get("sets") or "").split(",") if x]
    result: dict[str, Any] = {"sets": {}}
    with tempfile.TemporaryDirectory() as folder:
        held = os.environ.get("OM_CACHE")
        os.environ["OM_CACHE"] = os.path.join(folder, "cache")
        try:
            for path in sorted(DATA.glob("*.json.gz")):
                data = load(path)
                if not chosen or data["name"] in chosen:
                    root = Path(folder, data["name"])
                    result["sets"][data["name"]] = measure(data, root, str(options.get("engines") or ""))
        finally:
            os.environ.pop("OM_CACHE", None) if held is None else os.environ.update(OM_CACHE=held)
    return result


def load(path: Path) -> dict[str, Any]:
    """One judged set: name, language, licence, notes [[path, text]], queries [[text, [relevant paths]]]."""
    data: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return data


def measure(data: dict[str, Any], root: Path, engines: str) -> dict[str, Any]:
    """Ours and the baseline on one set."""
    from vaultbridge import search
    from vaultbridge.bridge import Bridge

    root.mkdir()
    (root / "vault-manifest.json").write_text('{"mcp_exposed_roots": ["notes"]}\n', encoding="utf-8")
    for rel, text in data["notes"]:
        path = root / "notes" / rel
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    bridge = Bridge(str(root))
    started = time.perf_counter()
    bridge.index.refresh(budget=None)
    built = time.perf_counter() - started
    lanes = extra(bridge, engines)

    def ours(query: str) -> list[str]:
        answer = search.search(bridge, None, query, 10, engines=lanes)
        return [hit.rel.removeprefix("notes/") for hit in answer.hits]

    ours("warm")
    found = {
        "language": data["language"],
        "notes": len(data["notes"]),
        "queries": len(data["queries"]),
        "built_s": round(built, 2),
        "ours": score(data["queries"], ours),
        "and": score(data["queries"], baseline(data["notes"])),
    }
    bridge.close()
    return found


def extra(bridge: Any, engines: str) -> list[Any] | None:
    """The engines to search with: None for those a running bridge would use."""
    if not engines:
        return None
    from vaultbridge.search.engine import default

    wanted = {"words", *engines.split(",")}
    return [engine for engine in default(bridge) if engine.name in wanted]


def baseline(notes: list[tuple[str, str]]) -> Callable[[str], list[str]]:
    """Whole notes, every word required, BM25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table f using fts5(rel unindexed, body, tokenize='porter unicode61')")
    connection.executemany("insert into f values(?,?)", [(rel, text) for rel, text in notes])

    def find(query: str) -> list[str]:
        words = re.findall(r"\w+", query.lower())
        if not words:
            return []
        expression = " AND ".join(f'"{word}"' for word in dict.fromkeys(words))
        rows = connection.execute("select rel from f where f match ? order by bm25(f) limit 10", (expression,))
        return [row[0] for row in rows]

    return find


def score(queries: list[tuple[str, list[str]]], find: Callable[[str], list[str]]) -> dict[str, float]:
    """Means of nDCG@10 and recall@5, empty answers, and milliseconds."""
    gains, recalls, times, empty = [], [], [], 0
    for query, relevant in queries:
        started = time.perf_counter()
        found = find(query)
        times.append((time.perf_counter() - started) * 1000)
        empty += not found
        gain = sum(1 / math.log2(i + 2) for i, rel in enumerate(found[:10]) if rel in relevant)
        gains.append(gain / sum(1 / math.log2(i + 2) for i in range(min(10, len(relevant)))))
        recalls.append(sum(rel in relevant for rel in found[:5]) / min(5, len(relevant)))
    times.sort()
    return {
        "ndcg10": round(statistics.mean(gains), 3),
        "recall5": round(statistics.mean(recalls), 3),
        "empty": empty,
        "p50_ms": round(times[len(times) // 2], 1),
        "p95_ms": round(times[int(len(times) * 0.95)], 1),
    }


def table(result: dict[str, Any]) -> str:
    """The figures as text."""
    lines = [
        "set        lang   notes queries | ours nDCG@10 recall@5 empty  p50 ms  p95 ms"
        " | AND nDCG@10 recall@5 empty | gain"
    ]
    for name, found in result["sets"].items():
        ours, plain = found["ours"], found["and"]
        gain = ours["ndcg10"] / plain["ndcg10"] if plain["ndcg10"] else math.inf
        lines.append(
            f"{name:<10} {found['language']:<6} {found['notes']:>5} {found['queries']:>7} |"
            f" {ours['ndcg10']:>12.3f} {ours['recall5']:>8.3f} {ours['empty']:>5}"
            f" {ours['p50_ms']:>7.1f} {ours['p95_ms']:>7.1f} |"
            f" {plain['ndcg10']:>11.3f} {plain['recall5']:>8.3f} {plain['empty']:>5} | {gain:.1f}x"
        )
    return "\n".join(lines)
