"""What a prompt is about: precision and recall on labelled messages, and when a hint is given."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.running import AGENTS, DATA, hook
from vaultcore.session import own_words, signals

MESSAGES: list[dict[str, Any]] = json.loads((DATA / "messages.json").read_text(encoding="utf-8"))
LANGUAGES = ("en", "ja", "ko", "zh", "es", "fr", "de", "pt")
PRECISION, RECALL = 0.95, 0.90


def classify(text: str, extra: dict[str, Any] | None = None) -> list[str]:
    return [name for name, _ in signals.load(extra).of(own_words.own_words(text))]


def score(messages: list[dict[str, Any]]) -> dict[str, tuple[float, float, int]]:
    """Category -> (precision, recall, number of positives)."""
    shipped = signals.load()
    right, extra, missed = Counter(), Counter(), Counter()
    for message in messages:
        found = {name for name, _ in shipped.of(own_words.own_words(message["text"]))}
        wanted = set(message["about"])
        right.update(found & wanted)
        extra.update(found - wanted)
        missed.update(wanted - found)
    names = [name for name, *_ in shipped.categories]
    return {
        name: (
            right[name] / max(1, right[name] + extra[name]),
            right[name] / max(1, right[name] + missed[name]),
            right[name] + missed[name],
        )
        for name in names
    }


def test_the_labelled_set_is_large_balanced_and_covers_every_language_and_category() -> None:
    negatives = [message for message in MESSAGES if not message["about"]]
    assert len(MESSAGES) >= 300 and 0.45 <= len(negatives) / len(MESSAGES) <= 0.55
    assert {message["language"] for message in MESSAGES} == set(LANGUAGES)
    names = {name for name, *_ in signals.load().categories}
    for language in LANGUAGES:
        assert {about for m in MESSAGES if m["language"] == language for about in m["about"]} == names
    assert len({message["text"] for message in MESSAGES}) == len(MESSAGES)


def test_precision_and_recall_hold_for_every_category(capsys: pytest.CaptureFixture[str]) -> None:
    scores = score(MESSAGES)
    with capsys.disabled():
        for name, (precision, recall, count) in scores.items():
            print(f"\n  {name:15} precision {precision:.3f}  recall {recall:.3f}  of {count}", end="")  # noqa: T201
    for name, (precision, recall, count) in scores.items():
        assert count >= 16, name
        assert precision >= PRECISION and recall >= RECALL, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_language_lags_behind(language: str) -> None:
    messages = [message for message in MESSAGES if message["language"] == language]
    wrong = [m for m in messages if set(classify(m["text"])) != set(m["about"])]
    assert len(wrong) <= 0.06 * len(messages), wrong


@pytest.mark.parametrize(
    "text",
    [
        "11:15", "2026-01-15", "won't", "win32", "p10", "merged cells", "promoted block", "sync with remote", "事件",
        "indecisiveness", "undecidedness", "markdown wonder download", "decision_log", "decided()",
        "src/outage/decided.py",
        "https://x.y/we decided".replace(" ", "-"), "> we decided to wait", "```\nwe decided\n```",
        "~~~~\nwe decided\n",
        "`we decided` is a string", "``we ` decided``", "2026-02-03T10:00:00Z ERROR worker decided",
        "[WARN] we decided",
        "Traceback (most recent call last):\n  File \"a\", line 1\n    we decided\nError: decided",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_signal_is_none(text: str) -> None:
    assert classify(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "We decided to wait.", "WE DECIDED TO WAIT", "we\u2019ve decided", "昨日のdecisionをまとめて",
        "大家decided了颜色",
        "we  decided\tto wait", "We decided to roll back. Log:\n\nTraceback (most recent call last):\n  x\nError: y",
        "```\ncode\n```\nWe decided to wait.", "x" * 70_000 + "\nWe decided to wait.",
        "（We decided）", "decided：Kotlin", "Let me say it (finally): we decided to wait",
        "From what Lena said (yesterday) we decided to wait", "```\nx\n``` We decided\n```\nWe decided to wait.",
    ],
)  # fmt: skip
def test_a_decision_is_found_however_it_is_set(text: str) -> None:
    assert "decision" in classify(text)


@pytest.mark.parametrize("unit", ["a", "[[", "`", " ", ">", "we decided ", "\n", "~", "日"])
def test_a_megabyte_of_anything_is_read_in_bounded_time(unit: str) -> None:
    text = own_words.own_words("we decided " + unit * (1_000_000 // len(unit)) + " end")
    assert len(text) <= own_words.ENOUGH


@pytest.mark.parametrize("agent", AGENTS)
def test_a_hint_names_the_place_once_per_session(agent: str, room: Callable[..., Path]) -> None:
    root = room()
    first = hook("prompt", root, agent, prompt="We decided to wait.").context
    assert "- Decision: " in first and "brain/Key Decisions.md" in first
    assert hook("prompt", root, agent, prompt="We decided to go on.").out == ""
    assert "Incident" in hook("prompt", root, agent, prompt="We decided it after the outage last night.").context
    assert "Decision" in hook("prompt", root, agent, prompt="We decided to wait.", session_id="s2").context


def test_what_gemini_puts_before_a_prompt_is_not_the_persons(room: Callable[..., Path]) -> None:
    wrapped = "<hook_context>We decided it after the outage.</hook_context>\n\nWe shipped the retry fix, p95 went down!"
    text = hook("prompt", room(), "gemini", prompt=wrapped).context
    assert text.startswith("om: this message may hold something for the vault\n- Win: ") and text.count("\n") == 1


@pytest.mark.parametrize("session", ["", None, 5])
def test_without_a_session_id_hints_are_given_again(session: object, room: Callable[..., Path]) -> None:
    root = room()
    for _ in range(2):
        assert hook("prompt", root, prompt="We decided to wait.", session_id=session).context


@pytest.mark.parametrize(
    "fields", [{"agent_id": "a1"}, {"prompt": ""}, {"prompt": None}, {"prompt": 5}, {"prompt": ["x"]}]
)
def test_subagents_and_empty_prompts_get_no_hint(fields: dict[str, Any], room: Callable[..., Path]) -> None:
    assert hook("prompt", room(), **{"prompt": "We decided to wait.", **fields}).out == ""


def test_one_message_may_be_about_several_things_and_a_reversal_stands_for_its_decision() -> None:
    assert classify("We decided to ship after the outage last night.") == ["decision", "incident"]
    assert classify("We changed our mind, the decision is off the table.") == ["reversal"]


def test_a_vault_adds_phrases_of_its_own_and_takes_some_away(room: Callable[..., Path]) -> None:
    own = {"signals": {"decision": ["Beschlusslage", 5], "never": ["we decided to wait"], "unheard of": ["x"]}}
    root = room({"vault-manifest.json": json.dumps(own)})
    assert "Decision" in hook("prompt", root, prompt="Die BESCHLUSSLAGE ist klar.").context
    assert hook("prompt", root, prompt="We decided to wait.", session_id="s2").out == ""


def test_every_phrase_can_match_and_none_stands_there_twice() -> None:
    data = json.loads(Path(signals.DATA).read_text(encoding="utf-8"))
    for name, entry in data["categories"].items():
        assert set(entry["phrases"]) == set(LANGUAGES) and all(len(each) >= 8 for each in entry["phrases"].values())
        assert entry["hint"].endswith(".") and "\n" not in entry["hint"]
        for language, phrases in entry["phrases"].items():
            assert len(phrases) == len(set(phrases)), (name, language)
            for phrase in phrases:
                sample = phrase.replace("*", "").replace(" … ", " x ")
                assert phrase == phrase.strip() == phrase.lower(), phrase
                text = "\n" + own_words.clean(sample) + "\n"
                assert signals.find(text, phrase, 0)[0] >= 0, (name, phrase)
