"""Search by meaning: off until it is installed, built in the background, and never the reason why a search fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.bridge import semantic
from tests.conftest import write_tree
from vaultbridge import search as searching
from vaultbridge import vectors
from vaultbridge.bridge import Bridge
from vaultbridge.search import Answer
from vaultbridge.vectors import building, checks, lane, model, shelf, wordpiece
from vaultcore import locks
from vaultcore.errors import VaultError

Vault = Callable[..., Path]
SOURCES = str(Path(__file__).resolve().parents[2] / "src")
NOTES = {
    "vault-manifest.json": '{"mcp_exposed_roots": ["notes"]}\n',
    "notes/coffee.md": "# Espresso\n\nNine bars push the water through the grounds.\n",
    "notes/deep/database.md": "---\ntags: [data]\n---\n# Storage\n\nCustomer records are kept in a relational table.\n",
    "notes/hidden.md": "---\nprivate: true\n---\n# Secret\n\nhot drink recipe\n",
    "diary/own.md": "# Own\n\nI had a hot drink.\n",
    "notes/設計.md": "# 設計\n\n認証の設計についての覚え書きです。\n",
}
ASKED = "brewing a hot drink with pressure"
needed = pytest.mark.skipif(semantic.missing() is not None, reason=semantic.missing() or "")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The packages of the extra, for this test and the processes that it starts."""
    monkeypatch.syspath_prepend(str(semantic.folder()))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([SOURCES, str(semantic.folder())]))
    monkeypatch.setenv("OM_WORKER", "off")
    model._installed = True
    yield
    model._installed = False  # what was imported once would be found by every later test of this process


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, installed: None) -> list[int]:
    """A model that only knows how long a text is; the sizes of the batches it was given."""
    given: list[int] = []

    class Toy:
        def vectors(self, texts: list[str]) -> Any:
            import numpy

            given.append(len(texts))
            rows = numpy.zeros((len(texts), model.WIDTH), numpy.float32)
            rows[range(len(texts)), [len(text) % model.WIDTH for text in texts]] = 1
            return rows

    monkeypatch.setattr(model, "Model", Toy)
    return given


def find(bridge: Bridge, query: str = ASKED, **options: Any) -> Answer:
    return searching.search(bridge, None, query, 10, **options)


def built(vault: Vault, **files: str) -> Bridge:
    bridge = Bridge(str(vault({**NOTES, **files})))
    bridge.refresh()
    building.build(bridge)
    return bridge


def test_without_its_packages_nobody_hears_of_it(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_installed", False)
    bridge = Bridge(str(vault(NOTES)))
    assert "vectors" not in find(bridge).lanes
    assert [finding.state for finding in checks.vectors(bridge)] == ["ok"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Hello, world!", "[CLS] hello , world ! [SEP]"),
        ("Ünïcode CAFÉ", "[CLS] unicode cafe [SEP]"),
        ("supersession", "[CLS] super ##ses ##sion [SEP]"),
        ("設計 x", "[CLS] [UNK] [UNK] x [SEP]"),
        ("a\u200bb don't", "[CLS] ab don ' t [SEP]"),
        ("x" * 200, "[CLS] [UNK] [SEP]"),
        ("", "[CLS] [SEP]"),
        ("\ud800 🚀", "[CLS] [UNK] [SEP]"),
    ],
)
def test_a_text_becomes_the_pieces_that_the_model_learned(text: str, pieces: str) -> None:
    known = wordpiece.Pieces()
    names = {number: piece for piece, number in known.known.items()}
    assert " ".join(names[number] for number in known.numbers(text, 100)) == pieces


def test_a_long_text_is_cut_with_both_marks_in_place() -> None:
    known = wordpiece.Pieces()
    numbers = known.numbers("word " * 500, 256)
    assert (len(numbers), numbers[0], numbers[-1]) == (256, known.start, known.end)


@needed
def test_a_note_is_found_by_what_it_means_where_no_word_agrees(vault: Vault, installed: None) -> None:
    answer = find(built(vault), "how do I brew a strong cup")
    assert [hit.rel for hit in answer.hits] == ["notes/coffee.md"]
    assert (answer.hits[0].lane, answer.hits[0].why, answer.lanes["vectors"]) == ("vectors", "meaning", "ok")


@needed
@pytest.mark.parametrize("query", ["zxqv blorf", "asdf", "the weather in lisbon tomorrow"])
def test_nonsense_finds_nothing_although_every_note_has_some_likeness(
    vault: Vault, installed: None, query: str
) -> None:
    assert find(built(vault), query).hits == []


@needed
@pytest.mark.parametrize(
    ("options", "shown"),
    [({}, 1), ({"folder": "notes/deep"}, 1), ({"tag": "data"}, 1), ({"folder": "diary"}, 0), ({"tag": "x"}, 0)],
)  # fmt: skip
def test_folder_and_tag_narrow_it_and_the_policy_has_its_say(
    vault: Vault, installed: None, options: dict[str, str], shown: int
) -> None:
    answer = find(built(vault), "saving client information", **options)
    assert [hit.rel for hit in answer.hits] == ["notes/deep/database.md"] * shown


@needed
def test_private_notes_get_no_vector_and_other_scripts_none_either(vault: Vault, slow: list[int]) -> None:
    bridge = built(vault)
    rows = bridge.index.ask(lambda c: c.execute(
        "select n.rel, length(v.v) from notes n left join vectors v on v.sha=n.sha order by n.rel"
    ).fetchall())  # fmt: skip
    assert dict(rows) == {
        "notes/coffee.md": 768, "notes/deep/database.md": 768, "diary/own.md": 768, "notes/hidden.md": None,
        "notes/設計.md": 0,
    }  # fmt: skip
    assert shelf.counts(bridge.index) == (0, 4)


@needed
@pytest.mark.parametrize("query", ["認証の設計", "проектирование", "🚀"])
def test_a_query_that_the_model_cannot_read_is_answered_by_the_words_alone(
    vault: Vault, slow: list[int], query: str
) -> None:
    answer = find(built(vault), query)
    assert answer.lanes["vectors"] == "not asked: its model reads Latin script only"
    assert answer.lanes["words"] == "ok"


@needed
def test_it_is_not_used_before_nearly_all_of_it_is_there_and_says_how_far_it_is(
    vault: Vault, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"notes/n{i}.md": f"# N{i}\n\n{'x' * i}\n" for i in range(30)}
    bridge = Bridge(str(vault({**NOTES, **many})))
    bridge.refresh()
    assert find(bridge).lanes["vectors"] == "not built yet: `om refresh` makes them"
    now = iter([0.0, 1.0, 2.0, 9.0])
    seen: list[tuple[int, int]] = []
    with monkeypatch.context() as patch:
        patch.setattr(building, "STEP", 10)
        patch.setattr(building, "time", SimpleNamespace(monotonic=lambda: next(now)))
        done = building.build(bridge, budget=5.0, say=lambda progress: seen.append((progress.left, progress.every)))
    assert (seen, done.made) == ([(24, 34), (14, 34)], 20)
    assert find(Bridge(bridge.root)).lanes["vectors"] == "half built: 20 of 34 pieces, not used yet"


@needed
def test_what_was_made_stays_made_and_a_second_round_makes_the_rest(
    vault: Vault, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = built(vault)
    assert sum(slow) == 3
    building.build(bridge)
    os.rename(Path(bridge.root, "notes/coffee.md"), Path(bridge.root, "notes/renamed.md"))
    bridge.refresh()
    building.build(bridge)
    assert sum(slow) == 3, "a renamed note keeps its vectors"
    write_tree(Path(bridge.root), {"notes/renamed.md": "# Tea\n\nLeaves.\n"})
    bridge.refresh()
    assert building.build(bridge).made == 1
    assert bridge.index.ask(lambda c: c.execute("select count(*) from vectors").fetchone()[0]) == 4, (
        "those of the old text are gone"
    )


@needed
def test_a_running_bridge_sees_vectors_that_another_process_makes(vault: Vault, slow: list[int]) -> None:
    bridge = built(vault)
    assert find(bridge).lanes["vectors"] == "ok"
    write_tree(Path(bridge.root), {"notes/new.md": "# New\n\nfresh\n"})
    other = Bridge(bridge.root)
    other.refresh()
    building.build(other)
    find(bridge)
    held = vectors.engine(bridge)
    assert held is not None and len(held._keys) == 4


@needed
def test_vectors_of_another_model_are_thrown_away(
    vault: Vault, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = built(vault)
    monkeypatch.setattr(model, "NAME", "another/1")
    assert shelf.stamp(bridge.index) == ""
    assert building.build(bridge).made == 4


@needed
def test_an_index_that_is_built_anew_gets_its_vectors_anew(vault: Vault, slow: list[int]) -> None:
    bridge = built(vault)
    assert find(bridge).lanes["vectors"] == "ok"
    bridge.index.rebuild()
    held = vectors.engine(bridge)
    assert held is not None
    held._counted = (-lane.FRESH, "")
    assert find(bridge).lanes["vectors"] == "not built yet: `om refresh` makes them"


@needed
def test_a_model_that_is_not_the_pinned_one_or_does_not_load_is_named_and_the_words_answer(
    vault: Vault, installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = built(vault)
    monkeypatch.setattr(model, "SHA256", "0" * 64)
    answer = find(bridge, "espresso")
    assert [hit.rel for hit in answer.hits] == ["notes/coffee.md"]
    assert answer.lanes["vectors"].startswith("off: the sentence model is not the one that was checked")
    (finding,) = checks.vectors(bridge)
    assert (finding.state, finding.run) == ("warn", "python3 om.py setup --semantic")
    with pytest.raises(VaultError, match="not the one that was checked"):
        model.Model()


@needed
def test_only_one_process_builds(vault: Vault, slow: list[int]) -> None:
    bridge = Bridge(str(vault(NOTES)))
    bridge.refresh()
    with locks.lock(bridge.root, "vectors"):
        assert building.build(bridge).made == 0
    assert slow == []


@needed
def test_a_file_that_changes_while_it_is_read_waits_for_the_next_round(
    vault: Vault, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = Bridge(str(vault(NOTES)))
    bridge.refresh()
    write_tree(Path(bridge.root), {"notes/coffee.md": "# Changed\n"})
    assert building.build(bridge).left == 1


@needed
def test_many_searches_at_once_load_the_model_once(vault: Vault, slow: list[int]) -> None:
    bridge = built(vault)
    answers: list[Answer] = []
    threads = [threading.Thread(target=lambda: answers.append(find(bridge))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.lanes["vectors"] for answer in answers] == ["ok"] * 6


@needed
def test_the_worker_makes_them_and_the_manifest_can_say_no(vault: Vault, installed: None) -> None:
    root = vault(NOTES)
    refresh = [sys.executable, "-m", "vaultbridge.cli", "--vault", str(root), "refresh"]
    done = subprocess.run([*refresh, "--quiet"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    bridge = Bridge(str(root))
    assert find(bridge, "espresso").lanes["vectors"] == "ok"
    write_tree(root, {"vault-manifest.local.json": json.dumps({"search": {"vectors": False}})})
    assert "vectors" not in find(bridge, "espresso").lanes
    said = subprocess.run(refresh, capture_output=True, text=True).stdout
    assert "vectors" not in said


def pins(lock: str) -> set[str]:
    text = (semantic.ROOT / lock).read_text()
    return {line.rstrip(" \\") for line in text.splitlines() if "==" in line and not line.startswith((" ", "#"))}


def test_the_lock_of_the_extra_pins_what_the_lock_of_the_bridge_pins() -> None:
    assert pins("requirements.lock") < pins("requirements-semantic.lock")


@pytest.mark.parametrize(
    ("held", "words", "lock"),
    [
        (None, [], "requirements.lock"),
        (None, ["--semantic"], "requirements-semantic.lock"),
        ("requirements.lock", ["--semantic", "--json"], "requirements-semantic.lock"),
        ("requirements-semantic.lock", [], "requirements-semantic.lock"),
        ("requirements-dev.lock", [], "requirements.lock"),
    ],
)
def test_what_was_installed_once_stays_installed(tmp_path: Path, held: str | None, words: list[str], lock: str) -> None:
    from vaultcore import environment

    if held is not None:
        write_tree(tmp_path, {f".venv/{environment.MARK}": json.dumps({"lock": held, "hash": "x"})})
    assert environment.choose_lock(str(tmp_path), words) == lock


@needed
@pytest.mark.slow
def test_on_judged_questions_meaning_gains_what_it_was_adopted_for(tmp_path: Path, installed: None) -> None:
    from bench import search as bench

    data = bench.load(bench.DATA / "faq.json.gz")
    data["notes"], data["queries"] = data["notes"][:80], data["queries"][:80]
    found = bench.measure(data, tmp_path / "faq", "vectors")
    assert found["beside"]["ndcg10"] >= found["ours"]["ndcg10"] + 0.03
