"""`om update` between two releases of a small template, in real repositories: what follows, what merges, what stays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import GIT, ROOT, write_tree
from tests.repositories import git, repo
from vaultbridge.cli import update as update_command
from vaultbridge.updates import application, merging, releases
from vaultcore import write
from vaultcore.errors import VaultError

Files = Mapping[str, "str | bytes | None"]
MANIFEST = "vault-manifest.json"
posix = pytest.mark.skipif(os.name == "nt", reason="links and permissions of POSIX systems")


def manifest(version: str, **keys: object) -> str:
    data = {
        "template": "small",
        "version": version,
        "released": "2026-01-01",
        "infrastructure": [MANIFEST, "*.md", "*.lock", "hooks/**", "src/**", ".codex/**", ".agents/**", "templates/**"],
        "user_content_roots": ["brain/", "work/"],
        "scaffold": {name: "about" for name in ("Home.md", "brain/Star.md", "brain/Old.md", "brain/Plain.md")},
        "mcp_exposed_roots": ["brain"],
        "open_loop_sections": ["action items"],
        "qmd_min_version": "2.0.0",
        **keys,
    }
    return json.dumps(data, indent=2) + "\n"


LINES = "".join(f"line {number}\n" for number in range(1, 21))
FIRST: Files = {
    MANIFEST: manifest("1.0.0"),
    "CLAUDE.md": LINES,
    "hooks/stop.py": "".join(f"x{number} = {number}\n" for number in range(1, 21)),
    "hooks/gone.py": "print('old')\n",
    "hooks/alone/one.py": "ONE = 1\n",
    "hooks/logo.png": b"\x89PNG\0one",
    "hooks/settings.json": '{\n "a": 1,\n "b": 2\n}\n',
    "hooks/same.py": "SAME = True\n",
    "requirements.lock": "click==8.1\n",
    ".codex/hooks.json": "{}\n",
    "src/part.py": "PART = 1\n",
    "src/other.py": "OTHER = 1\n",
    "Home.md": "# Home\n",
    "brain/Star.md": "# Star\n",
    "brain/Old.md": "# Old\n",
    "brain/Plain.md": "# Plain\n",
    "work/Unlisted.md": "# Unlisted\n",
}
SECOND: Files = {
    **FIRST,
    MANIFEST: manifest(
        "1.1.0",
        released="2026-02-02",
        qmd_min_version="2.1.0",
        mcp_exposed_roots=["brain", "work"],
        scaffold={"Home.md": "about", "brain/Star.md": "about", "brain/Plain.md": "about", "brain/New.md": "about"},
    ),
    "CLAUDE.md": LINES.replace("line 3\n", "line three\n"),
    "hooks/stop.py": str(FIRST["hooks/stop.py"]).replace("x3 = 3", "x3 = 33"),
    "hooks/gone.py": None,
    "hooks/alone/one.py": None,
    "hooks/logo.png": b"\x89PNG\0two",
    "hooks/settings.json": '{\n "a": 1,\n "b": 3\n}\n',
    "hooks/fresh.py": "FRESH = True\n",
    "requirements.lock": "click==8.2\n",
    ".codex/hooks.json": '{"hooks": {}}\n',
    "src/part.py": "PART = 2\n",
    "src/other.py": "OTHER = 2\n",
    "Home.md": "# Home, reworded\n",
    "brain/Star.md": "# Star, reworded\n",
    "brain/Old.md": None,
    "brain/New.md": "# New\n",
    "brain/Plain.md": "# Plain, reworded\n",
    "work/Unlisted.md": "# Unlisted, reworded\n",
}


def put(root: Path, files: Files) -> Path:
    """Write files; None deletes."""
    write_tree(root, {name: data for name, data in files.items() if data is not None})
    for name, data in files.items():
        if data is None and (root / name).exists():
            (root / name).unlink()
    return root


def release(template: Path, version: str, files: Files) -> Path:
    if not (template / ".git").exists():
        repo(template, commit="")
    put(template, files)
    git(template, "add", "-A")
    git(template, "commit", "-q", "-m", version)
    git(template, "tag", "v" + version)
    return template


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in GIT.items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("built") / "template"
        release(release(folder, "1.0.0", FIRST), "1.1.0", SECOND)
        shutil.rmtree(folder / ".git/hooks", ignore_errors=True)  # git's samples
        yield folder


@pytest.fixture
def template(built: Path, tmp_path: Path) -> Path:
    """A template with the releases 1.0.0 and 1.1.0."""
    return Path(shutil.copytree(built, tmp_path / "template"))


def clone(template: Path, name: str = "vault", version: str = "1.0.0") -> Path:
    root = template.parent / name
    git(template.parent, "clone", "-q", "--template=", "-b", "v" + version, str(template), str(root))
    return root


def run(root: Path, *words: object) -> Result:
    session = SimpleNamespace(root=str(root), code=str(root))
    return CliRunner().invoke(update_command.command, [str(word) for word in words], obj=session)


def ran(root: Path, *words: object) -> dict[str, Any]:
    """What the command says as JSON."""
    done = run(root, "--json", *words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    found: dict[str, Any] = json.loads(done.output)
    assert done.exit_code == (1 if found["conflicts"] else 0)
    return found


def refused(root: Path, *words: object) -> str:
    done = run(root, *words)
    assert done.exit_code == 1 and type(done.exception).__name__ in ("VaultError", "Refusal"), done.output
    sentence = str(done.exception)
    assert "\n" not in sentence
    return sentence


def tree(root: Path) -> dict[str, bytes]:
    """Every file but git's own."""
    found = {}
    for path in sorted(root.rglob("*")):
        rel = path.relative_to(root).as_posix()
        if path.is_file() and not rel.startswith(".git/"):
            found[rel] = path.read_bytes()
    return found


def data(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


# What a person did to a file (None: deleted it), what lies there after the update, what the plan calls it, and what
# the copy to compare with holds.
MINE = "my own\n"
CASES: dict[str, tuple[str, str | bytes | None, str | bytes | None, str, str | bytes | None]] = {
    "different lines are merged": (
        "CLAUDE.md", LINES.replace("line 18", "my 18"),
        LINES.replace("line 18", "my 18").replace("line 3\n", "line three\n"), "merge", None,
    ),
    "with the line ends of the person": (
        "CLAUDE.md", LINES.replace("line 18", "my 18").replace("\n", "\r\n"),
        LINES.replace("line 18", "my 18").replace("line 3\n", "line three\n").replace("\n", "\r\n"), "merge", None,
    ),
    "other line ends alone are no change": (
        "CLAUDE.md", LINES.replace("\n", "\r\n"), SECOND["CLAUDE.md"], "replace", None,
    ),
    "the same line stays as it is here": (
        "CLAUDE.md", LINES.replace("line 3\n", "my three\n"), LINES.replace("line 3\n", "my three\n"), "conflict",
        "<<<<<<< yours\nmy three\n=======\nline three\n>>>>>>> 1.1.0\n",
    ),
    "a file that the release brings and a person has already stays": (
        "hooks/fresh.py", MINE, MINE, "conflict", SECOND["hooks/fresh.py"],
    ),
    "a shipped file that was deleted stays deleted": ("hooks/stop.py", None, None, "away", None),
    "what the release drops and a person has edited is kept": ("hooks/gone.py", MINE, MINE, "kept", None),
    "what the release drops and nobody has edited goes": (
        "hooks/gone.py", FIRST["hooks/gone.py"], None, "remove", None,
    ),
    "what both have dropped is no matter": ("hooks/gone.py", None, None, "", None),
    "a picture that both have changed stays": (
        "hooks/logo.png", b"\x89PNG\0mine", b"\x89PNG\0mine", "conflict", SECOND["hooks/logo.png"],
    ),
    "a scaffold note somebody has written in stays, without a word": ("brain/Star.md", MINE, MINE, "", None),
    "an edited scaffold note that the release drops stays": ("brain/Old.md", MINE, MINE, "", None),
    "an unedited one, too": ("brain/Old.md", FIRST["brain/Old.md"], FIRST["brain/Old.md"], "", None),
    "a scaffold note that was deleted does not come back": ("brain/Plain.md", None, None, "away", None),
    "an untouched scaffold note follows": (
        "brain/Star.md", FIRST["brain/Star.md"], SECOND["brain/Star.md"], "replace", None,
    ),
    "a new scaffold note comes": ("brain/New.md", None, SECOND["brain/New.md"], "create", None),
    "a note under the name of a new scaffold note stays": ("brain/New.md", MINE, MINE, "", None),
    "a note that the manifest does not list is not looked at": (
        "work/Unlisted.md", FIRST["work/Unlisted.md"], FIRST["work/Unlisted.md"], "", None,
    ),
    "what the release left alone stays as it was edited": ("hooks/same.py", MINE, MINE, "", None),
    "what is the release's already is left": ("src/part.py", SECOND["src/part.py"], SECOND["src/part.py"], "", None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_one_file(template: Path, case: str) -> None:
    rel, mine, after, action, copy = CASES[case]
    root = put(clone(template), {rel: mine})
    done = ran(root)
    path = root / rel
    assert (path.read_bytes() if path.exists() else None) == data(after)
    assert [step["action"] for step in done["files"] if step["path"] == rel] == ([action] if action else [])
    aside = root / ".cache/update/1.1.0" / rel
    assert aside.exists() == (copy is not None)
    if copy is not None:
        assert (data(copy) or b"") in aside.read_bytes()
        assert done["conflicts"] == 1
    assert json.loads((root / MANIFEST).read_text())["version"] == "1.1.0"
    again = ran(root)
    assert (again["changed"], again["conflicts"]) == (0, 0), "what was decided once is not brought up again"


EVERYTHING: Files = {
    "CLAUDE.md": LINES.replace("line 3\n", "my three\n"),
    "hooks/stop.py": str(FIRST["hooks/stop.py"]).replace("x18 = 18", "x18 = 81"),
    "hooks/fresh.py": MINE,
    "hooks/gone.py": MINE,
    "hooks/settings.json": None,
    "hooks/logo.png": b"\x89PNG\0mine",
    "brain/Star.md": MINE,
    "brain/Old.md": MINE,
    "brain/Plain.md": None,
    "brain/Mine.md": MINE,
    "vault-manifest.local.json": '{"mcp_inbox": "work"}\n',
}


def copied(template: Path, name: str) -> Path:
    root = clone(template, name)
    shutil.rmtree(root / ".git")
    return root


def renewed(template: Path, name: str) -> Path:
    """What GitHub's "Use this template" makes: the files in a history of their own."""
    root = copied(template, name)
    repo(root, commit="")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Initial commit")
    return root


LAYOUTS: dict[str, Callable[[Path, str], Path]] = {"clone": clone, "no git": copied, "use this template": renewed}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tagged", [True, False], ids=["with the tag of its version", "without it"])
def test_every_kind_of_vault_comes_out_the_same(template: Path, layout: str, tagged: bool) -> None:
    root = put(LAYOUTS[layout](template, "vault"), EVERYTHING)
    if not tagged:  # an older release and the history remain
        git(template, "tag", "v0.9.0", "v1.0.0")
        git(template, "tag", "-d", "v1.0.0")
    done = ran(root, "--from", template)
    after = tree(root)
    assert after["hooks/stop.py"].decode() == (
        str(FIRST["hooks/stop.py"]).replace("x3 = 3", "x3 = 33").replace("x18 = 18", "x18 = 81")
    )
    for rel, content in EVERYTHING.items():
        if rel != "hooks/stop.py":
            assert after.get(rel) == data(content), rel
    for rel in ("src/part.py", "src/other.py", "requirements.lock", "Home.md", "brain/New.md"):
        assert after[rel] == data(SECOND[rel]), rel
    assert "hooks/alone/one.py" not in after and not (root / "hooks/alone").exists()
    assert done["conflicts"] == 3 and done["to"] == "1.1.0"
    assert any("setup" in line for line in done["next"]) and any("Codex" in line for line in done["next"])


def test_without_any_base_what_a_release_never_shipped_counts_as_changed(template: Path) -> None:
    root = put(copied(template, "vault"), {"CLAUDE.md": LINES + MINE})
    git(template, "tag", "-d", "v1.0.0")
    done = ran(root, "--from", template)
    assert (root / "CLAUDE.md").read_text() == LINES + MINE
    assert (root / ".cache/update/1.1.0/CLAUDE.md").read_text() == SECOND["CLAUDE.md"]
    assert done["conflicts"] >= 1
    assert json.loads((root / MANIFEST).read_text())["version"] == "1.1.0"


def test_without_the_tag_the_inventory_of_the_release_tells_what_was_shipped(template: Path) -> None:
    from vaultbridge.profiles import inventory

    listed = {rel: inventory.digest((template / rel).read_bytes()) for rel in ("CLAUDE.md",)}
    root = copied(template, "vault")
    old = "an older text\n"
    listed["CLAUDE.md"] = inventory.digest(old.encode())
    listed["hooks/fresh.py"] = "0" * 32  # shipped once, deleted by the person
    put(root, {"CLAUDE.md": old, "src/vaultbridge/profiles/shipped.json": json.dumps(listed)})
    git(template, "tag", "-d", "v1.0.0")
    ran(root, "--from", template)
    assert (root / "CLAUDE.md").read_text() == SECOND["CLAUDE.md"]
    assert not (root / "hooks/fresh.py").exists()


def test_a_clone_made_between_two_releases_is_compared_with_what_it_was_cloned_from(tmp_path: Path) -> None:
    template = release(tmp_path / "template", "1.0.0", FIRST)
    between = LINES.replace("line 3\n", "line drei\n")
    put(template, {"CLAUDE.md": between})
    git(template, "commit", "-qam", "between")
    git(tmp_path, "clone", "-q", str(template), "vault")
    release(template, "1.1.0", SECOND)
    root = put(tmp_path / "vault", {"CLAUDE.md": between.replace("line 18", "my 18")})
    git(root, "commit", "-qam", "mine")
    assert ran(root)["conflicts"] == 0
    assert (root / "CLAUDE.md").read_text() == LINES.replace("line 3\n", "line three\n").replace("line 18", "my 18")


def test_the_manifest_gets_the_changes_of_both_key_by_key(template: Path) -> None:
    root = clone(template)
    now = json.loads(manifest("1.0.0"))
    now["open_loop_sections"] += ["mine"]
    now["qmd_min_version"] = "9.9.9"
    now["mcp_exposed_roots"] = ["brain", "thinking"]
    del now["released"]
    put(root, {MANIFEST: json.dumps(now)})
    done = ran(root)
    after = json.loads((root / MANIFEST).read_text())
    assert after["version"] == "1.1.0" and after["released"] == "2026-02-02"
    assert after["open_loop_sections"] == ["action items", "mine"]
    assert sorted(after["mcp_exposed_roots"]) == ["brain", "thinking", "work"]
    assert "brain/New.md" in after["scaffold"] and "brain/Old.md" not in after["scaffold"]
    assert after["qmd_min_version"] == "9.9.9"
    (listed,) = [step for step in done["files"] if step["action"] == "conflict"]
    assert listed["path"] == MANIFEST and "qmd_min_version" in listed["why"]
    assert (root / listed["copy"]).read_text() == SECOND[MANIFEST]


def test_the_layout_of_an_edited_manifest_stays_where_it_can(template: Path) -> None:
    root = clone(template)
    edited = str(FIRST[MANIFEST]).replace('"action items"\n', '"action items",   "mine"\n')
    put(root, {MANIFEST: edited})
    assert ran(root)["conflicts"] == 0
    text = (root / MANIFEST).read_text()
    assert '"action items",   "mine"\n' in text and json.loads(text)["version"] == "1.1.0"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "ü"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(["a", "b", "c", "version"]), json_values, max_size=4)


@settings(max_examples=60, deadline=None)
@given(mine=objects, base=objects, theirs=objects)
def test_a_merged_manifest_is_json_and_has_what_only_one_side_changed(
    mine: dict[str, Any], base: dict[str, Any], theirs: dict[str, Any]
) -> None:
    merged, _ = merging.manifests(*(json.dumps(one).encode() for one in (mine, base, theirs)))
    found = json.loads(merged)
    for key in "abc":
        now, old, new, after = (
            json.dumps(one.get(key, "no such key"), sort_keys=True) for one in (mine, base, theirs, found)
        )
        if now == old:
            assert after == new
        elif new == old:
            assert after == now
    assert "version" not in theirs or found["version"] == theirs["version"]


def test_two_clean_changes_that_no_program_can_read_together_are_not_merged(tmp_path: Path) -> None:
    lines = "".join(f'  "k{number}": {number},\n' for number in range(8))
    first = "{\n" + lines + '  "z": 0\n}\n'
    template = release(tmp_path / "template", "1.0.0", {MANIFEST: manifest("1.0.0"), "hooks/a.json": first})
    changed = first.replace('  "k5": 5,\n', '  "k5": [\n')
    release(
        template, "1.1.0", {MANIFEST: manifest("1.1.0"), "hooks/a.json": changed.replace('"z": 0\n', '"z": 0\n]\n')}
    )
    mine = first.replace('  "k0": 0,\n', '  "mine": 0,\n')
    root = put(clone(template), {"hooks/a.json": mine})
    assert ran(root)["conflicts"] == 1
    assert (root / "hooks/a.json").read_text() == mine


@pytest.mark.parametrize("kind", ["crash", "disk full"])
def test_an_update_that_stops_anywhere_is_finished_by_running_it_again(
    template: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = put(clone(template, "whole"), EVERYTHING)
    ran(whole)
    begun = put(clone(template, "start"), EVERYTHING)
    real = application.carry_out
    count = 0
    while True:
        root = begun.parent / f"stopped {count}"
        shutil.copytree(begun, root)
        left = count
        stopped = False

        def stopping(where: str, step: Any) -> None:
            nonlocal left, stopped
            if left == 0:
                stopped = True
                raise KeyboardInterrupt if kind == "crash" else VaultError("no room is left on the disk")
            left -= 1
            real(where, step)

        monkeypatch.setattr(application, "carry_out", stopping)
        done = run(root)
        monkeypatch.setattr(application, "carry_out", real)
        if not stopped:
            break
        assert done.exit_code == 1 and json.loads((root / MANIFEST).read_text())["version"] == "1.0.0"
        again = ran(root)
        assert again["conflicts"] == 3 and tree(root) == tree(whole)
        assert any("setup" in line for line in again["next"])
        count += 3 if kind == "disk full" else 1
    assert count > 5


def test_a_stopped_update_goes_on_with_the_code_it_began_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = repo(tmp_path / "template", commit="")
    shutil.copy(ROOT / "om.py", template)
    shutil.copytree(ROOT / "src", template / "src", ignore=shutil.ignore_patterns("__pycache__"))
    keys = {"infrastructure": ["src/**", "om.py", MANIFEST], "scaffold": {}}
    release(template, "1.0.0", {MANIFEST: manifest("1.0.0", **keys)})
    broken = {
        "src/vaultbridge/cli/__init__.py": "from vaultcore.parts import new\n",
        "src/vaultcore/parts.py": "new = 1\n",
    }
    release(template, "1.1.0", {MANIFEST: manifest("1.1.0", **keys), **broken})
    root = clone(template)
    real = application.carry_out

    def stopping(where: str, step: Any) -> None:
        if step.path == "src/vaultcore/parts.py":
            raise KeyboardInterrupt
        real(where, step)

    monkeypatch.setattr(application, "carry_out", stopping)
    run(root)
    monkeypatch.setenv("OM_PYTHON", sys.executable)
    call = [sys.executable, str(root / "om.py")]
    assert subprocess.run([*call, "doctor"], capture_output=True, cwd="/").returncode, "half of the code is new"
    done = subprocess.run([*call, "update"], capture_output=True, cwd="/", text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (root / "src/vaultcore/parts.py").exists() and not (root / application.CODE).exists()
    assert json.loads((root / MANIFEST).read_text())["version"] == "1.1.0"


def test_a_dry_run_writes_nothing_and_says_the_same(template: Path) -> None:
    root = put(clone(template), EVERYTHING)
    before = tree(root)
    planned = ran(root, "--dry-run")
    shown = run(root, "--dry-run")
    assert tree(root) == before
    assert shown.exit_code == 1 and "nothing written" in shown.output
    for rel in ("hooks/stop.py", "CLAUDE.md", "src/part.py", "hooks/gone.py"):
        assert rel in shown.output
    done = ran(root)
    assert {**planned, "dry_run": False} == done


def test_the_words_for_a_person_name_what_needs_a_look(template: Path) -> None:
    root = put(clone(template), EVERYTHING)
    done = run(root)
    assert "compare .cache/update/1.1.0/CLAUDE.md" in done.output
    assert "updated to 1.1.0" in done.output and "om.py setup" in done.output
    assert run(root).output.startswith("nothing to do: this vault is at 1.1.0")


names = st.sampled_from(
    ["a.md", "Note.md", "ü.md", "x y.md", "data.bin", ".hidden", "hooks", "CLAUDE.md", "src.md", "Home.md"]
)
folders = st.sampled_from(
    ["brain", "work/sub", "other", ".obsidian", "Hooks2", "src2", ".om", ".claude", "templates2", "lessons"]
)
users_files = st.dictionaries(st.tuples(folders, names).map("/".join), st.binary(max_size=40), max_size=8)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=users_files, everything=st.booleans())
def test_what_is_neither_infrastructure_nor_scaffold_is_never_touched(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], everything: bool
) -> None:
    folder = tmp_path_factory.mktemp("property")
    # A release that claims the whole vault, and ships files under the user's own names.
    greedy = {"infrastructure": ["**"], "user_content_roots": ["brain/"]} if everything else {}
    template = release(folder / "template", "1.0.0", FIRST)
    shipped = {rel: "from the release\n" for rel in files}
    release(template, "1.1.0", {**SECOND, **shipped, MANIFEST: manifest("1.1.0", **greedy)})
    root = put(clone(template), files)
    put(root, {"vault-manifest.local.json": '{"user_content_roots": ["work", "other/"], "memory_root": "lessons"}'})
    listed = {*FIRST, *SECOND} - {"work/Unlisted.md"}
    ran(root)
    own = {rel: content for rel, content in tree(root).items() if rel not in listed and not rel.startswith(".cache/")}
    claimed = {rel for rel in files if everything and not rel.startswith(("brain", "work", "other", ".om", "lessons"))}
    for rel, content in files.items():
        assert own[rel] == content, "also in infrastructure: what somebody wrote stays"
    assert set(own) - claimed == {*files, "vault-manifest.local.json", "work/Unlisted.md"} - claimed
    assert own["work/Unlisted.md"] == data(FIRST["work/Unlisted.md"])


def test_a_profile_stays_chosen(template: Path) -> None:
    profile = {"about": "few", "keep": {"commands": ["om-dump"], "templates": ["Note"]}}
    release(
        template,
        "1.2.0",
        {
            MANIFEST: manifest("1.2.0"),
            "src/vaultbridge/profiles/few.json": json.dumps(profile),
            ".agents/skills/om-dump/SKILL.md": "dump\n",
            ".agents/skills/om-other/SKILL.md": "other\n",
            ".agents/skills/teaching/SKILL.md": "teaching\n",
            "templates/Note.md": "note\n",
            "templates/Review.md": "review\n",
        },
    )
    root = put(clone(template), {"vault-manifest.local.json": '{"profile": "few"}'})
    ran(root)
    new = {rel for rel in tree(root) if rel.startswith((".agents/", "templates/"))}
    assert new == {".agents/skills/om-dump/SKILL.md", ".agents/skills/teaching/SKILL.md", "templates/Note.md"}


@posix
def test_links_and_read_only_files_of_a_person_are_respected(template: Path) -> None:
    root = clone(template)
    outside = write_tree(template.parent / "outside", {"part.py": "theirs\n"})
    (root / "src/part.py").unlink()
    (root / "src/part.py").symlink_to(outside / "part.py")
    (root / "CLAUDE.md").rename(root / "AGENTS.md")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    done = ran(root)
    assert (outside / "part.py").read_text() == "theirs\n" and (root / "src/part.py").is_symlink()
    assert (root / "AGENTS.md").read_text() == LINES and (root / "CLAUDE.md").is_symlink()
    assert done["conflicts"] == 2


@posix
def test_a_linked_folder_of_mirrors_is_no_conflict(tmp_path: Path) -> None:
    def files(version: str) -> Files:
        keys = {"infrastructure": [MANIFEST, ".agents/**", ".claude/**"], "scaffold": {}}
        text = f"skill of {version}\n"
        return {MANIFEST: manifest(version, **keys), ".agents/skills/a/S.md": text, ".claude/skills/a/S.md": text}

    template = release(tmp_path / "template", "1.0.0", files("1.0.0"))
    root = clone(release(template, "1.1.0", files("1.1.0")))
    shutil.rmtree(root / ".claude/skills")
    (root / ".claude/skills").symlink_to("../.agents/skills")
    assert ran(root)["conflicts"] == 0
    assert (root / ".claude/skills/a/S.md").read_text() == "skill of 1.1.0\n"


@posix
def test_a_program_of_the_release_can_be_run(template: Path) -> None:
    path = put(template, {"hooks/tool": "#!/bin/sh\n", MANIFEST: manifest("1.2.0")}) / "hooks/tool"
    path.chmod(0o755)
    root = clone(release(template, "1.2.0", {}))
    ran(root)
    assert os.access(root / "hooks/tool", os.X_OK)


@posix
def test_what_becomes_a_link_in_the_release_is_kept_and_named(template: Path) -> None:
    (template / "hooks/same.py").unlink()
    (template / "hooks/same.py").symlink_to("stop.py")
    root = clone(release(template, "1.2.0", {MANIFEST: manifest("1.2.0")}))
    done = ran(root)
    assert (root / "hooks/same.py").read_text() == FIRST["hooks/same.py"]
    assert [step["action"] for step in done["files"] if step["path"] == "hooks/same.py"] == ["kept"]


def test_the_way_back_wants_to_be_named(template: Path) -> None:
    root = clone(template, version="1.1.0")
    done = ran(root, "--to", "v1.0.0")
    assert (done["from"], done["to"], done["conflicts"]) == ("1.1.0", "1.0.0", 0)
    after = tree(root)
    for rel in ("CLAUDE.md", "hooks/gone.py", "brain/Star.md", MANIFEST):
        assert after[rel] == data(FIRST[rel]), rel
    put(root, {MANIFEST: manifest("1.5.0")})
    assert "--to 1.1.0" in refused(root)


def test_a_version_that_the_manifest_does_not_name_is_found_by_its_files(template: Path) -> None:
    marks = {
        "1.0.0": {"exists": ["hooks/gone.py"], "missing": ["hooks/fresh.py"]},
        "1.1.0": {"exists": ["hooks/fresh.py"]},
    }
    release(template, "1.2.0", {MANIFEST: manifest("1.2.0", version_fingerprints=marks)})
    now = json.loads(manifest("1.0.0"))
    del now["version"]
    root = put(copied(template, "vault"), {MANIFEST: json.dumps(now)})
    assert ran(root, "--from", template)["from"] == "1.0.0"


def test_the_remote_that_has_releases_is_the_source(template: Path, tmp_path: Path) -> None:
    root = clone(template)
    own = repo(tmp_path / "own")
    git(root, "remote", "rename", "origin", "template")
    git(root, "remote", "add", "origin", str(own))
    assert ran(root, "--dry-run")["source"] == str(template)
    put(root, {"vault-manifest.local.json": json.dumps({"update": {"source": "../elsewhere"}})})
    assert "elsewhere" in refused(root)
    template.rename(tmp_path / "elsewhere")
    assert ran(root)["source"] == str(tmp_path / "elsewhere")


def test_a_broken_cache_is_made_again(template: Path) -> None:
    root = clone(template)
    ran(root, "--dry-run")
    held = Path(releases.Releases(str(root), str(template)).folder)
    shutil.rmtree(held / "objects")
    (held / "config").write_text("[broken")
    assert ran(root)["to"] == "1.1.0"


@pytest.mark.parametrize(
    ("prepare", "given_words", "said"),
    [
        ("no remote", (), ("no remote", "--from")),
        ("clone", ("--from", "nowhere/at all"), ("neither a folder nor a URL",)),
        ("clone", ("--from", "-c/evil"), ("neither a folder nor a URL",)),
        ("clone", ("--from", "ssh://git@127.0.0.1:1/x"), ("could not be fetched", "network")),
        ("clone", ("--from", "https://me:secret@127.0.0.1:1/x"), ("could not be fetched", "https://127.0.0.1:1/x")),
        ("clone", ("--from", "{tmp}/bare"), ("could not be fetched",)),
        ("clone", ("--from", "{tmp}/untagged"), ("no release tags", "vX.Y.Z")),
        ("clone", ("--from", "{tmp}/foreign"), ("'foreign'", "'small'")),
        ("clone", ("--from", "{tmp}/empty"), ("no usable vault-manifest.json",)),
        ("clone", ("--to", "7.7.7"), ("7.7.7", "1.0.0, 1.1.0")),
        ("clone", ("--to", "newest"), ("newest", "1.1.0")),
        ("adopted", (), ("not made from a template", "om.py update --vault")),
        ("no manifest", (), ("is no vault",)),
        ("broken manifest", (), ("not valid JSON", "mend it")),
        ("broken settings", (), ("vault-manifest.local.json", "what is yours")),
        ("busy", (), ("Another process",)),
    ],
)  # fmt: skip
def test_one_sentence_says_why_not(
    template: Path, tmp_path: Path, prepare: str, given_words: tuple[str, ...], said: tuple[str, ...]
) -> None:
    root = clone(template)
    (tmp_path / "bare").mkdir()
    repo(tmp_path / "untagged")
    release(tmp_path / "foreign", "1.1.0", {MANIFEST: manifest("1.1.0", template="foreign")})
    release(tmp_path / "empty", "1.1.0", {"a": "b"})
    if prepare == "no remote":
        git(root, "remote", "remove", "origin")
    elif prepare == "adopted":
        put(root, {MANIFEST: '{"template": "adopted"}'})
    elif prepare == "no manifest":
        put(root, {MANIFEST: None})
    elif prepare == "broken settings":
        put(root, {"vault-manifest.local.json": '{"user_content_roots": ['})
    elif prepare == "broken manifest":
        put(root, {MANIFEST: "{"})
    before = tree(root)
    call = [word.format(tmp=tmp_path) for word in given_words]
    if prepare == "busy":
        with write.lock(str(root), "update"):
            sentence = refused(root, *call)
    else:
        sentence = refused(root, *call)
    for part in said:
        assert part in sentence
    assert "secret" not in sentence and tree(root) == before
