"""On judged sets search finds what people ask for: far better than requiring every word, no worse than it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import search

SETS = {path.name.removesuffix(".json.gz"): path for path in sorted(search.DATA.glob("*.json.gz"))}


@pytest.mark.parametrize(
    ("name", "ndcg", "recall"),
    [("faq", 0.70, 0.80), ("git", 0.53, 0.61), ("guide-zh", 0.54, 0.69), ("guide-ko", 0.53, 0.66)],
)
def test_judged_queries_find_their_notes(tmp_path: Path, name: str, ndcg: float, recall: float) -> None:
    data = search.load(SETS[name])
    data["queries"] = data["queries"] if len(data["queries"]) < 100 else data["queries"][::2]
    found = search.measure(data, tmp_path / "vault", "words")
    assert found["ours"]["ndcg10"] >= ndcg - 0.05 and found["ours"]["recall5"] >= recall - 0.05
    assert found["ours"]["ndcg10"] > 1.5 * found["and"]["ndcg10"]
    assert found["ours"]["empty"] <= found["and"]["empty"]


@pytest.mark.parametrize("name", SETS)
def test_every_set_names_its_licence_and_judges_notes_that_it_holds(name: str) -> None:
    data = search.load(SETS[name])
    rels = {rel for rel, _ in data["notes"]}
    assert data["licence"] and len(data["queries"]) >= 40
    assert all(relevant and set(relevant) <= rels for _, relevant in data["queries"])


def test_the_sets_cover_six_kinds_and_stay_small() -> None:
    assert {search.load(path)["language"] for path in SETS.values()} == {"en", "de", "ja", "ko", "zh_CN"}
    assert {"faq", "git"} <= set(SETS)
    assert sum(path.stat().st_size for path in SETS.values()) < 3_000_000


def test_the_table_has_a_line_for_each_set() -> None:
    figures = {"ndcg10": 0.5, "recall5": 0.5, "empty": 0, "p50_ms": 1.0, "p95_ms": 2.0}
    one = {
        "language": "en",
        "notes": 1,
        "queries": 1,
        "built_s": 0.1,
        "ours": figures,
        "and": {**figures, "ndcg10": 0.0},
    }
    assert len(search.table({"sets": {"one": one, "two": one}}).splitlines()) == 3
