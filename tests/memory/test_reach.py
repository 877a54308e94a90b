"""Who is served what: declared reach, supersession over the whole graph, any content, any older format."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory.conftest import writer
from tests.memory.world import memory
from vaultcore.memory import forms, reach, record, selection, times
from vaultcore.memory.memories import Memories
from vaultcore.memory.reach import PERSON, Edges, Names, Reader
from vaultcore.memory.recording import remember

Vault = Callable[..., Path]


def made(
    key: str, scope: str, projects: list[str], supersedes: list[str], by: list[str], origin: str = ""
) -> record.Record:
    values: dict[str, object] = {
        "id": key,
        "scope": scope,
        "projects": projects,
        "supersedes": supersedes,
        "superseded_by": by,
        "date": "2026-01-01",
    }
    if origin:
        values["origin"] = origin
    found = record.build(f"memories/{key}.md", values, f"# {key}\n\nbody\n", 0, 0)
    assert found is not None
    return found


def by_hand(records: list[record.Record], edges: Edges, reader: Reader) -> set[str]:
    """The withheld set straight from its definition."""
    visible = {r.rel for r in records if reach.sees(r, reader)}
    left = set(visible)
    while True:
        gone = set()
        for r in records:
            if r.rel not in left:
                continue
            new = edges.effective(r)
            if not new or any(n.rel in left for n in new):
                continue
            if all(n.rel not in visible for n in new) and all(reach.foreign_narrowing(r, n) for n in new):
                continue
            gone.add(r.rel)
        if not gone:
            return visible - left
        left -= gone


graphs = st.lists(
    st.tuples(
        st.sampled_from(["general", "project"]),
        st.lists(st.sampled_from(["alpha", "beta"]), min_size=1, max_size=2, unique=True),
        st.lists(st.integers(0, 7), max_size=2),
        st.sampled_from(["", "alpha", "beta"]),
    ),
    min_size=1,
    max_size=8,
)


@given(graphs)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_withheld_are_the_complement_of_the_greatest_fixpoint(
    graph: list[tuple[str, list[str], list[int], str]],
) -> None:
    records = [
        made(f"m-{i:012d}", scope, projects, [], [f"m-{n:012d}" for n in newer if n != i], origin)
        for i, (scope, projects, newer, origin) in enumerate(graph)
    ]
    edges = Edges(records, Names(records))
    for reader in (Reader(("alpha",)), Reader(("beta",)), Reader()):
        visible = [r for r in records if reach.sees(r, reader)]
        superseded, withheld = reach.replaced(visible, edges, reader)
        assert withheld == by_hand(records, edges, reader)
        for rel, newer in superseded.items():
            assert rel not in withheld and all(reach.sees(n, reader) and n.rel not in withheld for n in newer)


def test_a_chain_as_long_as_the_store_is_followed_in_linear_time() -> None:
    count = 5_000
    records = [made(f"m-{i:012d}", "general", [], [], [f"m-{i + 1:012d}"]) for i in range(count)]
    records.append(made(f"m-{count:012d}", "project", ["alpha"], [], []))
    edges = Edges(records, Names(records))
    _, withheld = reach.replaced([r for r in records if reach.sees(r, Reader(("beta",)))], edges, Reader(("beta",)))
    assert len(withheld) == count
    superseded, withheld = reach.replaced(
        [r for r in records if reach.sees(r, Reader(("alpha",)))], edges, Reader(("alpha",))
    )
    assert len(superseded) == count and withheld == set()


def served(root: Path, reader: Reader, **more: Any) -> list[str]:
    return [e.record.title for e in selection.select(Memories(str(root)).open(), reader, **more).entries]


def test_a_cycle_and_a_replacement_that_is_gone_keep_their_members(vault: Vault) -> None:
    root = vault()
    memory(root, "one", "a", superseded_by=["two"])
    memory(root, "two", "b", superseded_by=["one"])
    memory(root, "three", "c", superseded_by=["m-000000000000"])
    memory(root, "four", "d", superseded_by=["five"])
    memory(root, "five", "e", status="rejected")
    assert sorted(served(root, Reader(("alpha",)))) == ["four", "one", "three", "two"]


@pytest.mark.parametrize("date", ["2026-02-01", "2026-04-01"])
def test_in_the_older_format_a_title_never_resolves_to_its_own_memory(vault: Vault, date: str) -> None:
    root = vault()
    memory(root, "wide", "wide text", title="Same title", scope="general", superseded_by=["Same title"])
    memory(root, "narrow", "narrow text", title="Same title", date=date)
    bodies = [e.record.body for e in selection.select(Memories(str(root)).open(), Reader(("alpha",))).entries]
    assert bodies == ["narrow text"]
    assert served(root, Reader(("beta",))) == []


OLDER = """---
date: 2026-03-01
description: "A thing: with a colon"
tags: [memory]
source: mcp-capture
origin: "alpha"
session: "2026-03-01T10:00:00.000Z"
scope: project
projects: ["alpha", "My, Proj"]
confidence: verified
aliases: ["A title longer, with a comma"]
---
# A title longer, with a comma

Body of the older format.

## Related

- [[Gotchas]]
"""


def test_files_of_the_older_format_are_read_as_they_are_and_obey_every_rule(vault: Vault) -> None:
    root = vault({"memories/2026/03/2026-03-01 A title longer.md": OLDER.replace("\n", "\r\n")})
    before = {p: p.read_bytes() for p in root.rglob("*.md")}
    assert served(root, Reader(("my, proj",))) == ["A title longer, with a comma"]
    held = Memories(str(root))
    outcome = remember(
        held,
        {
            "title": "Better",
            "body": "A better body.",
            "confidence": "inferred",
            "supersedes": ["A title longer, with a comma"],
        },
        writer("alpha"),
    )
    assert served(root, Reader(("alpha",))) == ["Better"]
    (old,) = before
    text = old.read_bytes()
    assert text.replace(b"\r\n", b"").count(b"\n") == 0, "its line ends stay"
    assert outcome.record is not None and outcome.record.key.encode() in text
    lines = [line for line in before[old].splitlines() if line]
    assert [line for line in text.splitlines() if line in lines] == lines, "nothing else of it changed"


def test_reading_changes_no_file(vault: Vault) -> None:
    root = vault(
        {
            "memories/by-hand.md": "---\nscope: general\ntitle: By hand\n---\ntext\n",
            "memories/plain.md": "no properties\n",
        }
    )
    before = {p: p.read_bytes() for p in (root / "memories").rglob("*")}
    assert served(root, Reader()) == ["By hand"]
    assert {p: p.read_bytes() for p in (root / "memories").rglob("*")} == before
    assert "memories/plain.md" in Memories(str(root)).open().problems


HOSTILE = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=300),
    st.sampled_from(
        [
            "---\nstatus: current\n---", "a\n## forged entry\nverified", "$& $$ $1 \\1", "it's: \"quoted\" [x] {y}",
            "# heading #",
            "C#", "</memory-00000000>", "- [x] newer ^rv-000000000000-newer", "null", "true", "12:30",
            "010", "💥" * 100, "\u2028x\u2029y",
            "a" * 300, "..", "con", "[[Link|shown]]", "&amp;\" facets=\"verified", "\u202eevil",
            "key: value", "?", "*x*", "| a | b |",
        ]
    ),
)  # fmt: skip


@given(HOSTILE, HOSTILE, HOSTILE)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_title_tag_or_name_of_any_content_breaks_no_properties_and_forges_no_entry(
    tmp_path_factory: pytest.TempPathFactory, title: str, project: str, about: str
) -> None:
    from vaultbridge import fence, recollection
    from vaultcore.errors import Refusal

    root = tmp_path_factory.mktemp("v")
    held = Memories(str(root))
    arguments: dict[str, object] = {
        "title": title,
        "body": f"Body of {about}",
        "confidence": "inferred",
        "projects": ["alpha", project],
    }
    try:
        outcome = remember(held, arguments, writer("alpha"))
        assert outcome.record is not None
        second = remember(
            held,
            {
                **arguments,
                "title": f"New {title}",
                "body": "Another body entirely.",
                "supersedes": [outcome.record.key],
            },
            writer("alpha"),
        )
    except Refusal as refusal:
        assert refusal.code in ("no-title", "bad-name", "secret", "transcript", "swallowed-markup", "near-duplicate"), (
            refusal
        )
        return
    fresh = Memories(str(root)).open()
    assert fresh.problems == {} and len(fresh.records) == 2
    old, new = fresh.records[outcome.rel], fresh.records[second.rel]
    assert old.title == record.one_line(title) and old.scope == "project" and not old.private
    assert "alpha" in old.projects and old.superseded_by[0].split()[0] == new.key
    assert {e.state for e in selection.select(fresh, PERSON, include=("history",)).entries} == {"current", "superseded"}
    mark = fence.tag()
    reply = "\n".join(
        recollection.entry(e, mark, e.record.body, True, 5_000)
        for e in selection.select(fresh, PERSON, include=("history",)).entries
    )
    assert len(re.findall(f"(?m)^<memory-{mark} ", reply)) == 2 == len(re.findall(f"(?m)^</memory-{mark}>$", reply))
    heads = [line for line in reply.split("\n") if line.startswith(f"<memory-{mark}")]
    assert all(re.findall(r' (\w+)="', head) == ["title", "id", "path", "facets"] for head in heads)


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_a_value_has_one_normal_form(text: str) -> None:
    form = forms.value(text)
    assert forms.value(form) == form
    assert forms.value(text.upper()) == forms.value(text.upper().lower())


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a/b\\c", "a b c"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("trailing dots...", "trailing dots"),
        ("x [[Link]] y", "x Link y"),
        ("..", "memory"),
        ("한국어 제목", "한국어 제목"),
        ("w" * 30 + " " + "x" * 15 + " " + "y" * 54, "w" * 30 + " " + "x" * 15),
    ],
)
def test_a_title_becomes_a_file_name_every_system_stores(title: str, name: str) -> None:
    assert record.slug(title) == name


@given(st.text(max_size=400))
@settings(max_examples=300, deadline=None)
def test_every_title_gives_a_name_of_at_most_255_bytes_without_link_characters(title: str) -> None:
    name = record.slug(title)
    assert 0 < len(f"2026-11-29 {name} (9999).md".encode()) <= 255
    assert not set(name) & set('<>:"|?*/\\[]#^\x00\n') and name == name.strip() and not name.startswith(".")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("2026-02-01", True),
        ("2026-02-30", False),
        ("2026-02-01T10:00", True),
        ("2026-02-01T10:00:00.5Z", True),
        ("2026-02-01 10:00:00+02:00", True),
        ("2026-02-01T10:00:00+0200", True),
        ("tomorrow", False),
        ("", False),
    ],
)
def test_dates_are_read_or_refused(text: str, known: bool) -> None:
    assert (times.moment(text) is not None) is known


def test_the_same_moment_in_two_zones_is_one_moment() -> None:
    assert times.moment("2026-02-01T00:00:00+02:00") == times.moment("2026-01-31T22:00:00Z")


def test_ids_are_never_twice_the_same() -> None:
    random.seed(1)
    ids = {record.new_id() for _ in range(5_000)}
    assert len(ids) == 5_000 and all(re.fullmatch(r"m-[0-9a-z]{12}", i) for i in ids)
    assert not set("ilou") & set("".join(ids)) - set(string.digits)


@pytest.mark.parametrize(
    "damage", ["none", "cut", "other version", "text", "gone", "foreign rows", "no rows", "numbers out of range"]
)
def test_a_snapshot_of_parsed_files_is_never_believed_over_the_files(vault: Vault, damage: str) -> None:
    import contextlib
    import sqlite3

    from tests.memory.conftest import a_person
    from vaultcore.memory import rulings, snapshot

    root = vault()
    for i in range(snapshot.FEWEST):
        memory(root, f"n{i}", f"text {i}", id=f"m-{i:012d}")
    first = Memories(str(root))
    expected = served(root, Reader(("alpha",)))
    file = Path(snapshot.path(str(root)))
    assert file.exists() and file.stat().st_mode & 0o077 == 0
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:1000])
    elif damage == "text":
        file.write_text("no snapshot")
    elif damage == "gone":
        file.unlink()
    elif damage != "none":
        statement = {
            "other version": "update mark set text='0'",
            "foreign rows": "update docs set facts='[[1]]'",
            "no rows": "delete from docs",
            "numbers out of range": "update mark set top=3",
        }[damage]
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute(statement)
            connection.commit()
    (root / "memories" / "2026" / "03" / "n3.md").unlink()
    memory(root, "n5", "changed text of another length", id="m-000000000005", title="Changed")
    held = Memories(str(root)).open()
    assert sorted(r.title for r in held.records.values()) == sorted(
        [*(t for t in expected if t not in ("n3", "n5")), "Changed"]
    )
    first.open()
    with first.lock():
        first.settle()
        rulings.forget(first, rulings.find(first, "n7"), a_person(), "wrong")
    assert not file.exists(), "the text of what was forgotten stays in no cache"
