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
    """Figures for every set, or those named in `sets` (comma-separated).

    `engines` names lanes that are measured beside ours: `vectors`; `qmd` (without models), or `qmd=MODEL.gguf` with
    vectors of that embedding model.
    """
    chosen = [x for x in str(options.get("sets") or "").split(",") if x]
    result: dict[str, Any] = {"sets": {}}
    with tempfile.TemporaryDirectory() as folder:
        places = {"OM_CACHE": "cache", "XDG_CACHE_HOME": "xdg-cache", "XDG_CONFIG_HOME": "xdg-config"}
        held = {name: os.environ.get(name) for name in places}
        os.environ.update({name: os.path.join(folder, place) for name, place in places.items()})
        try:
            for path in sorted(DATA.glob("*.json.gz")):
                data = load(path)
                if not chosen or data["name"] in chosen:
                    root = Path(folder, data["name"])
                    result["sets"][data["name"]] = measure(data, root, str(options.get("engines") or ""))
        finally:
            for name, value in held.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})
    return result


def load(path: Path) -> dict[str, Any]:
    """One judged set: name, language, licence, notes [[path, text]], queries [[text, [relevant paths]]]."""
    data: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return data


def measure(data: dict[str, Any], root: Path, engines: str) -> dict[str, Any]:
    """Ours and the baseline on one set."""
    from vaultbridge import search
    from vaultbridge.bridge import Bridge
    from vaultbridge.search.embedded import Embedded

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

    def asking(lanes: list[Any]) -> Callable[[str], list[str]]:
        def ask(query: str) -> list[str]:
            answer = search.search(bridge, None, query, 10, engines=lanes)
            return [hit.rel.removeprefix("notes/") for hit in answer.hits]

        ask("warm")
        return ask

    words = Embedded(bridge.index)
    found = {
        "language": data["language"],
        "notes": len(data["notes"]),
        "queries": len(data["queries"]),
        "built_s": round(built, 2),
        "ours": score(data["queries"], asking([words])),
        "and": score(data["queries"], baseline(data["notes"])),
    }
    if engines:
        found["beside"] = score(data["queries"], asking([words, *beside(bridge, engines)]))
    bridge.close()
    return found


def beside(bridge: Any, engines: str) -> list[Any]:
    """The lanes to add, made ready; VaultError when one cannot be."""
    from vaultbridge import qmd, vectors
    from vaultbridge.qmd import upkeep
    from vaultbridge.vectors import building
    from vaultcore import qmd as names
    from vaultcore.errors import VaultError

    lanes: list[Any] = list(bridge.extras.get("engines", ()))
    for name in engines.split(","):
        lane, _, model = name.partition("=")
        if lane == "vectors":
            building.build(bridge, budget=3600)
            found = vectors.engine(bridge)
            if found is None:
                raise VaultError("search by meaning is not installed: run `python3 om.py setup --semantic`")
            lanes.append(found)
        if lane != "qmd":
            continue
        manifest = Path(bridge.root, "vault-manifest.json")
        manifest.write_text(manifest.read_text().replace("{", '{"search": {"backend": "qmd"}, ', 1), encoding="utf-8")
        upkeep.setup(bridge)
        if model:
            with open(names.resolve(bridge.root, bridge.manifest).config, "r+", encoding="utf-8") as file:
                kept = file.read().partition("models:")[0]
                file.seek(0)
                missing = "".join(f"  {kind}: /missing.gguf\n" for kind in ("generate", "rerank"))
                file.write(f"{kept}models:\n  embed: {json.dumps(os.path.abspath(model))}\n{missing}")
                file.truncate()
            while upkeep.refresh(bridge)[-1] != "vectors are up to date":
                pass
        second = qmd.engine(bridge)
        if second is not None:
            qmd.keeper_of(bridge).look_again()
            lanes.append(second)
    return lanes


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
    more = any("beside" in found for found in result["sets"].values())
    lines = [
        "set        lang   notes queries | ours nDCG@10 recall@5 empty  p50 ms  p95 ms"
        " | AND nDCG@10 recall@5 empty | gain" + (" | with nDCG@10 recall@5  p50 ms" if more else "")
    ]
    for name, found in result["sets"].items():
        ours, plain = found["ours"], found["and"]
        gain = ours["ndcg10"] / plain["ndcg10"] if plain["ndcg10"] else math.inf
        with_ = found.get("beside")
        lines.append(
            f"{name:<10} {found['language']:<6} {found['notes']:>5} {found['queries']:>7} |"
            f" {ours['ndcg10']:>12.3f} {ours['recall5']:>8.3f} {ours['empty']:>5}"
            f" {ours['p50_ms']:>7.1f} {ours['p95_ms']:>7.1f} |"
            f" {plain['ndcg10']:>11.3f} {plain['recall5']:>8.3f} {plain['empty']:>5} | {gain:.1f}x"
            + (f" | {with_['ndcg10']:>12.3f} {with_['recall5']:>8.3f} {with_['p50_ms']:>7.1f}" if with_ else "")
        )
    return "\n".join(lines)
