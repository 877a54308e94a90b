"""A person's verbs and imports killed between two system calls: the old state or the new one, and the log says so."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.memory.conftest import a_person, writer
from vaultcore import places
from vaultcore.memory import exports, intake, intents, review, rulings, selection, verdicts
from vaultcore.memory.memories import Memories, Writer
from vaultcore.memory.reach import PERSON
from vaultcore.memory.recording import remember

Act = Callable[[Memories], None]
CALLS = ("open", "write", "fsync", "link", "unlink", "replace", "rename", "mkdir", "ftruncate", "close")
MOST_CALLS = 120


def tell(memories: Memories, title: str, body: str = "", inbox: bool = False, **more: Any) -> Any:
    given = {"title": title, "body": body or f"{title}.", "confidence": "inferred", **more}
    return remember(memories, given, writer("alpha"), inbox=inbox).record


def lay_out(memories: Memories) -> None:
    note = Path(memories.root, "brain", "Otters.md")
    note.parent.mkdir()
    note.write_text("# Otters\n\n## Sleep\n\nThey hold hands.\n", encoding="utf-8")
    tell(memories, "The build host is Fern")
    tell(memories, "The build host is Moss")
    tell(memories, "Lamps are tested on Monday")
    tell(memories, "Doors are oiled in spring", supersedes=["Lamps are tested on Monday"])
    tell(memories, "Otters sleep holding hands")
    tell(memories, "A proposal about lynxes", inbox=True)
    walls = tell(memories, "Walls are blue")
    with memories.lock():
        memories.settle()
        rulings.forget(memories, rulings.find(memories, walls.key), a_person(), "wrong")


def the(memories: Memories, title: str) -> Any:
    return rulings.find(memories, title)


def rule(kind: str, verdict: str) -> Act:
    def act(memories: Memories) -> None:
        item = next(i for i in review.queue(memories.store) if i.kind == kind)
        verdicts.rule(memories, item, verdict, a_person(), "so it is")

    return act


def take(memories: Memories) -> None:
    path = Path(memories.root).parent / "export" / "memory.json"
    report = intake.take(
        memories, exports.read(str(path), "memory-json"), Writer("import", "", (), PERSON, "import"),
        {"scope": "project", "projects": ["alpha"]}, True,
    )  # fmt: skip
    assert len(report.taken) == 1, report.refused


ACTS: dict[str, Act] = {
    "forget": lambda m: rulings.forget(m, the(m, "Otters sleep holding hands"), a_person(), "wrong") and None,
    "reject": lambda m: rulings.reject(m, the(m, "Otters sleep holding hands"), a_person(), "wrong"),
    "archive": lambda m: rulings.archive(m, the(m, "Otters sleep holding hands"), a_person()),
    "promote": lambda m: rulings.promote(m, the(m, "Otters sleep holding hands"), a_person(), "brain/Otters#Sleep"),
    "restore what was replaced": lambda m: rulings.restore(m, "Lamps are tested on Monday", a_person()) and None,
    "restore what was forgotten": lambda m: rulings.restore(m, m.store.tombstones.stones[0].id, a_person()) and None,
    "rule for the newer": rule("conflict", "newer"),
    "rule for the older": rule("conflict", "older"),
    "rule for both": rule("conflict", "both"),
    "rule for neither": rule("conflict", "neither"),
    "accept": rule("inbox", "accept"),
    "discard": rule("inbox", "discard"),
    "import": take,
}


def state(memories: Memories) -> dict[str, Any]:
    """All that a verb can change, without ids and moments."""
    store = memories.store
    entries = selection.select(store, PERSON, include=selection.INCLUDES).entries
    return {
        "served": sorted((e.record.title, e.state, str(e.record.promoted or ""), len(e.by)) for e in entries),
        "links": sorted((r.title, len(r.supersedes), len(r.superseded_by)) for r in store.records.values()),
        "proposed": sorted(r.title for r in store.inbox.values()),
        "ruled out": len(store.tombstones.stones),
        "verdicts": sorted(str(v.get("verdict")) for v in review.verdicts(memories.root).values()),
    }


def run_and_die(memories: Memories, act: Act, stop: int) -> bool:
    """Do `act` in a process of its own that dies before its call number `stop`; False when it came to its end."""
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, 9), code
        return code == 9
    try:
        made = 0

        def dying(real: Any) -> Any:
            def call(*given: Any, **named: Any) -> Any:
                nonlocal made
                made += 1
                if made == stop:
                    os._exit(9)
                return real(*given, **named)

            return call

        fresh = Memories(memories.root, memories.settings)
        fresh.open()
        for name in CALLS:
            setattr(os, name, dying(getattr(os, name)))
        if act is take:
            act(fresh)
        else:
            with fresh.lock():
                fresh.settle()
                act(fresh)
        os._exit(0)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process is killed in a fork")
@pytest.mark.parametrize("verb", ACTS)
def test_a_verb_killed_between_any_two_system_calls_leaves_the_old_state_or_the_new_one(
    memories: Memories, tmp_path: Path, verb: str
) -> None:
    export = Path(memories.root).parent / "export"
    export.mkdir()
    fact = {"type": "entity", "name": "Badgers", "entityType": "animal", "observations": ["Badgers dig at night."]}
    (export / "memory.json").write_text(json.dumps(fact) + "\n", encoding="utf-8")
    lay_out(memories)
    root, cache = memories.root, places.cache(memories.root)
    shutil.copytree(root, tmp_path / "kept-vault")
    shutil.copytree(cache, tmp_path / "kept-cache")

    def again() -> Memories:
        for place, kept in ((root, "kept-vault"), (cache, "kept-cache")):
            shutil.rmtree(place)
            shutil.copytree(tmp_path / kept, place)
        return opened()

    def opened() -> Memories:
        fresh = Memories(root, memories.settings)
        fresh.open()
        return fresh

    old = state(again())
    assert not run_and_die(memories, ACTS[verb], 0)
    new = state(opened())
    lines = len(list(opened().journal.lines()))
    assert new != old
    shutil.rmtree(cache)  # all that is left of it is what lies in the vault
    assert state(opened()) == new and "external" not in [line["op"] for line in list(opened().journal.lines())[-3:]]
    places.cache(root)
    seen = []
    for stop in range(1, MOST_CALLS):
        before = len(list(again().journal.lines()))
        died = run_and_die(memories, ACTS[verb], stop)
        waiting = bool(intents.pending(root))
        fresh = opened()
        found = state(fresh)
        assert found in (old, new), (stop, found)
        written = list(fresh.journal.lines())[before:]
        assert fresh.journal.verify() == [] and intents.pending(root) == [], stop
        assert [line for line in written if line["op"] == "external"] == [], stop
        if found == new:
            assert len(written) == lines - before, (stop, written)
        elif waiting:
            assert [line["op"] for line in written] in (["repair"], []), (stop, written)
        assert list(Path(root).rglob(".om-*.tmp")) == [], stop
        assert state(opened()) == found, "and it stays so"
        seen.append(found == new)
        if not died:
            break
    assert seen == sorted(seen) and {*seen} == {False, True} and not died
