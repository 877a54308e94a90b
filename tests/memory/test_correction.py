"""Near-duplicates, corrections, retirement and what only looks like one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memory.conftest import writer
from vaultcore.errors import Refusal
from vaultcore.memory import selection
from vaultcore.memory.memories import Memories, Writer
from vaultcore.memory.reach import Reader
from vaultcore.memory.recording import Outcome, remember


def tell(memories: Memories, who: Writer, title: str, body: str, **more: Any) -> Outcome:
    return remember(memories, {"title": title, "body": body, "confidence": "inferred", **more}, who)


def served(memories: Memories, reader: Reader, *include: str) -> dict[str, str]:
    """Title -> state, for one reader."""
    return {e.record.title: e.state for e in selection.select(memories.open(), reader, include=include).entries}


ALPHA, BETA = Reader(("alpha",)), Reader(("beta",))
FIRST = ("Retry uploads three times", "Uploads to the object store are retried three times before the job gives up.")

TWINS = [
    ("Retry uploads three times (updated)", FIRST[1]),
    ("Updated: Retry uploads three times", FIRST[1]),
    ("Retry uploads three times v2", FIRST[1]),
    ("Retry uploads three times 2026-05-01", FIRST[1]),
    ("Retry uploads three times (2)", FIRST[1]),
    ("Three times retry uploads", "Before the job gives up, uploads to the object store are retried three times."),
]


@pytest.mark.parametrize(("title", "body"), TWINS)
def test_the_same_lesson_in_another_dress_is_refused_with_its_twin(
    memories: Memories, alpha: Writer, title: str, body: str
) -> None:
    first = tell(memories, alpha, *FIRST)
    with pytest.raises(Refusal) as refused:
        tell(memories, alpha, title, body)
    assert refused.value.code == "near-duplicate"
    assert first.record is not None and first.record.key in str(refused.value)
    assert len(memories.open().records) == 1


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("デプロイの前にキャッシュを消す", "デプロイの前にキャッシュを消す（更新）"),
        ("部署之前要清空缓存", "部署之前要清空缓存 更新"),
        ("배포 전에 캐시를 비운다", "배포 전에 캐시를 비운다 (수정)"),
        ("Vor dem Ausrollen den Cache leeren", "Vor dem Ausrollen den Cache leeren (aktualisiert)"),
        ("Vider le cache avant la mise en ligne", "Vider le cache avant la mise en ligne (révisé)"),
        ("Перед выкладкой очистить кеш", "Перед выкладкой очистить кеш (новое)"),
        ("ล้างแคชก่อนการปรับใช้ระบบ", "ล้างแคชก่อนการปรับใช้ระบบ v2"),
    ],
)
def test_twins_are_recognised_in_every_script(memories: Memories, alpha: Writer, title: str, other: str) -> None:
    tell(memories, alpha, title, title + "。")
    with pytest.raises(Refusal) as refused:
        tell(memories, alpha, other, title + "。")
    assert refused.value.code == "near-duplicate"


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("日本語の文書は左から読む", "全く別の話題を記録する"),
        ("한국어 제목 하나", "다른 주제의 기록"),
        ("Parser rate limit", "Parser rate limit south"),
        ("Guests may use the east gate", "Guests may not use the east gate"),
        ("Gäste dürfen das Tor benutzen", "Gäste dürfen das Tor nicht benutzen"),
        ("この機能は使える場面が多い", "この機能は使えない場面が多い"),
        ("The queue holds 100 items", "The queue holds 200 items"),
    ],
)
def test_siblings_negations_and_other_values_are_no_twins(
    memories: Memories, alpha: Writer, title: str, other: str
) -> None:
    assert tell(memories, alpha, title, title + ".").state == "recorded"
    assert tell(memories, alpha, other, other + ".").state == "recorded"
    assert len(served(memories, ALPHA)) == 2


def test_memories_that_can_never_be_seen_together_are_no_duplicates(memories: Memories, alpha: Writer) -> None:
    tell(memories, alpha, *FIRST)
    assert tell(memories, writer("beta"), *FIRST).state == "recorded"


def test_a_refusal_never_tells_of_a_memory_the_caller_cannot_see(memories: Memories, alpha: Writer) -> None:
    hidden = tell(memories, alpha, *FIRST).record
    assert hidden is not None
    beta = writer("beta")
    outcome = tell(memories, beta, *FIRST, scope="general", generality="so it is")
    assert outcome.state == "recorded"
    for name in (hidden.key, hidden.title + " x", hidden.rel):
        with pytest.raises(Refusal) as refused:
            tell(memories, beta, "Another matter", "Of no relation at all.", supersedes=[name])
        assert refused.value.code == "unknown-memory"
        assert hidden.rel not in str(refused.value).replace(name, "")


@pytest.mark.parametrize(
    "again",
    [
        FIRST,
        ("RETRY uploads, three times!", FIRST[1]),
        (FIRST[0].upper(), FIRST[1].replace(" ", "  ")),
        (FIRST[0], FIRST[1].rstrip(".")),
    ],
)
def test_the_same_text_again_is_already_recorded_and_no_error(
    memories: Memories, alpha: Writer, again: tuple[str, str]
) -> None:
    first = tell(memories, alpha, *FIRST)
    second = tell(memories, alpha, *again, force=True)
    assert (second.state, second.rel) == ("known", first.rel)
    assert len(memories.open().records) == 1


def test_the_same_text_for_more_readers_is_a_question_not_a_merge(memories: Memories, alpha: Writer) -> None:
    tell(memories, alpha, *FIRST)
    with pytest.raises(Refusal) as refused:
        tell(memories, alpha, *FIRST, scope="general", generality="everywhere")
    assert refused.value.code == "reach-differs"


def test_force_is_free_twice_a_day_and_then_needs_confirmation_even_after_a_reindex(
    memories: Memories, alpha: Writer
) -> None:
    tell(memories, alpha, *FIRST)
    for title, body in TWINS[:2]:
        assert tell(memories, alpha, title, body + f" {title[-1]}{title[0]}", force=True).forced
    fresh = Memories(memories.root, memories.settings)
    with pytest.raises(Refusal) as refused:
        tell(fresh, alpha, *TWINS[2], force=True)
    assert refused.value.code == "force-unconfirmed"
    assert tell(fresh, alpha, *TWINS[2], force=True, force_confirm=True).forced
    assert tell(fresh, writer("beta"), "Own", "Something of beta's own.").state == "recorded"


def test_a_correction_links_both_sides_and_only_the_new_one_is_served(memories: Memories, alpha: Writer) -> None:
    old = tell(memories, alpha, *FIRST).record
    new = tell(
        memories, alpha, "Uploads are retried five times", "Since the move, five retries.", supersedes=[FIRST[0]]
    ).record
    assert old is not None and new is not None
    store = memories.open()
    assert store.records[old.rel].superseded_by == [f"{new.key} {new.title}"]
    assert store.records[new.rel].supersedes == [f"{old.key} {old.title}"]
    assert served(memories, ALPHA) == {new.title: "current"}
    assert served(memories, ALPHA, "history") == {new.title: "current", old.title: "superseded"}


def test_the_old_value_said_again_is_refused_until_it_supersedes_its_successor(
    memories: Memories, alpha: Writer
) -> None:
    tell(memories, alpha, *FIRST)
    new = tell(memories, alpha, "Uploads are retried five times", "Five it is.", supersedes=[FIRST[0]]).record
    assert new is not None
    with pytest.raises(Refusal) as refused:
        tell(memories, alpha, *FIRST)
    assert refused.value.code == "replaced-before"
    assert tell(memories, alpha, *FIRST, supersedes=[new.key]).state == "recorded"
    assert served(memories, ALPHA) == {FIRST[0]: "current"}


def test_a_narrower_refiling_of_ones_own_memory_takes_it_from_the_others(memories: Memories, alpha: Writer) -> None:
    wide = tell(memories, alpha, *FIRST, scope="general", generality="thought so").record
    assert wide is not None
    tell(memories, alpha, *FIRST, supersedes=[wide.key])
    assert served(memories, ALPHA) == {FIRST[0]: "current"}
    assert served(memories, BETA, "history") == {}


def test_another_projects_correction_holds_only_where_it_reaches(memories: Memories, alpha: Writer) -> None:
    wide = tell(memories, alpha, *FIRST, scope="general", generality="so it is").record
    assert wide is not None
    tell(memories, writer("beta"), "Beta retries once", "In beta one retry is enough.", supersedes=[wide.key])
    assert served(memories, BETA) == {"Beta retries once": "current"}
    assert served(memories, ALPHA) == {FIRST[0]: "current"}
    assert served(memories, Reader()) == {FIRST[0]: "current"}


def test_what_is_superseded_already_cannot_be_superseded_again(memories: Memories, alpha: Writer) -> None:
    tell(memories, alpha, *FIRST)
    newer = tell(memories, alpha, "Five retries", "Five they are now.", supersedes=[FIRST[0]]).record
    assert newer is not None
    with pytest.raises(Refusal) as refused:
        tell(memories, alpha, "Six retries", "Six they will be.", supersedes=[FIRST[0]])
    assert refused.value.code == "superseded-already"
    assert newer.key in str(refused.value)


KEYED = {"about": "upload job/retry limit"}


@pytest.mark.parametrize(
    ("rule", "first", "second", "retired"),
    [
        ("key", {"about": "Upload Job / Retry Limit"}, KEYED, True),
        ("key", {}, {}, False),
        ("key", KEYED, {"about": "upload job/timeout"}, False),
        ("off", KEYED, KEYED, False),
        ("sentence", {}, {}, True),
    ],
)
def test_unasked_retirement_needs_an_identical_declared_key(
    memories: Memories, alpha: Writer, rule: str, first: dict[str, Any], second: dict[str, Any], retired: bool
) -> None:
    memories.settings.auto_retire = rule
    old = tell(memories, alpha, "The retry limit of uploads is three", "Three, since spring.", **first).record
    outcome = tell(memories, alpha, "The retry limit of uploads is five", "Five, since the move.", **second)
    assert old is not None
    assert [r.key for r in outcome.retired] == ([old.key] if retired else [])


def test_an_equal_title_and_reach_of_one_project_retires_and_one_call_undoes_it(
    memories: Memories, alpha: Writer
) -> None:
    tell(memories, alpha, "Retry limit", "The limit is three for every upload.")
    outcome = tell(memories, alpha, "Retry limit", "Nowadays uploads get five attempts.")
    assert [r.title for r in outcome.retired] == ["Retry limit"]
    assert [e.record.body for e in selection.select(memories.open(), ALPHA).entries] == [
        "Nowadays uploads get five attempts."
    ]
    assert outcome.record is not None
    tell(memories, alpha, "Retry limit", "The limit is three for every upload.", supersedes=[outcome.record.key])
    assert [e.record.body for e in selection.select(memories.open(), ALPHA).entries] == [
        "The limit is three for every upload."
    ]


@pytest.mark.parametrize("how", ["another project", "another reach", "a person's file", "another time"])
def test_nothing_else_of_that_title_is_retired_unasked(memories: Memories, alpha: Writer, how: str) -> None:
    general = {"scope": "general", "generality": "so it is"}
    who = writer("beta") if how == "another project" else alpha
    first = tell(
        memories,
        who,
        "Retry limit",
        "The limit is three for every upload.",
        **(general if how != "another time" else {"valid_until": "2026-02-01"}),
    )
    if how == "a person's file":
        from pathlib import Path

        assert first.record is not None
        path = Path(memories.root, first.record.rel)
        path.write_text(path.read_text("utf-8").replace("mcp-capture", "hand-filed"), encoding="utf-8")
    more: dict[str, Any] = {
        "another project": general,
        "a person's file": general,
        "another time": {"valid_from": "2026-02-01"},
    }.get(how, {})
    outcome = tell(memories, alpha, "Retry limit", "Nowadays uploads get five attempts.", **more)
    assert outcome.retired == []


@pytest.mark.parametrize(
    ("held", "new"),
    [
        ("The on-call lead is Robin", "The on-call lead is Sascha"),
        ("The on-call lead is Robin", "The on-call lead is now Sascha"),
        ("Guests may use the east gate", "Guests may not use the east gate"),
        ("Caching is enabled in the test runs", "Caching is disabled in the test runs"),
        ("Der Port der API ist 8080", "Der Port der API ist 9090"),
        ("データベースのポートは5432", "データベースのポートは5433"),
        ("构建服务器使用Jenkins", "构建服务器使用Buildkite"),
        ("빌드 서버는 젠킨스를 쓴다", "빌드 서버는 빌드카이트를 쓴다"),
        ("Nightly exports go through the legacy gateway", "The legacy gateway is obsolete for nightly exports."),
    ],
)
def test_what_looks_like_a_contradiction_stays_beside_it_both_marked(
    memories: Memories, alpha: Writer, held: str, new: str
) -> None:
    tell(memories, alpha, held, held + ".")
    outcome = tell(memories, alpha, new, new + ".")
    assert [r.title for r in outcome.disputed] == [held]
    entries = selection.select(memories.open(), ALPHA, query=held).entries
    assert [(e.record.title, e.state, [r.title for r in e.by]) for e in entries] == [
        (new, "disputed", [held]),
        (held, "disputed", [new]),
    ]


def test_a_rival_that_does_not_reach_the_reader_marks_nothing(memories: Memories, alpha: Writer) -> None:
    tell(memories, alpha, "The on-call lead is Robin", "Robin leads.", scope="general", generality="one lead for all")
    tell(memories, alpha, "The on-call lead is Sascha", "Sascha leads.")
    assert set(served(memories, ALPHA).values()) == {"disputed"}
    assert served(memories, BETA) == {"The on-call lead is Robin": "current"}


def test_a_thousand_qualified_titles_retire_and_refuse_nothing(memories: Memories, alpha: Writer) -> None:
    from bench.memory import qualified_titles

    for title, body in qualified_titles(160):
        outcome = tell(memories, alpha, title, body)
        assert (outcome.state, outcome.retired) == ("recorded", [])


@pytest.mark.parametrize(
    ("held", "new"),
    [
        (
            ("Retries need jitter", "Add full jitter to retries, base 200 ms."),
            ("Retry with jitter", "Add full jitter to a retry, with a base of 200 ms."),
        ),
        (
            ("Upload retries need jitter", "Add full jitter to retries, base 200 ms."),
            ("Upload retry with jitter", "Adding full jitter to a retry, with a base of 200 ms."),
        ),
        (
            ("Cached schemas must be dropped after a migration", "The schema cache is dropped after each migration."),
            ("Drop the cached schema after migrations", "The schema cache is to be dropped after each migration."),
        ),
    ],
)
def test_another_ending_or_a_function_word_does_not_hide_a_restatement(
    memories: Memories, alpha: Writer, held: tuple[str, str], new: tuple[str, str]
) -> None:
    tell(memories, alpha, *held)
    with pytest.raises(Refusal) as refused:
        tell(memories, alpha, *new)
    assert refused.value.code == "near-duplicate"


@pytest.mark.parametrize(
    ("held", "new"),
    [
        (("Retries need jitter", "Base 200 ms."), ("Retries of uploads need jitter", "Base 200 ms for uploads.")),
        (("Retries need jitter", "Base 200 ms."), ("Retries need a budget", "At most ten a minute.")),
        (("Retries need jitter", "Base 200 ms."), ("Retries need no jitter", "Base 200 ms.")),
        (("Staging needs a seed", "It holds 20 rows."), ("Production needs a seed", "It holds 20 rows.")),
    ],
)
def test_a_qualifier_and_another_subject_are_still_their_own_lesson(
    memories: Memories, alpha: Writer, held: tuple[str, str], new: tuple[str, str]
) -> None:
    tell(memories, alpha, *held)
    assert tell(memories, alpha, *new).state == "recorded"
