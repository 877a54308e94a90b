"""Files written by hand meet the gates too: what they contradict or repeat is marked and asked of a person."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.memory.conftest import a_person, writer
from tests.memory.world import memory
from vaultcore import places
from vaultcore.memory import review, rulings, selection, verdicts
from vaultcore.memory.memories import Memories
from vaultcore.memory.reach import Reader
from vaultcore.memory.recording import remember

ALPHA = Reader(("alpha",))


def tell(memories: Memories, title: str, body: str = "") -> Any:
    return remember(
        memories, {"title": title, "body": body or f"{title}.", "confidence": "inferred"}, writer("alpha")
    ).record


def fresh(memories: Memories) -> Memories:
    found = Memories(memories.root, memories.settings)
    found.open()
    return found


def served(memories: Memories) -> dict[str, str]:
    return {e.record.title: e.state for e in selection.select(memories.store, ALPHA).entries}


def asked(memories: Memories) -> list[tuple[str, list[str]]]:
    return [(item.kind, sorted(r.title for r in item.records)) for item in review.queue(memories.store)]


FERN, MOSS = "The build host is Fern", "The build host is Moss"


def by_hand(memories: Memories, title: str, body: str = "", **more: Any) -> Path:
    return memory(Path(memories.root), title, body or f"{title}.", source="hand-filed", **more)


def edited(memories: Memories) -> Path:
    """A memory about something else, made to say another thing by a person in an editor."""
    made = tell(memories, "The release day of the parser is Friday", "It is Friday.")
    path = Path(memories.root, made.rel)
    text = (
        path.read_text("utf-8").replace("The release day of the parser is Friday", MOSS).replace("It is Friday", MOSS)
    )
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("way", [lambda m: by_hand(m, MOSS), edited], ids=["added", "edited"])
def test_a_file_made_by_hand_that_contradicts_a_memory_is_marked_beside_it_and_asked_about(
    memories: Memories, way: Callable[[Memories], Path]
) -> None:
    tell(memories, FERN)
    tell(memories, "Otters sleep holding hands")
    path = way(memories)
    data = path.read_bytes()
    for _ in ("found", "after the cache is gone"):
        found = fresh(memories)
        assert served(found) == {FERN: "disputed", MOSS: "disputed", "Otters sleep holding hands": "current"}
        assert asked(found) == [("conflict", [FERN, MOSS])]
        shutil.rmtree(places.cache(memories.root))
    assert path.read_bytes() == data, "the person's file is as the person wrote it"
    assert "The build host is Moss" in Path(memories.root, "memories", "Review.md").read_text("utf-8")
    lines = list(found.journal.lines())
    assert [x["op"] for x in lines if x.get("disputes")] == ["external"]
    assert "Fern" not in json.dumps([x for x in lines if x["op"] == "external"])


def test_a_file_made_by_hand_that_repeats_a_memory_is_asked_about_and_both_are_served(memories: Memories) -> None:
    body = "The uploader waits for the gateway because the gateway answers late after every deployment."
    tell(memories, "The uploader waits for the gateway", body)
    by_hand(memories, "The uploader waits for the gateway (new)", body)
    found = fresh(memories)
    assert set(served(found).values()) == {"current"} and len(served(found)) == 2
    ((kind, titles),) = asked(found)
    assert kind == "duplicate" and len(titles) == 2
    with found.lock():
        found.settle()
        verdicts.rule(found, review.queue(found.store)[0], "archive", a_person())
    assert served(fresh(memories)) == {"The uploader waits for the gateway": "current"}
    assert asked(fresh(memories)) == []


@pytest.mark.parametrize("verdict", ["newer", "older", "both", "neither"])
def test_a_verdict_on_such_a_conflict_settles_it(memories: Memories, verdict: str) -> None:
    tell(memories, FERN)
    by_hand(memories, MOSS, date="2027-01-01")
    found = fresh(memories)
    with found.lock():
        found.settle()
        verdicts.rule(found, review.queue(found.store)[0], verdict, a_person(), "so it is")
    left = {"newer": [MOSS], "older": [FERN], "both": [FERN, MOSS], "neither": []}[verdict]
    for _ in ("now", "after the cache is gone"):
        assert served(found) == dict.fromkeys(left, "current")
        assert asked(found) == []
        shutil.rmtree(places.cache(memories.root), ignore_errors=True)
        found = fresh(memories)


def test_what_no_longer_says_so_is_no_longer_marked(memories: Memories) -> None:
    tell(memories, FERN)
    path = by_hand(memories, MOSS)
    assert served(fresh(memories))[FERN] == "disputed"
    path.write_text(path.read_text("utf-8").replace(MOSS, "Badgers dig at night"), encoding="utf-8")
    assert served(fresh(memories)) == {FERN: "current", "Badgers dig at night": "current"}
    assert asked(fresh(memories)) == []


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"projects": ("beta",)}, "nobody is served both"),
        ({"status": "archived"}, "it is not served"),
        ({"supersedes": [FERN]}, "it says itself what it replaces"),
    ],
)
def test_a_file_made_by_hand_that_meets_no_reader_of_the_other_is_not_marked(
    memories: Memories, more: dict[str, Any], why: str
) -> None:
    tell(memories, FERN)
    by_hand(memories, MOSS, **more)
    found = fresh(memories)
    assert "disputed" not in served(found).values(), why
    assert asked(found) == []


def test_a_vault_taken_over_whole_is_not_held_against_itself(memories: Memories) -> None:
    for i in range(120):
        by_hand(memories, f"The build host of area {i} is Fern")
    found = fresh(memories)
    assert len(served(found)) == 120 and asked(found) == []


def test_a_tombstone_and_a_secret_meet_a_file_made_by_hand(memories: Memories) -> None:
    made = tell(memories, "Walls are painted blue in spring")
    with memories.lock():
        memories.settle()
        rulings.forget(memories, rulings.find(memories, made.key), a_person(), "wrong")
    by_hand(memories, "Walls are painted blue in spring")
    by_hand(memories, "The key of the gateway", "It is AKIA" + "ABCDEFGHIJKLMNOP" + ".")
    by_hand(memories, "Badgers dig at night")
    found = fresh(memories)
    assert served(found) == {"Badgers dig at night": "current"}
    assert [kind for kind, _ in asked(found)] == ["candidate"]
