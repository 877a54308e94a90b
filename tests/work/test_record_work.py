"""`record_work`: what is filed, where, in which words, and everything it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, write_tree
from tests.memory.world import Bridge, om
from vaultbridge.bridge import Bridge as Opened
from vaultbridge.tools import record_work as tool
from vaultcore import identity, properties, requirements
from vaultcore.errors import Refusal
from vaultcore.identity import Caller

Vault = Callable[..., Path]
EXPOSED = {"mcp_exposed_roots": ["brain", "work/*.md", "work/active", "projects", "inbox"]}
MANIFEST = json.dumps(
    {**EXPOSED, "frontmatter_required": {"*": {"date": "date", "description": "text", "tags": "list"}}}
)
SUMMARY = "The retry queue drained out of order after the cutover; it is sorted by arrival now."
INDEX = "---\ndate: 2026-01-01\n---\n# Work Index\n\n- [[Old thing]]\n\nBack to [[Home]].\n"


@pytest.fixture
def world(vault: Vault) -> Callable[..., Path]:
    """`world({path: text})`: a vault with an inbox, an index of the work, and what is given."""

    def build(files: Mapping[str, str | bytes] | None = None, manifest: str = MANIFEST) -> Path:
        usual = {"vault-manifest.json": manifest, "inbox/Inbox.md": "# Inbox\n", "work/Work Index.md": INDEX}
        return vault({**usual, "brain/Queue.md": "# Queue\n", **(files or {})})

    return build


def atlas(root: Path) -> Caller:
    return Caller(project="atlas", projects=("atlas",), source="test")


def record(root: Path, caller: Caller | None = None, **given: Any) -> str:
    """One call of the tool, in this process, with arguments that the bridge has already read."""
    from vaultbridge import arguments

    bridge = Opened(str(root))
    try:
        values, _ = arguments.parse(
            tool.TOOL["inputSchema"], {"title": "Queue sorted", "summary": SUMMARY, **given}, True
        )
        return tool.run(bridge, atlas(root) if caller is None else caller, values)
    finally:
        bridge.close()


def refused(root: Path, caller: Caller | None = None, **given: Any) -> Refusal:
    before = tree(root)
    with pytest.raises(Refusal) as caught:
        record(root, caller, **given)
    assert tree(root) == before, "a refusal writes nothing"
    assert caught.value.next, "and says what to do next"
    return caught.value


def tree(root: Path) -> dict[str, bytes | None]:
    """Every note and folder; our own log and cache left out."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if not path.relative_to(root).as_posix().startswith((".om", ".cache"))
    }


def written(root: Path, reply: str) -> str:
    """The text of the note that a reply names."""
    rel = reply.splitlines()[0].partition(": ")[2]
    return (root / rel).read_text(encoding="utf-8")


def today() -> str:
    from vaultcore.memory import times

    return times.today()


# -- where it goes ----------------------------------------------------------------------------------------------------

PLACES = [
    ("the folder that was named", {}, {"folder": "work/active"}, "work/active"),
    ("a folder in it that is not there yet", {}, {"folder": "work/active/queues/retry"}, "work/active/queues/retry"),
    ("an exposed folder by a glob of files", {}, {"folder": "work"}, "work"),
    ("slashes around it do not matter", {}, {"folder": "/work/active/"}, "work/active"),
    ("the project's own folder", {"projects/atlas/a.md": "x"}, {}, "projects/atlas"),
    ("its folder in work/active", {"work/active/atlas/a.md": "x"}, {}, "work/active/atlas"),
    ("in the spelling on disk", {"projects/Atlas/a.md": "x"}, {}, "projects/Atlas"),
    (
        "never a folder whose name begins alike",
        {"projects/atla/a.md": "x", "projects/atlas-two/a.md": "x"},
        {},
        "inbox",
    ),
    ("never a folder whose name is a prefix", {"projects/a/a.md": "x"}, {}, "inbox"),
    ("never a file of that name", {"projects/atlas.md": "x", "work/active/x.md": "x"}, {}, "inbox"),
    ("never one of two", {"projects/atlas/a.md": "x", "work/active/atlas/a.md": "x"}, {}, "inbox"),
    ("else the inbox", {}, {}, "inbox"),
]


@pytest.mark.parametrize(("why", "files", "given", "folder"), PLACES, ids=[row[0] for row in PLACES])
def test_it_is_filed_where_it_was_named_or_belongs(
    world: Callable[..., Path], why: str, files: dict[str, str], given: dict[str, Any], folder: str
) -> None:
    root = world(files)
    reply = record(root, **given)
    assert (root / folder / f"{today()} Queue sorted.md").is_file(), reply
    assert reply.startswith(f"Recorded: {folder}/")


def test_two_folders_of_one_name_are_named_in_the_reply(world: Callable[..., Path]) -> None:
    root = world({"projects/atlas/a.md": "x", "projects/Atlas/a.md": "x"})
    assert "projects/Atlas, projects/atlas" in record(root)


REFUSED = [
    ("brain/../work", "outside"),  # row 117
    ("../elsewhere", "outside"),
    ("work/active/../../../etc", "outside"),
    (".om/log", "outside"),
    ("work/./active", "outside"),
    ("work\\active", "outside"),
    ("C:/work", "outside"),
    ("~/work", "outside"),
    ("/etc", "not-exposed"),
    ("org", "not-exposed"),
    ("work/1-1", "not-exposed"),
    ("memories", "not-exposed"),
    ("memories/2026/11", "not-exposed"),
    ("workshop", "not-exposed"),
    ("work/active/A file.md", "folder"),
]


@pytest.mark.parametrize(("folder", "code"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_folder_outside_or_not_exposed_is_refused(world: Callable[..., Path], folder: str, code: str) -> None:
    root = world({"work/active/A file.md": "x", "org/Ann.md": "x", "memories/About.md": "x"})
    assert refused(root, folder=folder).code == code


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize(("target", "code"), [("../outside", "outside"), ("org", "not-exposed"), (".om", "outside")])
def test_a_link_inside_an_exposed_root_does_not_lead_a_record_out_of_it(
    world: Callable[..., Path], tmp_path: Path, target: str, code: str
) -> None:
    root = world({"org/Ann.md": "x", ".om/x": "x"})
    (tmp_path / "outside").mkdir()
    (root / "work/active").mkdir(parents=True)
    (root / "work/active/out").symlink_to(tmp_path / "outside" if target.startswith("..") else root / target)
    assert refused(root, folder="work/active/out").code == code
    assert refused(root, folder="work/active/out/deeper").code == code
    assert list((tmp_path / "outside").iterdir()) == []


def test_roots_of_several_segments_are_roots(world: Callable[..., Path]) -> None:  # row 118
    assert record(world({"work/active/x.md": "x"}), folder="work/active").startswith("Recorded: work/active/")


def test_an_inbox_that_is_not_exposed_is_said_to_be_unfindable(world: Callable[..., Path]) -> None:  # 9.1 16
    root = world(manifest=json.dumps({"mcp_exposed_roots": ["brain"]}))
    assert "inbox is not exposed" in record(root)


# -- what it says -----------------------------------------------------------------------------------------------------


def test_the_note_holds_everything_that_was_sent_in_its_order(world: Callable[..., Path]) -> None:
    root = world()
    reply = record(
        root, changes=["queue.py sorts"], decisions=["arrival, not id: ids collide"], learned=["ids collide"],
        open=["what of the tail?"], verification="ran the suite", informed_by=["Queue", "Nowhere"],
        paths=["src/queue.py"],
    )  # fmt: skip
    text = written(root, reply)
    assert properties.read(text).values == {
        "date": today(),
        "description": SUMMARY,
        "tags": ["work-record"],
        "aliases": ["Queue sorted"],
        "project": "atlas",
        "paths": ["src/queue.py"],
        "recorded_at": properties.read(text).values["recorded_at"],
    }
    body = text[properties.read(text).body :]
    assert body.startswith(
        f"\n# Queue sorted\n\n{SUMMARY}\n\n## What changed\n\n- queue.py sorts\n\n## Decisions\n\n"
        "- arrival, not id: ids collide\n\n## Learned\n\n- ids collide\n\n## Verification\n\nran the suite\n\n"
        "## Open questions\n\n- [ ] what of the tail?\n\n"
        "## Related\n\n- [[Queue]]\n- Nowhere (no note you can read)\n\n*Recorded "
    )


def test_a_decision_is_named_without_a_date_and_carries_its_status(world: Callable[..., Path]) -> None:
    root = world()
    text = written(root, record(root, kind="decision", title="Sort by arrival"))
    assert (root / "inbox/Sort by arrival.md").is_file()
    assert properties.read(text).values["status"] == "accepted"
    assert properties.read(text).values["tags"] == ["decision", "work-record"]


TITLES = [
    ("再試行キューを直した", "再試行キューを直した"),  # 9.1 35: any script
    ("очередь исправлена", "очередь исправлена"),
    ("ردیف می‌شود", "ردیف می‌شود"),
    ("한국어 제목", "한국어 제목"),
    ("Fix: a/b [c] #d ^e | f?", "Fix a b c d e f"),
    ("🎉", "🎉"),
    ("CON", "_CON"),
    ("memory", "memory"),
    ("two\nlines", "two lines"),
]


@pytest.mark.parametrize(("title", "name"), TITLES)
def test_a_title_of_any_script_names_the_file_and_links_to_it(
    world: Callable[..., Path], title: str, name: str
) -> None:
    root = world()
    text = written(root, record(root, title=title, kind="decision"))
    assert (root / f"inbox/{name}.md").is_file()
    flat = " ".join(title.split())
    aliases = properties.read(text).values.get("aliases", [])
    assert name == flat or aliases == [flat], "row 120: linkable by its title"
    assert f"\n# {flat}\n" in text


def test_a_long_summary_is_described_to_a_word_and_an_ellipsis(world: Callable[..., Path]) -> None:  # row 120
    root = world()
    text = written(root, record(root, summary="resting " * 60))
    described = properties.read(text).values["description"]
    assert isinstance(described, str) and described.endswith("resting…") and len(described) <= 150


@pytest.mark.parametrize("name", ["foo: bar", "- x", "#tag", "yes", "'q'", "[a", "{b"])
def test_a_project_of_any_spelling_keeps_the_properties_whole(world: Callable[..., Path], name: str) -> None:  # 9.1 37
    root = world()
    caller = Caller(project=identity.canonical(name), projects=(identity.canonical(name) or "",), source="test")
    props = properties.read(written(root, record(root, caller)))
    assert props.state == "whole" and props.values["project"] == identity.canonical(name)


def test_the_date_is_the_local_one_as_for_memories(
    world: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:  # 9.1 38
    import time

    monkeypatch.setenv("TZ", "Pacific/Kiritimati")  # fourteen hours ahead
    time.tzset()
    try:
        local = time.strftime("%Y-%m-%d")
        assert properties.read(written(world_ := world(), record(world_))).values["date"] == local
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


def test_links_that_lead_nowhere_stand_as_text_and_are_named(world: Callable[..., Path]) -> None:
    root = world({"brain/Secret.md": "---\nprivate: true\n---\n# Secret\n", "org/Ann.md": "x"})
    reply = record(
        root, title="About [[Queue]] and [[Gone]]", summary="See [[Queue]], [[Gone|that]], [[Secret]] and `[[code]]`.",
        changes=["moved [[Ann]]"], informed_by=["Secret", "[[Queue#Top|q]]"],
    )  # fmt: skip
    text = written(root, reply)
    assert "See [[Queue]], that, Secret and `[[code]]`." in text
    assert "- moved Ann" in text and "# About [[Queue]] and Gone" in text
    assert "- Secret (no note you can read)" in text and "- [[Queue#Top]]" in text
    assert "plain text: 'Gone', 'Secret', 'Ann'" in reply


RULES = {
    "*": {"date": "date", "description": "text", "tags": "list", "status": "text"},
    "work-record": ["project"],
    "decision": {"decided": "date"},
    "projects/": {"priority": "number"},
}


def test_it_says_what_frontmatter_required_asks_for_as_the_write_hook_checks_it(world: Callable[..., Path]) -> None:
    root = world({"projects/atlas/a.md": "x"}, json.dumps({**EXPOSED, "frontmatter_required": RULES}))
    reply = record(root, folder="work/active")
    text = written(root, reply)
    rel = reply.splitlines()[0].partition(": ")[2]
    assert requirements.faults(properties.read(text), RULES, rel) == []
    assert properties.read(text).values["status"] == "completed"


@pytest.mark.parametrize(("given", "name"), [({}, "priority"), ({"kind": "decision", "folder": "inbox"}, "decided")])
def test_a_property_that_nobody_said_is_not_made_up(
    world: Callable[..., Path], given: dict[str, Any], name: str
) -> None:
    root = world({"projects/atlas/a.md": "x"}, json.dumps({**EXPOSED, "frontmatter_required": RULES}))
    refusal = refused(root, **given)
    assert refusal.code == "unmet-property" and name in refusal.why


# -- the index note ---------------------------------------------------------------------------------------------------

NEW = "2026-11-30 Queue sorted"
SHAPES = [
    ("a bare link", "- [[Old]]", "- [[{stem}|Queue sorted]]"),
    ("a dash and what it is", "- [[Old]] — an old thing", "- [[{stem}|Queue sorted]] — {summary}"),
    ("a colon", "* [[Old|The old]]: an old thing", "* [[{stem}|Queue sorted]]: {summary}"),
    ("a date before", "- 2026-01-02 [[Old]]", "- {today} [[{stem}|Queue sorted]]"),
    (
        "a date in bold before and a text",
        "- **2026-01-02** [[Old]]: x",
        "- **{today}** [[{stem}|Queue sorted]]: {summary}",
    ),
    ("a date behind", "- [[Old]] (2026-01-02)", "- [[{stem}|Queue sorted]] ({today})"),
    ("a number", "7. [[Old]]", "8. [[{stem}|Queue sorted]]"),
    ("a task", "- [x] [[Old]]", "- [ ] [[{stem}|Queue sorted]]"),
    ("an indent", "  - [[Old]]", "  - [[{stem}|Queue sorted]]"),
    ("a link of Markdown", "- [Old](work/Old.md)", "- [Queue sorted]({quoted}.md)"),
    (
        "a row of a table",
        "| [[Old]] | 2026-01-02 | an old thing |",
        "| [[{stem}\\|Queue sorted]] | {today} | {summary} |",
    ),
]


@pytest.mark.parametrize(("why", "last", "entry"), SHAPES, ids=[row[0] for row in SHAPES])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_it_is_listed_in_the_shape_of_the_last_entry(
    world: Callable[..., Path], why: str, last: str, entry: str, newline: str
) -> None:
    before = f"# Work\n\nText with a [[Link]].\n\n{last}\n\nAfter.  \n".replace("\n", newline)
    root = world({"work/Work Index.md": before.encode()})
    reply = record(root, folder="work/active")
    stem = f"{today()} Queue sorted"
    made = entry.format(stem=stem, today=today(), summary=SUMMARY, quoted=stem.replace(" ", "%20"))
    after = before.replace(last + newline, last + newline + made + newline)
    assert (root / "work/Work Index.md").read_bytes().decode() == after
    assert "listed in work/Work Index.md" in reply


PLAIN = [
    ("an empty item is filled", "# W\n\n- \n\n## Open\n\n-\n", "# W\n\n- [[{stem}|Queue sorted]]\n\n## Open\n\n-\n"),
    (
        "an item in code is no entry",
        "# W\n\n```\n- [[x]]\n```\n",
        "# W\n\n```\n- [[x]]\n```\n\n- [[{stem}|Queue sorted]]\n",
    ),
    ("without a last line end", "# W\n\n- [[Old]]", "# W\n\n- [[Old]]\n- [[{stem}|Queue sorted]]"),
    (
        "before the way out",
        "# W\n\nText.\n\nBack to [[Home]].\n",
        "# W\n\nText.\n\n- [[{stem}|Queue sorted]]\n\nBack to [[Home]].\n",
    ),
    ("a note with nothing in it", "", "\n- [[{stem}|Queue sorted]]\n"),
]


@pytest.mark.parametrize(("why", "before", "after"), PLAIN, ids=[row[0] for row in PLAIN])
def test_an_index_without_an_entry_gets_its_first(
    world: Callable[..., Path], why: str, before: str, after: str
) -> None:
    root = world({"work/Work Index.md": before})
    record(root, folder="work/active")
    text = (root / "work/Work Index.md").read_text()
    assert text.strip() == after.format(stem=f"{today()} Queue sorted").strip()


INDEXES = [
    ("a note called like the folder", {"work/active/queues/Queues.md": "- [[a]]\n"}, "work/active/queues/Queues.md"),
    ("an index", {"work/active/queues/Index.md": "- [[a]]\n"}, "work/active/queues/Index.md"),
    ("the nearest one above", {"work/active/queues/x.md": "x"}, "work/Work Index.md"),
]


@pytest.mark.parametrize(("why", "files", "index"), INDEXES, ids=[row[0] for row in INDEXES])
def test_the_index_is_the_folders_own_or_the_nearest_above(
    world: Callable[..., Path], why: str, files: dict[str, str], index: str
) -> None:
    root = world(files)
    assert f"listed in {index}." in record(root, folder="work/active/queues")


@pytest.mark.parametrize("hidden", ["---\nprivate: true\n---\n- [[a]]\n", b"\xff\xfe- \x00[\x00[\x00a\x00]\x00]\x00"])
def test_an_index_that_the_caller_may_not_see_or_nobody_can_read_is_left_alone(
    world: Callable[..., Path], hidden: str | bytes
) -> None:
    root = world({"work/Work Index.md": hidden})
    before = (root / "work/Work Index.md").read_bytes()
    reply = record(root, folder="work/active")
    assert (root / "work/Work Index.md").read_bytes() == before and "no index note lists it" in reply


# -- what it refuses --------------------------------------------------------------------------------------------------

SWALLOWED = 'Fixed the queue.</parameter>\n<parameter name="verification">ran it'
GATES = [
    ({"title": ""}, "no-title"),  # 9.1 34
    ({"title": "  \n "}, "no-title"),
    ({"title": "???"}, "no-name"),
    ({"title": "x" * 201}, "too-long"),
    ({"summary": " "}, "no-summary"),
    ({"summary": SWALLOWED}, "call-markup"),  # row 115
    ({"changes": ["a", "b</invoke>"]}, "swallowed-markup"),
    ({"learned": ["key AKIAABCDEFGHIJKLMNOP"]}, "secret"),
    ({"verification": "password: hunter2hunter2"}, "secret"),
    ({"paths": ["../up"]}, "bad-path"),
    ({"changes": ["x"] * 51}, "long-list"),
    ({"summery": "x"}, "unknown-argument"),
    ({"kind": "incident"}, "not-allowed"),
    ({"changes": {"a": 1}}, "wrong-type"),
]


@pytest.mark.parametrize(("given", "code"), GATES, ids=[f"{code}-{n}" for n, (_, code) in enumerate(GATES)])
def test_a_gate_refuses_and_nothing_is_written(world: Callable[..., Path], given: dict[str, Any], code: str) -> None:
    refusal = refused(world(), **given)
    assert refusal.code == code
    assert "AKIA" not in str(refusal) and "hunter2" not in str(refusal), "row 116: never the value"


def test_the_missing_title_and_the_missing_summary_are_named_by_the_schema(world: Callable[..., Path]) -> None:
    bridge = Opened(str(world()))
    from vaultbridge import arguments

    with pytest.raises(Refusal) as caught:
        arguments.parse(tool.TOOL["inputSchema"], {}, True)
    assert "title" in caught.value.why and "summary" in caught.value.why
    bridge.close()


def test_markup_inside_details_is_no_tool_call(world: Callable[..., Path]) -> None:  # row 115
    root = world()
    assert "Recorded" in record(root, summary="It works.\n\n<details><summary>log</summary>ok</details>")


def test_swallowed_fields_are_told_by_name_and_place(world: Callable[..., Path]) -> None:  # row 116
    from vaultcore.work import draft

    with pytest.raises(Refusal) as caught:
        draft.check({"title": "Fix", "summary": SWALLOWED, "changes": ["a"]})
    assert "summary holds tool markup" in caught.value.why and "at character 16" in caught.value.why
    assert "Received: changes, summary, title." in caught.value.next and "ran it" not in str(caught.value)


def test_a_lone_surrogate_becomes_a_replacement_character(world: Callable[..., Path]) -> None:
    root = world()
    assert "bad \ufffd end" in written(root, record(root, summary="bad \ud800 end"))


def test_a_dry_run_writes_nothing_and_makes_no_folder(world: Callable[..., Path]) -> None:  # row 119
    root = world()
    before = tree(root)
    reply = record(root, folder="work/active/new/deep", dry_run=True, summary="x" * 5_000)
    assert tree(root) == before and not (root / ".om" / "log").exists()
    assert reply.startswith("Would be recorded (dry run, nothing written): work/active/new/deep/")
    assert len(reply) < 1_500


def test_the_same_record_again_writes_nothing_and_one_nearly_the_same_is_refused(world: Callable[..., Path]) -> None:
    root = world()
    first = record(root, changes=["sorted"], open=["the tail"])
    before = tree(root)
    assert (
        record(root, changes=["sorted"], open=["the tail"])
        == "Already recorded, nothing written: " + first.splitlines()[0][10:] + "."
    )
    assert (
        refused(root, summary=SUMMARY + " We looked at it twice.", changes=["sorted"], open=["the tail"]).code
        == "near-duplicate"
    )
    assert tree(root) == before
    assert "Recorded" in record(
        root, title="Tail drained too", summary="The tail of the queue drains now as well, by a second worker."
    )


def test_what_another_project_did_is_another_piece_of_work(world: Callable[..., Path]) -> None:
    root = world()
    record(root)
    beta = Caller(project="beta", projects=("beta",), source="test")
    assert record(root, beta).startswith("Recorded: ")


@pytest.mark.parametrize("hide", ["private", "unexposed"])
def test_a_duplicate_that_the_caller_may_not_see_is_not_disclosed(world: Callable[..., Path], hide: str) -> None:
    root = world({"projects/atlas/a.md": "x"})
    rel = record(root).splitlines()[0][10:]
    text = (root / rel).read_text()
    if hide == "private":
        (root / rel).write_text(text.replace("---\n", "---\nprivate: true\n", 1))
    else:
        (root / "org").mkdir()
        (root / rel).rename(root / "org/hidden.md")
    reply = record(root)
    assert reply.startswith("Recorded: ") and "hidden" not in reply


def test_what_a_person_ruled_out_is_not_filed_either(world: Callable[..., Path]) -> None:
    from vaultcore.memory import record as records
    from vaultcore.memory import tombstones

    root = world()
    held = records.build("m.md", {"scope": "general"}, "# The pager rings at noon\n\nThe pager rings at noon.\n", 0, 0)
    assert held is not None
    rel, values = tombstones.make(held, "reject", "it was a test")
    write_tree(root, {rel: tombstones.encode(values)})
    refusal = refused(root, summary="We looked. The pager rings at noon. That is all.")
    assert refusal.code == "ruled-out" and "it was a test" in refusal.why


IDENTITIES = [
    (Caller(provisional=True), "identity-pending"),
    (Caller(contested=True, claimed="atlas"), "contested-name"),
]


@pytest.mark.parametrize(("caller", "code"), IDENTITIES, ids=[code for _, code in IDENTITIES])
def test_a_caller_of_unclear_identity_is_refused_as_by_remember(
    world: Callable[..., Path], caller: Caller, code: str
) -> None:
    assert refused(world(), caller).code == code


def test_nobody_known_files_into_the_inbox(world: Callable[..., Path]) -> None:
    root = world({"projects/unknown/a.md": "x"})
    text = written(root, record(root, identity.ANONYMOUS))
    assert "project" not in properties.read(text).values and "by anonymous" in text


# -- one operation, logged, found -------------------------------------------------------------------------------------


def log(root: Path) -> list[dict[str, Any]]:
    return [json.loads(raw) for path in (root / ".om/log").rglob("*.jsonl") for raw in path.read_text().splitlines()]


def test_the_note_and_its_line_are_one_logged_operation(world: Callable[..., Path]) -> None:
    from vaultcore.memory.journal import Journal

    root = world()
    rel = record(root, folder="work/active").splitlines()[0][10:]
    (line,) = log(root)
    assert (line["op"], line["caller"], line["path"]) == ("record-work", "atlas", rel)
    assert [t["path"] for t in line["touched"]] == ["work/Work Index.md"]
    assert Journal(str(root)).verify() == []
    with pytest.raises(Refusal):
        record(root, learned=["key AKIAABCDEFGHIJKLMNOP"], title="Another")
    assert log(root)[-1]["code"] == "secret" and "AKIA" not in json.dumps(log(root))


def test_an_index_that_cannot_be_written_takes_the_note_back(
    world: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultcore import write
    from vaultcore.errors import VaultError

    root = world()
    before = tree(root)

    def full(*_: Any, **__: Any) -> None:
        raise VaultError("the disk is full")

    monkeypatch.setattr(write, "replace", full)
    with pytest.raises(VaultError):
        record(root, folder="work/active")
    assert {k: v for k, v in tree(root).items() if v is not None} == {k: v for k, v in before.items() if v is not None}


def test_a_writer_that_died_between_the_two_is_finished_by_the_next(world: Callable[..., Path]) -> None:
    from vaultcore.memory import intents
    from vaultcore.memory.journal import Journal
    from vaultcore.memory.memories import Memories

    root = world()
    code = (
        "import os, sys\n"
        f"sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "from vaultcore import write\n"
        "write.replace = lambda *a, **k: os._exit(9)\n"
        "from vaultbridge.bridge import Bridge\n"
        "from vaultbridge.tools import record_work\n"
        "from vaultcore.identity import Caller\n"
        f"bridge = Bridge({str(root)!r})\n"
        "caller = Caller(project='atlas', projects=('atlas',), source='test')\n"
        f"given = {{'title': 'Queue sorted', 'summary': {SUMMARY!r}, 'folder': 'work/active'}}\n"
        "record_work.run(bridge, caller, given)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 9
    (path,) = (root / "work/active").glob("*.md")
    assert "Queue sorted" not in (root / "work/Work Index.md").read_text()
    Memories(str(root)).open()
    assert f"[[{path.stem}|Queue sorted]]" in (root / "work/Work Index.md").read_text()
    assert intents.pending(str(root)) == [] and Journal(str(root)).verify() == []
    assert [line["op"] for line in log(root)] == ["record-work"]


def test_the_next_search_of_another_process_finds_it_and_a_withheld_one_is_not_found(
    world: Callable[..., Path], tmp_path: Path
) -> None:
    root = world()
    with Bridge(root, "alpha", tmp_path / "alpha") as writing, Bridge(root, "beta", tmp_path / "beta") as reading:
        assert "Queue sorted" not in reading.call("search", query="arrival cutover")[0]
        reply, failed = writing.call("record_work", title="Queue sorted", summary=SUMMARY)
        assert not failed, reply
        assert "Queue sorted" in reading.call("search", query="arrival cutover")[0]
        assert SUMMARY in reading.call("read", note="Queue sorted")[0], "by its title"
        reply, failed = writing.call("record_work", title="Queue sorted", summary=SUMMARY, sumary="x")
        assert failed and "unknown-argument" in reply and "did you mean `summary`" in reply
        assert (
            "Read as"
            in writing.call("record_work", title="One change", summary="Something else entirely.", changes="one")[0]
        )
    audited = [json.loads(x) for path in (root / ".om/audit").glob("*.jsonl") for x in path.read_text().splitlines()]
    lines = [line for line in audited if line["action"] == "record_work" or line.get("tool") == "record_work"]
    assert len(lines) == 3 and SUMMARY not in json.dumps(lines), "rows 122, 123: audited, without its prose"


def test_the_command_line_records_too_and_refuses_in_one_sentence(world: Callable[..., Path], tmp_path: Path) -> None:
    root = world()
    repo = tmp_path / "atlas"
    repo.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=repo, check=True)
    done = om(root, "record-work", "Queue sorted", "--change", "queue.py", "--folder", "brain", cwd=repo, given=SUMMARY)
    assert done.returncode == 0, done.stderr
    assert "- queue.py" in written(root, done.stdout) and "project: atlas" in written(root, done.stdout)
    done = om(root, "record-work", "x", "y z", "--folder", "../up", cwd=repo)
    assert done.returncode == 1 and done.stderr.startswith("Error: ") and "Traceback" not in done.stderr


def test_eight_writers_lose_nothing(world: Callable[..., Path]) -> None:
    root = world()
    words = "amber basil cedar dune ember fjord grove harbor".split()
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "from vaultbridge.bridge import Bridge\n"
        "from vaultbridge.tools import record_work\n"
        "from vaultcore.identity import Caller\n"
        f"bridge = Bridge({str(root)!r})\n"
        "caller = Caller(project='p', projects=('p',), source='test')\n"
        "for n in 'one two three'.split():\n"
        "    title = f'{sys.argv[1]} {n}'\n"
        "    summary = f'{sys.argv[1] * 3} went {n * 2} about {n} alone.'\n"
        "    given = {'title': title, 'summary': summary, 'folder': 'work/active'}\n"
        "    print(record_work.run(bridge, caller, given).splitlines()[0])\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", code, word], stdout=subprocess.PIPE, text=True) for word in words
    ]
    out = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0] * 8
    assert sum(text.count("Recorded: ") for text in out) == 24
    assert len(list((root / "work/active").glob("*.md"))) == 24
    index = (root / "work/Work Index.md").read_text()
    assert index.count("\n- [[") == 25 and index.endswith("Back to [[Home]].\n")


def test_the_reply_names_what_led_nowhere(world: Callable[..., Path]) -> None:
    reply = record(world(), learned=["see [[Gone]]"], informed_by=["Nope", "Queue", "[[Also gone|x]]"])
    assert "Linked nothing you can read, so it stands as plain text: 'Gone', 'Nope', 'Also gone'." in reply
