"""What is wrong with the memories of a vault, and what to run: for the doctor."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from vaultcore.manifest import Manifest

OK, WARN, FAIL, NOTE = "ok", "warn", "fail", "note"
NAMED = 5


def findings(root: str, manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """(state, sentence, what to run) for each thing to know; the first one is a summary."""
    from vaultcore import exposure
    from vaultcore.numerals import counted

    from . import intents, promotion, review, rulings
    from .memories import Memories, Settings

    memories = Memories(root, Settings(str(manifest.get("memory_root")), str(manifest.get("memory.auto_retire"))))
    store = memories.open()
    counts = rulings.states(memories)
    told = ", ".join(f"{n} {state}" for state, n in sorted(counts.items())) or "none yet"
    yield OK, f"{counted(len(store.records), 'memory', 'memories')}: {told}", ""
    for path, problem in sorted(store.problems.items())[:NAMED]:
        yield WARN, problem, f"open {path} and mend it"
    if len(store.problems) > NAMED:
        yield (
            WARN,
            f"files under {store.folder}/ that need repair beyond these: {len(store.problems) - NAMED}",
            "om doctor --json",
        )
    for r in [r for r in store.records.values() if r.problems][:NAMED]:
        yield WARN, f"{r.rel}: {r.problems[0]}", f"open {r.rel} and mend it"
    twice = [key for key, held in store.names.by_key.items() if len(held) > 1 and key.startswith("m-")]
    for key in twice[:NAMED]:
        places = " and ".join(r.rel for r in store.names.by_key[key][:2])
        yield WARN, f"two files bear the id {key}: {places}", "delete the copy, or its id line"
    policy = exposure.policy(manifest)
    for r in [r for r in store.records.values() if r.promoted is not None][:500]:
        served = promotion.serve(r.promoted, manifest, policy)
        if served.state not in ("served", "withheld"):
            yield WARN, f"{r.rel} is {served.label}", f"om promote {r.key} NOTE#^BLOCK"
    waiting = len(review.queue(store))
    if waiting:
        yield NOTE, f"{counted(waiting, 'question waits', 'questions wait')} for you", "om review"
    if intents.pending(root):
        yield NOTE, "a write was cut off and is repaired by the next one", "om recall"
    for problem in store.tombstones.problems:
        yield FAIL, problem, "git checkout -- .om/tombstones"
    bad = memories.journal.verify()
    for one in bad:
        yield FAIL, f"the log does not hold: {one.sentence()}", "om log verify; git log -- .om/log"
    if not bad and memories.journal.writers():
        yield OK, f"the log of {counted(len(memories.journal.writers()), 'clone')} holds", ""
