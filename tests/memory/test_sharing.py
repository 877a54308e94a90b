"""What processes share of the memories changes no answer: with a snapshot, without one, beside newer files."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.memory.world import memory
from vaultcore.memory import sharing, snapshot
from vaultcore.memory.store import Store

WORDS = "retry queue broker token limit deploy cache 3000 5432 release Über 速率限制 設定 ключ is never the not".split()
OPENINGS = ("The rate limit is", "The port of the broker is", "Never retry", "キューの値は", "Deploys need")


def text(r: random.Random) -> tuple[str, str]:
    title = f"{r.choice(OPENINGS)} {' '.join(r.choices(WORDS, k=3))}"
    return title, f"{r.choice(OPENINGS)} {' '.join(r.choices(WORDS, k=r.randint(2, 30)))}."


def fill(root: Path, r: random.Random, numbers: range) -> None:
    for i in numbers:
        title, body = text(r)
        more = {"about": r.choice(["broker/port", "rate/limit"])} if i % 5 == 0 else {}
        memory(root, f"n{i}", body, id=f"m-{i:012d}", title=title, description=f"about {i}", **more)


def place(root: Path, i: int) -> Path:
    return root / "memories" / "2026" / "03" / f"n{i}.md"


def alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store that parses every file and shares nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "identity", lambda root: None)
        patch.setattr(snapshot, "FEWEST", 1 << 30)
        store = Store(str(root))
        store.refresh()
    return store


def answers(store: Store) -> dict[str, object]:
    r = random.Random(7)
    found: dict[str, object] = {}
    for _ in range(40):
        title, body = text(r)
        found["nearest " + title] = store.lexicon.nearest(f"{title}\n{body}", 20)
        found["scores " + body] = store.lexicon.scores(body)
        found["opening " + title] = store.tables.opening([title])
    for name in ("broker/port", "rate/limit", "none/such"):
        found["about " + name] = store.tables.about(name)
    for rel, held in store.records.items():
        found[rel] = (held.title, held.body, held.description, held.names, held.valid, held.project_names)
        found["rare " + rel] = store.tables.distinctive(held)
    return found


def test_every_answer_is_that_of_a_full_scan(vault: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root, r = vault(), random.Random(3)
    fill(root, r, range(snapshot.FEWEST + 20))
    first = Store(str(root))
    first.refresh()
    assert snapshot.identity(str(root)) is not None
    second = Store(str(root))
    second.refresh()
    assert not second._loose, "nothing was parsed twice"
    expected = answers(alone(root, monkeypatch))
    assert answers(first) == expected
    assert answers(second) == expected

    for i in range(0, 40, 4):
        place(root, i).unlink()
    fill(root, r, range(1, 60, 6))
    fill(root, r, range(1_000, 1_030))
    expected = answers(alone(root, monkeypatch))
    third = Store(str(root))
    for store in (first, second, third):
        store.refresh()
        assert answers(store) == expected


def test_a_snapshot_is_brought_up_without_being_made_anew(
    vault: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, r = vault(), random.Random(4)
    fill(root, r, range(snapshot.FEWEST))
    first, second = Store(str(root)), Store(str(root))
    first.refresh()
    second.refresh()
    before = snapshot.identity(str(root))
    for i in range(30):
        place(root, i).unlink()
    fill(root, r, range(2_000, 2_000 + snapshot.FEWEST))
    first.refresh()
    assert snapshot.identity(str(root)) != before and not first._loose
    objects = dict(second.records)
    expected = answers(alone(root, monkeypatch))
    second.refresh()  # takes over what the first one made
    assert not second._loose
    assert all(second.records[rel] is held for rel, held in objects.items() if rel in second.records)
    third = Store(str(root))
    third.refresh()
    for store in (first, second, third):
        assert answers(store) == expected


def test_of_many_that_start_at_once_one_parses(vault: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault()
    fill(root, random.Random(5), range(snapshot.FEWEST))
    stores = [Store(str(root)) for _ in range(4)]
    parsed: list[str] = []
    load = Store._load
    monkeypatch.setattr(
        Store, "_load", lambda self, rel, size, mtime_ns: (parsed.append(rel), load(self, rel, size, mtime_ns))[1]
    )
    threads = [threading.Thread(target=store.refresh) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(parsed) == snapshot.FEWEST
    assert all(len(store.records) == snapshot.FEWEST for store in stores)


@pytest.mark.skipif(os.name == "nt", reason="rights of folders")
def test_a_cache_that_takes_no_snapshot_costs_only_time(
    vault: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault()
    fill(root, random.Random(6), range(snapshot.FEWEST))
    expected = answers(alone(root, monkeypatch))
    monkeypatch.setattr(sharing, "LOCK", "x")
    monkeypatch.setattr(snapshot, "path", lambda root: os.path.join(root, "no", "such", "folder", "file"))
    monkeypatch.setattr("vaultcore.memory.deposit.path", snapshot.path)
    store = Store(str(root))
    store.refresh()
    store.refresh()
    assert answers(store) == expected


def test_a_refresh_prepares_the_memories_for_every_process(vault: Callable[..., Path]) -> None:
    from types import SimpleNamespace

    from click.testing import CliRunner

    from vaultbridge.cli.refresh import command

    root = vault()
    fill(root, random.Random(8), range(snapshot.FEWEST))
    assert CliRunner().invoke(command, [], obj=SimpleNamespace(root=str(root))).exit_code == 0
    store = Store(str(root))
    store.refresh()
    assert len(store.records) == snapshot.FEWEST and not store._loose
