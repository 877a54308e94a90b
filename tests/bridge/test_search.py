"""Search finds what is there, shows only what may be shown, and says what is missing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import write_tree
from vaultbridge import search as searching
from vaultbridge.bridge import Bridge
from vaultbridge.search import Answer, Chunk, Hit, Pointer
from vaultbridge.search.fusion import fuse
from vaultcore import places
from vaultcore.errors import VaultError

Vault = Callable[..., Path]
OPEN = {"vault-manifest.json": '{"mcp_exposed_roots": ["notes"]}\n'}


def find(root: Path | Bridge, query: str, limit: int = 10, **options: object) -> Answer:
    bridge = root if isinstance(root, Bridge) else Bridge(str(root))
    return searching.search(bridge, None, query, limit, **options)  # type: ignore[arg-type]


def rels(answer: Answer) -> list[str]:
    return [hit.rel for hit in answer.hits]


WORDS = (
    "release 11.7 of C++ code, end-of-season, can't wait, km/h, tools::de, todo: thing, foo(bar), a*b, quoted phrase, "
    "ünïcode café, a/b/path.py, NEAR(x), title:x, 100%, $5, it's AND OR NOT, emoji 🚀 rocket"
)


@pytest.mark.parametrize(
    "query",
    [
        "end-of-season", "can't wait", "km/h", "C++ code", "release 11.7", "tools::de", "todo: thing", "foo(bar)",
        "a*b", '"quoted phrase"', "unicode", "cafe", "a/b/path.py", "NEAR(x)", "title:x", "(", "AND", "it's", "-wait",
        "🚀 rocket", 'quoted "phrase', "x" * 9_000 + " rocket", "rocket " * 3_000, "rocket\0", "\ud800 rocket",
        "the rocket", "thing OR",
    ],
)  # fmt: skip
def test_any_query_is_safe_and_one_with_a_word_of_the_note_finds_it(vault: Vault, query: str) -> None:
    root = vault({**OPEN, "notes/x.md": f"# Words\n\n{WORDS}\n"})
    answer = find(root, query)
    assert rels(answer) == (["notes/x.md"] if query != "(" else [])


@pytest.mark.parametrize("query", ["", " ", "!!!", "🚀", "\0", "\ud800", "設", "the of and", '""""', "*", "''"])
def test_a_query_without_a_usable_word_finds_nothing_and_says_nothing_wrong(vault: Vault, query: str) -> None:
    answer = find(vault({**OPEN, "notes/x.md": "plain\n"}), query)
    assert (answer.hits, answer.lanes["words"], answer.searched) == ([], "ok", 1)


SHARED: dict[str, Bridge] = {}


@given(st.text(max_size=80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_no_text_makes_search_fail(vault: Vault, query: str) -> None:
    if "one" not in SHARED:
        SHARED["one"] = Bridge(str(vault({**OPEN, "notes/x.md": "plain\n"}, name="any")))
    assert find(SHARED["one"], query).lanes["words"] == "ok" or not SHARED["one"].index.state()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("水泵", "zh"),
        ("青い傘", "ja"),
        ("빨간우산", "ko"),
        ("ต้นไม้", "th"),
        ("योजना", "hi"),
        ("Bäume", "de"),
        ("baume", "de"),
        ("東京", None),
    ],
)
def test_words_of_every_script_are_found(vault: Vault, query: str, found: str | None) -> None:
    root = vault(
        {
            **OPEN,
            "notes/zh.md": "上周我们修好了蓝色水泵\n",
            "notes/ja.md": "昨日は庭で青い傘をさした\n",
            "notes/ko.md": "어제 정원에서 빨간우산을 폈다\n",
            "notes/th.md": "ฉันปลูกต้นไม้ไว้ในสวน\n",
            "notes/hi.md": "हमारी योजना अच्छी है\n",
            "notes/de.md": "Die alten Bäume am Fluss\n",
        }
    )
    assert rels(find(root, query))[:1] == ([f"notes/{found}.md"] if found else [])


NAMED = {
    **OPEN,
    "notes/deep/path.md": "---\ntitle: Path title\nid: om-7\naliases: [Nickname, 計画]\n---\nbody\n",
    "notes/om-7.md": "# Something else\nnickname path title om-7 nickname om-7\n",
    "notes/noise.md": "# Noise\n" + "path title nickname om 7 deep path\n" * 9,
}


@pytest.mark.parametrize(
    ("query", "first", "why"),
    [
        ("notes/deep/path.md", "notes/deep/path.md", "the path"),
        ("notes/deep/path", "notes/deep/path.md", "the path"),
        ("Path Title", "notes/deep/path.md", "the title"),
        ('"path title"', "notes/deep/path.md", "the title"),
        ("path", "notes/deep/path.md", "the file name"),
        ("path.md", "notes/deep/path.md", "the file name"),
        ("[[path|shown]]", "notes/deep/path.md", "the file name"),
        ("[[path#Part]]", "notes/deep/path.md", "the file name"),
        ("nickname", "notes/deep/path.md", "an alias"),
        ("計画", "notes/deep/path.md", "an alias"),
        ("OM-7", "notes/deep/path.md", "the id"),
    ],
)
def test_a_note_that_the_whole_query_names_comes_first(vault: Vault, query: str, first: str, why: str) -> None:
    hit = find(vault(NAMED), query).hits[0]
    assert (hit.rel, hit.why) == (first, why)


@pytest.mark.parametrize("typed", ["Quarterly Budgte", "quartely budget", "Qarterly-Budget"])
def test_a_misspelt_name_is_found_when_little_else_is(vault: Vault, typed: str) -> None:
    root = vault({**OPEN, "notes/Quarterly Budget.md": "numbers\n", "notes/other.md": "words\n"})
    (hit,) = find(root, typed).hits
    assert hit.rel == "notes/Quarterly Budget.md"


def test_words_in_file_names_tags_and_aliases_count(vault: Vault) -> None:
    root = vault(
        {
            **OPEN,
            "notes/myProject_plan.md": "x\n",
            "notes/b.md": "---\ntags: [project/alpha-team]\naliases: [zebra crossing]\n---\ny\n",
            "notes/c.md": "z #inline/deep\n",
        }
    )
    for query, rel in {"project plan": "myProject_plan", "alpha": "b", "crossing": "b", "deep": "c"}.items():
        assert rels(find(root, query))[0] == f"notes/{rel}.md"


def test_one_more_matching_word_beats_one_frequent_word(vault: Vault) -> None:
    root = vault(
        {**OPEN, "notes/a.md": "pump pump pump pump\n", "notes/b.md": "the blue pump leaks\n", "notes/c.md": "x\n"}
    )
    assert rels(find(root, "why does the blue pump leak?")) == ["notes/b.md", "notes/a.md"]


def test_a_quoted_phrase_counts_more_than_its_words_apart(vault: Vault) -> None:
    apart = "gate of the water and a mill with more words\n"
    root = vault({**OPEN, "notes/a.md": apart, "notes/b.md": "some water gate stands in the mill here too\n"})
    assert rels(find(root, '"water gate"'))[0] == "notes/b.md"


def test_a_hit_points_at_the_lines_heading_and_text_of_the_match(vault: Vault) -> None:
    filler = "\n".join(f"filler line {i} about nothing in particular at all" for i in range(12))
    note = f"---\ntags: [x]\n---\n# Manual\n\n## Start\n{filler}\n\n## Pumps\n{filler}\n\n### Blue\n"
    note += "The cobalt valve sticks.\n"
    root = vault({**OPEN, "notes/manual.md": note})
    (hit,) = find(root, "cobalt valves").hits
    lines = note.split("\n")
    assert lines[hit.line - 1] == "The cobalt valve sticks."
    assert hit.line0 <= hit.line <= hit.line1
    assert (hit.title, hit.heading, hit.tags, hit.kind) == ("Manual", "Pumps > Blue", ["x"], "note")
    assert "cobalt valve sticks" in hit.snippet and "\n" not in hit.snippet and len(hit.snippet) < 350
    assert hit.why == "words: cobalt, valves"


def test_a_heading_in_a_fence_is_no_heading_of_a_hit(vault: Vault) -> None:
    root = vault({**OPEN, "notes/a.md": "# T\n## Real\n```\n# not one\nneedleword\n```\n"})
    assert find(root, "needleword").hits[0].heading == "Real"


def test_only_what_the_policy_exposes_is_shown_and_the_rest_counted(vault: Vault) -> None:
    root = vault(
        {
            "vault-manifest.json": '{"mcp_exposed_roots": ["notes"], "mcp_never_expose": ["notes/secret.md"]}\n',
            "notes/open.md": "marker\n",
            "notes/secret.md": "marker marker\n",
            "notes/private.md": "---\nprivate: yes\n---\nmarker\n",
            "notes/tagged.md": "---\ntags: [work, private]\n---\nmarker\n",
            "elsewhere/other.md": "marker\n",
            "memories/2026/01/m.md": "marker\n",
        }
    )
    answer = find(root, "marker")
    assert rels(answer) == ["notes/open.md"]
    assert (answer.withheld, answer.searched, answer.dropped) == (2, 1, 0)


def test_the_limit_is_met_whenever_enough_may_be_shown(vault: Vault) -> None:
    hidden = {f"hidden/{i:03}.md": "marker marker marker\n" for i in range(300)}
    shown = {f"notes/{i}.md": f"marker and {i} other words here\n" for i in range(9)}
    answer = find(vault({**OPEN, **hidden, **shown}), "marker", limit=8)
    assert len(answer.hits) == 8 and all(rel.startswith("notes/") for rel in rels(answer))
    assert answer.more == 1


def test_a_file_that_is_gone_changed_or_turned_private_is_not_served_as_it_was(vault: Vault) -> None:
    root = vault(
        {
            **OPEN,
            "notes/gone.md": "ghostmarker deleted body\n",
            "notes/moved.md": "ghostmarker moved\n",
            "notes/turned.md": "ghostmarker then\n",
            "notes/edited.md": "ghostmarker before the edit\n",
        }
    )
    bridge = Bridge(str(root))
    assert len(find(bridge, "ghostmarker").hits) == 4
    bridge.index._swept = float("inf")  # no full sweep will come to help
    state = (root / "notes/edited.md").stat()
    (root / "notes/gone.md").unlink()
    (root / "notes/moved.md").rename(root / "notes/moved2.md")
    (root / "notes/turned.md").write_text("---\nprivate: true\n---\nghostmarker nowsecret\n")
    (root / "notes/edited.md").write_text("# Fresh\nghostmarker after the edit, longer\n")
    os.utime(root / "notes/edited.md", ns=(state.st_atime_ns, state.st_mtime_ns))
    answer = find(bridge, "ghostmarker")
    assert sorted(rels(answer)) == ["notes/edited.md", "notes/moved2.md"]
    edited = next(hit for hit in answer.hits if hit.rel == "notes/edited.md")
    assert (edited.title, "after the edit" in edited.snippet) == ("Fresh", True)
    assert "secret" not in "".join(hit.snippet for hit in answer.hits)
    (root / "notes/edited.md").write_text("nothing of the kind\n")
    assert rels(find(bridge, "ghostmarker")) == ["notes/moved2.md"]


def test_a_policy_that_changes_counts_at_once(vault: Vault) -> None:
    root = vault({**OPEN, "notes/a.md": "marker\n", "other/b.md": "marker\n"})
    bridge = Bridge(str(root))
    assert rels(find(bridge, "marker")) == ["notes/a.md"]
    (root / "vault-manifest.json").write_text('{"mcp_exposed_roots": ["other"]}\n')
    assert rels(find(bridge, "marker")) == ["other/b.md"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"folder": "notes/work"}, ["notes/work/a.md", "notes/work/deep/b.md"]),
        ({"folder": "/notes/work/deep/"}, ["notes/work/deep/b.md"]),
        ({"folder": "notes/wor"}, []),
        ({"tag": "project"}, ["notes/c.md", "notes/work/a.md"]),
        ({"tag": "#Project/Alpha"}, ["notes/work/a.md"]),
        ({"tag": "proj"}, []),
        ({"tag": "project", "folder": "notes/work"}, ["notes/work/a.md"]),
    ],
)
def test_folder_and_tag_narrow_a_search(vault: Vault, options: dict[str, str], expected: list[str]) -> None:
    root = vault(
        {
            **OPEN,
            "notes/work/a.md": "---\ntags: [project/alpha]\n---\nmarker\n",
            "notes/work/deep/b.md": "marker\n",
            "notes/c.md": "marker #project\n",
            "notes/workshop/d.md": "marker\n",
        }
    )
    assert sorted(rels(find(root, "marker", **options))) == expected


@pytest.mark.parametrize("tag", ["private", "#Private", "private/me"])
def test_nothing_is_found_by_the_tag_private(vault: Vault, tag: str) -> None:
    from vaultbridge.tools.search import run
    from vaultcore.identity import ANONYMOUS

    root = vault({**OPEN, "notes/a.md": "Atlas #private/me\n", "notes/b.md": "---\ntags: [private]\n---\nAtlas\n"})
    reply = run(Bridge(str(root)), ANONYMOUS, {"query": "Atlas", "tag": tag})
    assert reply.startswith("0 notes") and "a.md" not in reply and "The tag private withholds notes" in reply
    assert run(Bridge(str(root)), ANONYMOUS, {"query": "Atlas"}).startswith("1 note for")


def test_conflict_copies_are_left_out_counted_and_on_request_last(vault: Vault) -> None:
    root = vault(
        {
            **OPEN,
            "notes/Plan.md": "conflictmarker currenttext\n",
            "notes/Plan (A's conflicted copy 2026-02-03).md": "conflictmarker conflictmarker staletext\n",
            "notes/Plan.sync-conflict-20260203-101010-ABCDEFG.md": "conflictmarker staletext\n",
        }
    )
    answer = find(root, "conflictmarker")
    assert (rels(answer), answer.copies) == (["notes/Plan.md"], 2)
    every = find(root, "conflictmarker", include=["conflicts"])
    assert rels(every)[0] == "notes/Plan.md" and [hit.conflict for hit in every.hits] == [False, True, True]
    assert "conflict copy" in every.hits[1].why


def test_a_needle_at_the_end_of_a_huge_note_is_found(vault: Vault) -> None:
    unit = "".join(f"## Part {i}\nfiller words that say nothing much\n" for i in range(60_000))
    root = vault(
        {**OPEN, "notes/huge.md": f"# Huge\n{unit}\nneedleinhuge\n", "notes/line.md": "word " * 400_000 + "lastword\n"}
    )
    hit = find(root, "needleinhuge").hits[0]
    assert hit.rel == "notes/huge.md" and len(hit.snippet) < 400
    assert find(root, "lastword").hits[0].rel == "notes/line.md"


def test_a_vault_that_is_away_is_an_error_and_no_empty_answer(vault: Vault, tmp_path: Path) -> None:
    root = vault({**OPEN, "notes/a.md": "awaymarker\n"})
    bridge = Bridge(str(root))
    assert rels(find(bridge, "awaymarker")) == ["notes/a.md"]
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(VaultError, match="not available"):
        find(bridge, "awaymarker")
    (tmp_path / "elsewhere").rename(root)
    assert rels(find(bridge, "awaymarker")) == ["notes/a.md"]


def test_an_index_that_is_still_being_built_says_so(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault({**OPEN, **{f"notes/{i}.md": f"marker {i}\n" for i in range(600)}})
    bridge = Bridge(str(root))
    refresh = bridge.index.refresh
    monkeypatch.setattr(bridge.index, "refresh", lambda: refresh(budget=0.0))
    answer = find(bridge, "marker")
    assert answer.hits and answer.incomplete == "the index is being built: 256 of 600 notes are in it so far"


def test_while_another_process_keeps_the_index_locked_search_answers_from_what_is_there(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vaultcore.index.store.BUSY", 0.1)
    root = vault({**OPEN, "notes/a.md": "marker\n"})
    bridge = Bridge(str(root))
    find(bridge, "marker")
    other = sqlite3.connect(Path(places.cache(str(root))) / "index.sqlite", isolation_level=None)
    other.execute("begin immediate")
    write_tree(root, {"notes/b.md": "marker\n"})
    try:
        answer = find(bridge, "marker")
        assert rels(answer) == ["notes/a.md"] and "locked" in str(answer.incomplete)
    finally:
        other.execute("rollback")
        other.close()
    assert len(find(bridge, "marker").hits) == 2


class Toy:
    """An engine with a list of its own."""

    weight = 1.0

    def __init__(self, name: str, found: list[str], state: str = "ok", error: Exception | None = None) -> None:
        self.name, self.found, self.said, self.error = name, found, state, error

    def state(self) -> str:
        return self.said

    def search(self, query: str, limit: int, *, folder: str | None = None, tag: str | None = None) -> list[Pointer]:
        if self.error:
            raise self.error
        return [Pointer(rel, Chunk("", 1, 1), i, self.name) for i, rel in enumerate(self.found[:limit], 1)]


def test_another_engine_joins_by_rank_fusion_and_its_hits_are_checked_too(vault: Vault) -> None:
    root = vault({**OPEN, "notes/a.md": "marker\n", "notes/b.md": "b\n", "other/c.md": "c\n"})
    bridge = Bridge(str(root))
    bridge.extras["engines"] = [Toy("vectors", ["notes/b.md", "other/c.md", "notes/gone.md", "../../etc/passwd.md"])]
    answer = find(bridge, "marker")
    assert rels(answer) == ["notes/a.md", "notes/b.md"]
    assert answer.lanes == {"names": "ok", "words": "ok", "vectors": "ok"}
    assert (answer.hits[1].why, answer.hits[1].lane, answer.withheld) == ("vectors", "vectors", 2)


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (Toy("qmd", [], "no models: run `qmd pull`"), "no models: run `qmd pull`"),
        (Toy("qmd", [], error=TimeoutError("no answer in 2 s")), "failed: no answer in 2 s"),
    ],
)
def test_an_engine_that_gives_nothing_is_named_with_the_reason(vault: Vault, engine: Toy, said: str) -> None:
    bridge = Bridge(str(vault({**OPEN, "notes/a.md": "marker\n"})))
    bridge.extras["engines"] = [engine]
    answer = find(bridge, "marker")
    assert (rels(answer), answer.lanes["qmd"]) == (["notes/a.md"], said)


def test_memories_come_only_through_the_callable_and_are_marked(vault: Vault) -> None:
    root = vault({**OPEN, "notes/a.md": "marker\n", "memories/m.md": "marker\n"})

    def memories(query: str, limit: int) -> list[Hit]:
        hit = Hit("memories/m.md", "M")
        hit.kind = "memory"
        return [hit]

    assert [(h.rel, h.kind) for h in find(root, "marker", memories=memories).hits] == [
        ("notes/a.md", "note"),
        ("memories/m.md", "memory"),
    ]


def test_fusion_adds_weights_over_ranks_and_keeps_the_pointer_of_the_heavier_list() -> None:
    def pointers(*rels: str) -> list[Pointer]:
        return [Pointer(rel, None, i, "") for i, rel in enumerate(rels, 1)]

    heavy, light = pointers("a", "b", "b"), pointers("b", "c")
    fused = fuse([("light", 1.0, light), ("heavy", 2.0, heavy)])
    assert [f.rel for f in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 11 + 2 / 12)
    assert (fused[0].pointer, fused[0].lanes) == (heavy[1], ["light", "heavy"])


def test_a_new_note_is_found_at_once_by_two_bridges(vault: Vault) -> None:
    root = vault({**OPEN, "notes/a.md": "a\n"})
    one, two = Bridge(str(root)), Bridge(str(root))
    assert rels(find(one, "freshmarker")) == rels(find(two, "freshmarker")) == []
    write_tree(root, {"notes/new.md": "freshmarker\n"})
    assert rels(find(one, "freshmarker")) == rels(find(two, "freshmarker")) == ["notes/new.md"]


def test_two_vaults_of_one_name_know_nothing_of_each_other(vault: Vault, tmp_path: Path) -> None:
    first = vault({**OPEN, "notes/first.md": "commonmarker\n"})
    second = write_tree(tmp_path / "second" / "vault", {**OPEN, "notes/second.md": "commonmarker\n"})
    for _ in range(2):
        assert rels(find(first, "commonmarker")) == ["notes/first.md"]
        assert rels(find(second, "commonmarker")) == ["notes/second.md"]
