"""What the bench promises about memories, at a size that a test run can afford."""

from __future__ import annotations

import pytest

from bench import memory


def test_updates_in_plain_prose_are_noticed_and_other_sentences_left_alone_in_every_language() -> None:
    counts = memory.pairs()
    for group in ("english", "other languages"):
        tally = counts[group]
        assert tally["tp"] + tally["fn"] == 100 == tally["fp"] + tally["tn"]
        assert tally["precision"] >= 95 and tally["recall"] >= 80, (group, tally)


def test_pairs_that_no_rule_was_tuned_on_are_reported_by_themselves() -> None:
    counts = memory.pairs(memory.HELDOUT)
    for group in ("english", "other languages"):
        tally = counts[group]
        assert tally["tp"] + tally["fn"] == 50 == tally["fp"] + tally["tn"], "held out: measured, never tuned on"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "rule", "top1", "stale", "retired"),
    [("raw", "sentence", 99, 0, 161), ("raw", "key", 98, None, 0), ("keyed", "key", 100, 0, 161)],
)
def test_the_instance_told_fact_by_fact_is_answered_currently_before_and_after_a_rebuild(
    arm: str, rule: str, top1: int, stale: int | None, retired: int
) -> None:
    result = memory.run({"arm": arm, "auto_retire": rule, "facts_only": True})
    assert result["top1"] >= top1 and all(result["stable"].values())
    assert result["unmarked_stale_at_k"] == 0 and (stale is None or result["stale_at_k"] == stale)
    assert (result["retired_right"], result["retired_wrong"], result["refused"]) == (retired, 0, 0)
