"""Promotion, path context and imports: what a person corrects, what files are about, what comes from elsewhere."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.memory.conftest import a_person, writer
from tests.memory.world import Bridge, memory, om, person
from vaultcore import exposure, manifest
from vaultcore.errors import Refusal
from vaultcore.memory import anchors, exports, intake, promotion, review, rulings, selection, verdicts
from vaultcore.memory.memories import Memories, Writer
from vaultcore.memory.reach import PERSON, Reader
from vaultcore.memory.recording import remember

Vault = Callable[..., Path]
EXPOSED = json.dumps({"mcp_exposed_roots": ["brain"]})
NOTE = """---
date: 2026-01-01
---
# Whole note

## Ports

- use 8080 in staging
  and nowhere else ^port
- other

| a | b |
| - | - |
| 1 | 2 |
^table

## Long

""" + "".join(f"line {i}\n" for i in range(60))


@pytest.mark.parametrize(
    ("marker", "state", "holds"),
    [
        ("brain/Rules#^port", "served", "use 8080 in staging\n  and nowhere else"),
        ("brain/Rules.md#^port", "served", "use 8080"),
        ("[[brain/Rules#^port]]", "served", "use 8080"),
        ("brain/C# notes#^x", "served", "sharp"),
        ("brain/Rules#^table", "served", "| a | b |\n| - | - |\n| 1 | 2 |"),
        ("brain/Rules#Ports", "served", "other"),
        ("brain/Rules#Long", "served", "line 0"),
        ("brain/Rules#Whole note", "stale", None),
        ("brain/Rules#^gone", "stale", None),
        ("brain/Rules#Gone", "stale", None),
        ("brain/Rules", "unanchored", None),
        ("brain/Rules#", "unanchored", None),
        ("brain/Missing#^x", "missing", None),
        ("work/Secret#^x", "withheld", None),
        ("work/NotThere#^x", "withheld", None),
        ("../outside#^x", "withheld", None),
        ("../nothere#^x", "withheld", None),
        ("brain/Private#^x", "withheld", None),
        ("brain/Rules\n## forged#^x", "rejected", None),
        (7, "rejected", None),
        ("  ", "rejected", None),
    ],
)
def test_a_promoted_memory_serves_the_corrected_block_or_says_why_not(
    vault: Vault, marker: object, state: str, holds: str | None
) -> None:
    root = vault(
        {
            "vault-manifest.json": EXPOSED,
            "brain/Rules.md": NOTE,
            "brain/C# notes.md": "sharp ^x\n",
            "brain/Private.md": "---\nprivate: true\n---\nhidden ^x\n",
            "work/Secret.md": "hidden ^x\n",
        }
    )
    (root.parent / "outside.md").write_text("hidden ^x\n")
    held = manifest.load(str(root))
    served = promotion.serve(marker, held, exposure.policy(held))
    assert served.state == state, served.label
    assert (holds is None) == (served.text is None)
    assert holds is None or holds in (served.text or "")
    assert "\n" not in served.label and "hidden" not in (served.text or "") + served.label
    assert len((served.text or "").split("\n")) <= promotion.LINES


@pytest.mark.parametrize(
    ("scopes", "path", "kind", "depth"),
    [
        (["src/api/auth.py"], "src/api/auth.py", "exact", 3),
        (["src", "src/api"], "src/api/auth.py", "ancestor", 2),
        (["."], "src/api/auth.py", "ancestor", 0),
        (["src/api/auth.py"], "src/api", "inside", 2),
        (["src/**/*.sql"], "src/a/b/c.sql", "glob", 1),
        (["src/*.py"], "src/a/b.py", "", 0),
        (["src/ap"], "src/api/auth.py", "", 0),
        (["src/api/*"], "src/api/auth/deep.py", "glob", 2),
        (["docs"], "src/api/auth.py", "", 0),
    ],
)
def test_the_deepest_scope_that_holds_decides(scopes: list[str], path: str, kind: str, depth: int) -> None:
    found = anchors.matching(scopes, [path])
    assert (found.kind, found.depth) == (kind, depth) if found and kind else found is None


def git(folder: Path, *words: str, date: str = "2026-01-01T00:00:00Z") -> None:
    import os

    subprocess.run(
        ["git", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose files were committed in January and partly changed, moved or removed in June."""
    folder = tmp_path / "alpha"
    (folder / "src").mkdir(parents=True)
    for name in ("a.py", "b.py", "c.py", "gone.py", "old_name.py"):
        (folder / "src" / name).write_text(f"# {name}\n" + "".join(f"line {i} of {name}\n" for i in range(30)))
    (folder / "package-lock.json").write_text("{}")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    for name in ("a.py", "b.py"):
        (folder / "src" / name).write_text("changed\n")
    (folder / "package-lock.json").write_text("{ }")
    (folder / "src" / "gone.py").unlink()
    git(folder, "mv", "src/old_name.py", "src/new_name.py")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "second", date="2026-06-01T00:00:00Z")
    return folder


@pytest.mark.parametrize(
    ("scopes", "says"),
    [
        (
            ["src/a.py", "src/b.py", "src/c.py"],
            "Open src/a.py and src/b.py, then check: 2 of 3 files changed since 2026-03-01",
        ),
        (["src/c.py"], ""),
        (["src/gone.py"], "no longer there: src/gone.py"),
        (["src/old_name.py"], "src/old_name.py is now src/new_name.py"),
        (["package-lock.json"], ""),
        (
            ["src/*.py"],
            "Open src/a.py, src/b.py and src/new_name.py, then check: 3 of 4 files changed since 2026-03-01",
        ),
    ],
)
def test_what_became_of_the_code_is_said_verb_first(repository: Path, scopes: list[str], says: str) -> None:
    from vaultcore.memory import times

    known = times.moment("2026-03-01")
    assert known is not None
    assert anchors.fates(str(repository), [("x", scopes, known, "2026-03-01")])["x"].sentence() == says


def test_context_groups_memories_and_notes_and_names_why_each_matched(vault: Vault, repository: Path) -> None:
    root = vault(
        {
            "vault-manifest.json": EXPOSED,
            "brain/Plan.md": "---\nstatus: active\nproject: alpha\npaths: [src]\n---\n# Plan\n",
            "brain/Over.md": "---\nstatus: completed\nproject: alpha\npaths: [src]\n---\n# Over\n",
            "brain/Study.md": "---\nas_of: 2026-02-01\nproject: alpha\npaths: [src]\n---\n# Study\n",
            "brain/Foreign.md": "---\nproject: beta\npaths: [src]\n---\n# Foreign\n",
            "brain/Hidden.md": "---\nprivate: true\nproject: alpha\npaths: [src]\n---\n# Hidden\n",
            "work/Closed.md": "---\nproject: alpha\npaths: [src]\n---\n# Closed\n",
        }
    )
    memory(root, "Shallow", "of src", paths=["src"], origin="alpha", recorded_at="2026-03-01T00:00:00Z")
    memory(root, "Deep", "of a.py", paths=["src/a.py"], origin="alpha", recorded_at="2026-03-01T00:00:00Z")
    memory(root, "Elsewhere", "of b's a.py", projects=("alpha", "beta"), paths=["src/a.py"], origin="beta")
    memory(root, "Retired", "of old", paths=["src/a.py"], origin="alpha", status="archived")
    with Bridge(root, None, repository) as bridge:
        text, error = bridge.call("context", paths=["src/a.py"])
        assert not error
        order = [text.index(f'title="{t}"') for t in ("Deep", "Shallow", "Plan", "Study", "Over")]
        assert order == sorted(order)
        for word in ("Foreign", "Hidden", "Closed", "Elsewhere", "Retired"):
            assert word not in text
        assert (
            "current rules: 2" in text
            and "active plans: 1" in text
            and "dated research: 1" in text
            and "history: 1" in text
        )
        assert "Open src/a.py, then check: 1 of 1 file changed since 2026-03-01" in text
        assert "src holds src/a.py" in text
        assert "6 memories and notes that reach you name files" in bridge.call("context", paths=["docs/x.md"])[0]
        assert bridge.call("context", paths=["../other/x.py"])[1]


CLAUDE = [
    {
        "conversations_memory": "**Work**\n\nPrefers tabs over spaces.\n\n- Deploys on Thursdays only.\n",
        "account_uuid": "x",
    }
]
SAID = {"recipient": "bio", "create_time": 1767225600, "content": {"parts": ["Lives by the sea."]}}
CHATGPT = [{"mapping": {"n1": {"message": SAID}, "n2": {"message": {"recipient": "all", "content": {"parts": ["x"]}}}}}]
GRAPH = (
    '{"type":"entity","name":"Mill","entityType":"service","observations":["runs on port 7"]}\n'
    '{"type":"relation","from":"Mill","to":"Dam","relationType":"feeds"}\n'
)


def lay_exports(folder: Path) -> dict[str, Path]:
    folder.mkdir()
    (folder / "claude.json").write_text(json.dumps(CLAUDE))
    (folder / "chatgpt.json").write_text(json.dumps(CHATGPT))
    (folder / "memory.json").write_text(GRAPH)
    basic = folder / "basic"
    basic.mkdir()
    (basic / "n.md").write_text("---\ntitle: Kiln\npermalink: kiln\n---\n# Kiln\n\n- [fact] fires at noon\n")
    mind = folder / "mind"
    memory(
        folder / "mind-vault",
        "2026-03-01 Dikes",
        "Dikes need goats.",
        source="mcp-capture",
        session="2026-03-01T10:00:00Z",
        origin="alpha",
    )
    (folder / "mind-vault" / "memories").rename(mind)
    return {
        "claude": folder / "claude.json",
        "chatgpt": folder / "chatgpt.json",
        "memory-json": folder / "memory.json",
        "basic-memory": basic,
        "obsidian-mind": mind,
    }


TEXTS = {
    "claude": "Prefers tabs",
    "chatgpt": "Lives by the sea",
    "memory-json": "feeds: Dam",
    "basic-memory": "fires at noon",
    "obsidian-mind": "Dikes need goats",
}


@pytest.mark.parametrize("kind", exports.KINDS)
def test_an_export_waits_in_the_inbox_and_comes_back_after_nothing(vault: Vault, tmp_path: Path, kind: str) -> None:
    root = vault()
    path = lay_exports(tmp_path / "exports")[kind]
    reach = [] if kind == "obsidian-mind" else ["--project", "alpha"]
    answer = om(root, "import", str(path), *reach, "--json")
    assert answer.returncode == 0, answer.stderr
    report = json.loads(answer.stdout)
    assert report["taken"] and not report["refused"]
    inbox = "".join(p.read_text("utf-8") for p in (root / "memories" / "_inbox").glob("*.md"))
    assert TEXTS[kind] in inbox and "external_id" in inbox
    held = Memories(str(root))
    assert selection.select(held.open(), PERSON, include=selection.INCLUDES).entries == [], "the inbox is never served"
    again = json.loads(om(root, "import", str(path), *reach, "--json").stdout)
    assert again["taken"] == [] and len(again["known"]) == len(report["taken"])
    # a local edit wins and is listed; what a person discarded does not come back
    store = held.open()
    first, *rest = store.inbox.values()
    file = Path(root, first.rel)
    file.write_text(file.read_text("utf-8").replace(first.body.split("\n")[0], "Edited here."), encoding="utf-8")
    edited = json.loads(om(root, "import", str(path), *reach, "--json").stdout)
    assert [where for _, where in edited["kept"]] == [first.rel] and "Edited here." in file.read_text("utf-8")
    with held.lock():
        held.settle()
        for r in list(held.store.inbox.values()):
            rulings.discard(held, r, a_person(), "not ours")
    final = json.loads(om(root, "import", str(path), *reach, "--json").stdout)
    assert final["taken"] == []
    assert len(final["refused"]) == len(report["taken"])


def test_an_accepted_proposal_is_served_and_says_where_it_came_from(vault: Vault, tmp_path: Path) -> None:
    root = vault()
    path = lay_exports(tmp_path / "exports")["memory-json"]
    held = Memories(str(root))
    importer = Writer("import", "", (), PERSON, "import")
    intake.take(
        held, exports.read(str(path), "memory-json"), importer, {"scope": "project", "projects": ["alpha"]}, True
    )
    with held.lock():
        held.settle()
        (item,) = review.queue(held.store)
        assert item.kind == "inbox"
        verdicts.rule(held, item, "accept", a_person())
    entries = selection.select(held.open(), Reader(("alpha",))).entries
    assert [e.record.external_id for e in entries] == ["memory-json:Mill"]
    assert held.store.inbox == {}
    assert [(line["op"], line["channel"]) for line in held.journal.lines()] == [
        ("propose", "import"),
        ("accept", "person"),
    ]


@pytest.mark.parametrize("text", ["[]", "{}", "not json", '{"a": 1}'])
def test_what_is_no_export_is_named_and_nothing_is_written(vault: Vault, tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    answer = om(vault(), "import", str(file), "--general")
    assert answer.returncode == 1 and "Traceback" not in answer.stderr
    assert answer.stderr.startswith("Error: ")


def test_a_secret_in_an_export_stays_out(vault: Vault, tmp_path: Path) -> None:
    root = vault()
    value = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    (tmp_path / "memory.json").write_text(GRAPH.replace("runs on port 7", f"uses {value}"))
    report = json.loads(om(root, "import", str(tmp_path / "memory.json"), "--general", "--json").stdout)
    assert report["taken"] == [] and "secret" in report["refused"][0][1]
    assert value not in "".join(p.read_text("utf-8", "replace") for p in root.rglob("*") if p.is_file())


def test_a_restored_memory_is_current_beside_what_replaced_it(vault: Vault) -> None:
    held = Memories(str(vault()))
    alpha = writer("alpha")

    def tell(title: str, body: str, **more: Any) -> Any:
        return remember(held, {"title": title, "body": body, "confidence": "inferred", **more}, alpha).record

    old = tell("Retry limit", "The limit is three for every upload.")
    tell("Retry limit", "Nowadays uploads get five attempts.")
    with held.lock():
        held.settle()
        rulings.restore(held, old.key, a_person())
    states = [e.state for e in selection.select(held.open(), Reader(("alpha",)), include=("history",)).entries]
    assert states == ["current", "current"]
    with pytest.raises(Refusal), held.lock():
        rulings.restore(held, "nothing", a_person())


@pytest.mark.parametrize(
    "words",
    [
        ("forget", "{id}", "--reason", "x"),
        ("archive", "{id}"),
        ("restore", "{id}"),
        ("promote", "{id}", "brain/X#^b"),
        ("rule", "{id}", "reject"),
    ],
)
def test_a_persons_verb_run_dry_says_what_it_would_do_and_writes_nothing(vault: Vault, words: tuple[str, ...]) -> None:
    root = vault({"brain/X.md": "# X\n\nwhat holds ^b\n"})
    held = Memories(str(root))
    made = remember(held, {"title": "One", "body": "Something.", "confidence": "inferred"}, writer("alpha")).record
    assert made is not None
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    code, shown = person(root, *(w.format(id=made.key) for w in words), "--dry-run")
    assert code == 0 and "nothing was written" in shown, shown
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before


def test_the_review_page_follows_new_questions_and_keeps_ticks(vault: Vault) -> None:
    held = Memories(str(vault()))
    page = Path(held.root, "memories", "Review.md")

    def tell(title: str) -> None:
        remember(held, {"title": title, "body": title + ".", "confidence": "inferred"}, writer("alpha"))

    tell("The build host is Fern")
    assert not page.exists()
    tell("The build host is Moss")
    text = page.read_text(encoding="utf-8")
    assert text.count("## conflict") == 1
    page.write_text(text.replace("- [ ] both", "- [x] both"), encoding="utf-8")
    tell("The mail host is Elm")
    tell("The mail host is Oak")
    text = page.read_text(encoding="utf-8")
    assert text.count("## conflict") == 2 and text.count("- [x] both") == 1
    assert selection.select(held.open(), PERSON).left_out == {}, "the page itself is no memory"
