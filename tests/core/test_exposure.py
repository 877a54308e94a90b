"""The two predicates of exposure: what exists for a caller, and what may be read, agree on every path."""

from __future__ import annotations

import os
import shutil
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import write_tree
from vaultcore import exposure, manifest, walk

Vault = Callable[..., Path]


def declared(root: Path, **keys: Any) -> tuple[manifest.Manifest, exposure.Policy]:
    held = manifest.Manifest(str(root), keys, [], frozenset())
    return held, exposure.policy(held)


def seen(root: Path, **keys: Any) -> list[str]:
    held, policy = declared(root, **keys)
    return [entry.rel for entry in exposure.visible(held, policy)]


def test_roots_come_from_the_manifest_else_from_content_roots_that_exist_else_from_brain_and_reference(
    vault: Vault,
) -> None:
    root = vault({"brain/a.md": "", "Work/b.md": "", "misc/c.md": ""})
    assert declared(root, mcp_exposed_roots=["misc"])[1].source == "manifest"
    assert seen(root, mcp_exposed_roots=["misc"], user_content_roots=["brain"]) == ["misc/c.md"]
    derived = declared(root, user_content_roots=["work/", "gone", "misc/*.md"])[1]
    assert (derived.roots, derived.source) == (["work/", "misc/*.md"], "derived")
    assert seen(root, user_content_roots=["work/", "gone"]) == ["Work/b.md"]
    fallback = declared(root)[1]
    assert (fallback.roots, fallback.source) == (["brain", "reference"], "fallback")
    assert seen(root, user_content_roots=["gone"]) == ["brain/a.md"]


def test_roots_that_name_nothing_open_nothing(vault: Vault) -> None:
    root = vault({"brain/a.md": ""})
    assert seen(root, mcp_exposed_roots=["../brain"]) == []
    assert declared(root, mcp_exposed_roots=["../brain"])[1].problems != []


def test_overlapping_roots_list_a_note_once(vault: Vault) -> None:
    root = vault({"work/active/a.md": ""})
    assert seen(root, mcp_exposed_roots=["work", "work/active", "work/active/*.md"]) == ["work/active/a.md"]


@pytest.mark.parametrize("memory_root", ["memories", "Memories", "notes"])
@pytest.mark.parametrize("rel", ["{}/2026/02/x.md", "{}/x.md", "{}/_inbox/y.MD"])
def test_memories_are_never_notes_whatever_the_roots_say(vault: Vault, memory_root: str, rel: str) -> None:
    rel = rel.format(memory_root)
    root = vault({rel: "", "keep.md": "", "deep/memories/n.md": ""})
    (root / "keep2.md").symlink_to(rel)
    (root / "way").symlink_to(memory_root)
    held, policy = declared(root, mcp_exposed_roots=["**/*.md", memory_root], memory_root=memory_root)
    assert [entry.rel for entry in exposure.visible(held, policy)] == ["deep/memories/n.md", "keep.md"]
    for spelling in (
        rel,
        rel.upper(),
        f"./{rel}",
        rel.replace("/", "\\"),
        rel.replace("/", "//"),
        rel.replace("/", "./", 1),
    ):
        assert not policy.admits(spelling.replace("\\", "/").removeprefix("./")), spelling
        assert not exposure.readable(held, policy, spelling).ok, spelling
    assert exposure.readable(held, policy, rel).reason == "memory"
    assert exposure.readable(held, policy, "keep2.md").reason == "memory"
    assert exposure.readable(held, policy, "way/" + rel.split("/", 1)[1]).reason == "memory"


@pytest.mark.parametrize(
    ("rel", "reason"),
    [
        ("notes/x.md", "ok"), ("notes\\x.md", "ok"), ("./notes//x.md", "ok"),
        ("notes/deep/er/than/four/levels/y.MD", "ok"),
        ("notes/inside.md", "ok"), ("notes/loop/loop/x.md", "ok"), ("", "missing"), ("notes/gone.md", "missing"),
        ("notes/x.md/../x.md", "outside"), ("../vault/notes/x.md", "outside"), ("..\\outside.md", "outside"),
        ("/etc/passwd.md", "outside"), ("notes/out.md", "outside"), ("notes/outdir/s.md", "outside"),
        ("notes", "not-exposed"),
        ("notes/plain.txt", "not-exposed"), ("other/z.md", "not-exposed"), ("notes/.dot/n.md", "not-exposed"),
        ("notes/node_modules/n.md", "not-exposed"), ("notes/into-other.md", "not-exposed"),
        ("other/into-notes.md", "not-exposed"),
        ("notes/folder.md", "missing"), ("notes/text.md", "not-exposed"), ("notes/secret.md", "never"),
        ("notes/link-to-secret.md", "never"), ("notes/p.md", "private"), ("notes/link-to-p.md", "private"),
        ("notes/open.md", "private"), ("notes/a\0.md", "missing"), ("~/x.md", "not-exposed"),
        ("file:///etc/x.md", "not-exposed"),
        ("notes/gone-link.md", "missing"), ("notes/circle.md", "missing"), ("x" * 5000 + ".md", "missing"),
        ("notes/" + "x" * 300 + ".md", "missing"), ("notes/x.md/y.md", "missing"), ("notes/hidden.md", "outside"),
    ],
)  # fmt: skip
def test_a_path_is_readable_or_the_reason_is_known(vault: Vault, tmp_path: Path, rel: str, reason: str) -> None:
    root = vault(
        {
            "notes/x.md": "", "notes/deep/er/than/four/levels/y.MD": "", "notes/plain.txt": "", "other/z.md": "",
            "notes/.dot/n.md": "", "notes/node_modules/n.md": "", "notes/secret.md": "", "notes/folder.md/n.txt": "",
            "notes/p.md": "---\ntags: [private]\n---\n", "notes/open.md": "---\ntitle: x\n",
        }
    )  # fmt: skip
    write_tree(tmp_path, {"outside.md": "secret", "out/s.md": "secret"})
    for name, target in {
        "notes/inside.md": "x.md", "notes/loop": ".", "notes/out.md": tmp_path / "outside.md",
        "notes/outdir": tmp_path / "out",
        "notes/into-other.md": "../other/z.md", "other/into-notes.md": "../notes/x.md", "notes/text.md": "plain.txt",
        "notes/link-to-secret.md": "secret.md", "notes/link-to-p.md": "p.md", "notes/gone-link.md": "nowhere.md",
        "notes/circle.md": "circle.md", "notes/hidden.md": ".dot/n.md",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    held, policy = declared(root, mcp_exposed_roots=["notes"], mcp_never_expose=["Secret.md"])
    decision = exposure.readable(held, policy, rel)
    assert decision.reason == reason, decision
    assert decision.ok is (reason == "ok")
    assert (decision.rel is not None) is decision.ok
    assert decision.ok or decision.why
    assert sorted(entry.rel for entry in exposure.visible(held, policy)) == [
        "notes/deep/er/than/four/levels/y.MD",
        "notes/x.md",
    ]
    if decision.ok:
        assert decision.rel in ("notes/deep/er/than/four/levels/y.MD", "notes/x.md")


def test_a_note_that_turns_private_is_withheld_at_once(vault: Vault) -> None:
    root = vault({"brain/a.md": "---\nprivate: no \n---\n"})
    held, policy = declared(root)
    assert exposure.readable(held, policy, "brain/a.md").ok
    (root / "brain/a.md").write_text("---\nprivate: yes\n---\n")
    assert exposure.readable(held, policy, "brain/a.md").reason == "private"
    assert seen(root) == []


def test_an_unreadable_note_is_withheld(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault({"brain/a.md": ""})
    held, policy = declared(root)

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert exposure.readable(held, policy, "brain/a.md").reason == "unreadable"
    assert seen(root) == []


def test_a_broken_manifest_exposes_nothing_it_may_have_withheld(vault: Vault) -> None:
    root = vault({"brain/a.md": "", "vault-manifest.json": '{"mcp_never_expose": ["a.md"'})
    held = manifest.load(str(root))
    policy = exposure.policy(held)
    decision = exposure.readable(held, policy, "brain/a.md")
    assert not decision.ok
    assert "manifest is broken" in decision.why
    assert list(exposure.visible(held, policy)) == []
    (root / "vault-manifest.json").write_text('{\n  "mcp_never_expose": ["b.md"],\n}\n')
    held = manifest.load(str(root))
    assert not exposure.readable(held, exposure.policy(held), "brain/a.md").ok


def test_a_fault_in_content_roots_matters_only_where_they_are_used(vault: Vault) -> None:
    root = vault({"brain/a.md": ""})
    broken = frozenset({"user_content_roots"})
    named = manifest.Manifest(str(root), {"mcp_exposed_roots": ["brain"]}, [], broken)
    assert exposure.readable(named, exposure.policy(named), "brain/a.md").ok
    bare = manifest.Manifest(str(root), {}, [], broken)
    assert not exposure.readable(bare, exposure.policy(bare), "brain/a.md").ok


def test_on_a_disk_that_ignores_case_the_answer_is_spelled_as_on_disk(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault({"Notes/Café Plan.md": "", "Notes/HR/x.md": ""})
    real = {name: getattr(os, name) for name in ("lstat", "stat", "open")}

    def on_disk(path: Any) -> Any:
        parts = os.fspath(path).split("/") if isinstance(path, (str, Path)) else None
        if parts is None or not os.fspath(path).startswith(f"{root}/"):
            return path
        found = ""
        for part in parts[1:]:
            here = [name for name in os.listdir(found or "/") if folded(name) == folded(part)]
            found += "/" + (here[0] if here else part)
        return found

    def folded(name: str) -> str:
        return unicodedata.normalize("NFC", name).casefold()

    for name, call in real.items():
        monkeypatch.setattr(os, name, lambda path, *a, call=call, **k: call(on_disk(path), *a, **k))
    held, policy = declared(root, mcp_exposed_roots=["notes"], mcp_never_expose=["notes/hr"])
    for spelling in ("notes/café plan.md", "NOTES/CAFÉ PLAN.MD", unicodedata.normalize("NFD", "Notes/Café Plan.md")):
        assert exposure.readable(held, policy, spelling).rel == "Notes/Café Plan.md"
    assert exposure.readable(held, policy, "notes/hr/X.md").reason == "never"


def test_two_names_of_one_file_that_differ_in_case_stay_two_notes(vault: Vault) -> None:
    root = vault({"brain/n.md": ""})
    os.link(root / "brain/n.md", root / "brain/N.md")
    held, policy = declared(root)
    assert [exposure.readable(held, policy, rel).rel for rel in ("brain/n.md", "brain/N.md")] == [
        "brain/n.md",
        "brain/N.md",
    ]
    assert seen(root) == ["brain/N.md", "brain/n.md"]


def test_a_vault_that_is_gone_is_not_an_empty_one(vault: Vault) -> None:
    root = vault({"brain/a.md": ""})
    held, policy = declared(root)
    root.rename(root.with_name("away"))
    decision = exposure.readable(held, policy, "brain/a.md")
    assert (decision.reason, "is not there" in decision.why) == ("unreadable", True)


def test_entries_that_match_nothing_are_named(vault: Vault) -> None:
    root = vault({"brain/a.md": "", "hr/x.md": ""})
    held, policy = declared(root, mcp_exposed_roots=["brain", "brian"], mcp_never_expose=["hr", "h r", "../x"])
    said = " ".join(problem.sentence() for problem in exposure.unmatched(held, policy))
    assert "'brian'" in said
    assert "'h r'" in said
    assert "'../x'" in said
    assert "'hr'" not in said
    assert "'brain'" not in said


def test_the_fingerprint_follows_the_policy(vault: Vault) -> None:
    root = vault()
    one = declared(root, mcp_exposed_roots=["a"])[1].fingerprint
    assert one == declared(root, mcp_exposed_roots=["a"])[1].fingerprint
    assert one != declared(root, mcp_exposed_roots=["b"])[1].fingerprint
    assert one != declared(root, mcp_exposed_roots=["a"], mcp_never_expose=["b"])[1].fingerprint


NAMES = st.sampled_from(
    ["a", "b", "B", "café", unicodedata.normalize("NFD", "café"), "Café", ".dot", "node_modules", "hr", "memories",
    "Memories",
     "h1-2", "a b", "x.md", "dot."]
)  # fmt: skip
FILES = st.sampled_from(
    ["n.md", "N.MD", "n.Md", "secret.md", "Secret.MD", "é.md", unicodedata.normalize("NFD", "é.md"), "t.txt", ".h.md",
    "hr.md",
     "x y.md", "n (conflicted copy 1).md"]
)  # fmt: skip
TEXTS = st.sampled_from(
    ["", "body\n- private\n", "---\ntitle: x\n---\n", "---\nprivate: yes\n---\n",
    "---\r\nTags:\r\n- private\r\n---\r\n",
     "\ufeff---\ntags: [a, private/b]\n---\n", "---\ntitle: a: b\n---\n", "---\nopen: x\n", "---\nprivate: no\n---\n"]
)  # fmt: skip
FOLDERS = st.lists(NAMES, max_size=5).map("/".join)
TREES = st.dictionaries(
    st.tuples(FOLDERS, FILES).map(lambda pair: f"{pair[0]}/{pair[1]}".lstrip("/")), TEXTS, min_size=1, max_size=8
)
TARGETS = st.one_of(
    st.tuples(st.just("in"), FOLDERS), st.tuples(st.just("file"), st.integers(0, 7)),
    st.tuples(st.just("out"), st.just("")),
    st.tuples(st.just("outfile"), st.just("")), st.tuples(st.just("self"), st.just("")),
    st.tuples(st.just("up"), st.just("")),
)  # fmt: skip
LINKS = st.lists(st.tuples(FOLDERS, NAMES | FILES, TARGETS), max_size=4)
ENTRIES = st.lists(
    st.sampled_from(
        ["a", "b", "./A/", "a/*.md", "**/*.md", "*.md", "h1-*/", "a/**", "Caf\u00e9", "cafe\u0301/", "*/", "hr",
        "secret.md",
         "a\\b", "a//b", "x.md", "memories", ".dot", "a/b/*", "B/", "[ab]/", "", "../a", "node_modules", "dot."]
    ),
    max_size=3,
)  # fmt: skip


@settings(
    max_examples=int(os.environ.get("EXAMPLES", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(TREES, LINKS, ENTRIES, ENTRIES, st.sampled_from(["memories", "a", "MEMORIES"]))
def test_the_two_predicates_agree_on_every_path(
    tree: dict[str, str],
    links: list[tuple[str, str, tuple[str, Any]]],
    roots: list[str],
    never: list[str],
    memory_root: str,
) -> None:
    base = Path(tempfile.mkdtemp())
    try:
        root = base / "vault"
        write_tree(base / "outside", {"n.md": "secret", "a/n.md": "secret"})
        root.mkdir()
        for rel, text in tree.items():
            try:
                write_tree(root, {rel: text.encode()})
            except OSError:
                continue  # a file stands where a folder is wanted
        for folder, name, (kind, value) in links:
            target = {
                "in": str(root / str(value)),
                "file": str(root / list(tree)[value % len(tree) if kind == "file" else 0]),
                "out": str(base / "outside"),
                "outfile": str(base / "outside/n.md"),
                "self": name,
                "up": str(root),
            }[kind]
            try:
                (root / folder).mkdir(parents=True, exist_ok=True)
                (root / folder / name).symlink_to(target)
            except OSError:
                continue
        held, policy = declared(
            root, mcp_exposed_roots=roots, mcp_never_expose=never, memory_root=memory_root, user_content_roots=["b"]
        )
        listed = {entry.rel for entry in exposure.visible(held, policy)}
        paths = every_path(root)
        for rel in paths:
            decision = exposure.readable(held, policy, rel)
            assert decision.ok == (decision.rel in listed), (rel, decision)
            real = os.path.relpath(os.path.realpath(root / rel), os.path.realpath(root))
            if decision.ok:
                assert decision.rel == real
                assert policy.admits(rel)
                assert policy.admits(real)
                assert not walk.hidden(real)
                assert real.split("/")[0].lower() != memory_root.lower()
            if real == rel:
                assert decision.ok == (rel in listed), (rel, decision)
        assert listed <= set(paths)
        assert len(listed) == len(list(exposure.visible(held, policy)))
    finally:
        shutil.rmtree(base)


def every_path(root: Path, depth: int = 8) -> list[str]:
    """Every path a caller could name below `root`: dot entries too, through links as well, to a fixed depth."""
    found: list[str] = []
    folders = [""]
    for _ in range(depth):
        below = []
        for folder in folders[:60]:
            for name in sorted(os.listdir(root / folder)):
                rel = f"{folder}/{name}" if folder else name
                found.append(rel)
                if os.path.isdir(root / rel):
                    below.append(rel)
        folders = below
    return found
