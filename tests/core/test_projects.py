"""Names bound to evidence: who gets a name, who contests it, what the file gives away."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import write_tree
from tests.repositories import git, repo
from vaultcore import binding, identity, projects, repository
from vaultcore.errors import VaultError
from vaultcore.identity import Caller, Claim


@pytest.fixture
def root(vault: Callable[..., Path]) -> str:
    return str(vault())


def resolve(root: str, folder: Path) -> Caller:
    return identity.resolve(root, None, [Claim("cwd", str(folder))])


def bind(root: str, folder: Path) -> Caller:
    return binding.bind(root, resolve(root, folder))


def entry(root: str, name: str) -> projects.Entry:
    return projects.load(root).entries[name]


def forget_commits() -> None:
    projects._commits.clear()


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("git@GitHub.com:Acme/App.git", "github.com/acme/app"),
        ("https://github.com/acme/app", "github.com/acme/app"),
        ("https://user:token@github.com/acme/app.git/", "github.com/acme/app"),
        ("ssh://git@github.com:22/acme/app", "github.com/acme/app"),
        ("github.com:acme/app", "github.com/acme/app"),
        ("git://[::1]:9418/app", "[::1]/app"),
        ("https://github.com/acme/app?token=x", "github.com/acme/app"),
        ("/srv/git/app.git", None),
        ("../app", None),
        ("C:\\git\\app", None),
        ("C:/git/app", None),
        ("file:///srv/git/app", None),
        ("https://github.com/", None),
        ("", None),
    ],
)
def test_remotes_are_compared_without_scheme_credentials_port_and_ending(url: str, form: str | None) -> None:
    assert repository.normal_remote(url) == form


@given(st.text(max_size=80))
def test_a_normal_remote_never_holds_credentials(text: str) -> None:
    form = repository.normal_remote(f"https://{text}@host.invalid/path")
    assert form is None or "@" not in form.split("/")[0]


def test_the_first_write_binds_a_name_once(tmp_path: Path, root: str) -> None:
    app = repo(tmp_path / "app", "https://user:secret@example.invalid/acme/app.git")
    caller = bind(root, app)
    assert caller.project == "app" and not caller.contested
    first = Path(root, projects.FILE).read_bytes()
    assert bind(root, app) == resolve(root, app)
    assert Path(root, projects.FILE).read_bytes() == first
    assert entry(root, "app").roots == [git(app, "rev-list", "--max-parents=0", "HEAD").strip()]


def test_the_file_gives_away_neither_folders_nor_credentials(tmp_path: Path, root: str) -> None:
    bind(root, repo(Path.home() / "secret-folder" / "app", "https://user:token@example.invalid/acme/app.git"))
    text = Path(root, projects.FILE).read_text()
    for word in ("token", "user", "secret-folder", str(Path.home()), str(tmp_path)):
        assert word not in text
    assert json.loads(text)["projects"]["app"]["remotes"] == ["example.invalid/acme/app"]


def test_the_same_place_below_another_home_is_the_same_folder(
    tmp_path: Path, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(Path.home() / "plain" / "app", {"x": ""})
    bind(root, Path.home() / "plain" / "app")
    other = write_tree(tmp_path / "other-home", {"plain/app/x": ""})
    monkeypatch.setenv("HOME", str(other))
    assert not resolve(root, other / "plain" / "app").contested
    monkeypatch.setenv("HOME", str(tmp_path / "third"))
    assert resolve(root, other / "plain" / "app").contested


@pytest.mark.parametrize("change", ["clone", "renamed", "fork", "moved remote", "no remote", "worktree"])
def test_the_same_repository_is_the_same_project_wherever_it_lies(tmp_path: Path, root: str, change: str) -> None:
    app = repo(tmp_path / "app", "https://example.invalid/acme/app.git")
    bind(root, app)
    folder = tmp_path / "elsewhere" / "app"
    folder.parent.mkdir()
    if change == "renamed":
        folder = tmp_path / "application"
        app.rename(folder)
    elif change == "worktree":
        git(app, "worktree", "add", "-q", str(folder))
    else:
        git(tmp_path, "clone", "-q", str(app), str(folder))
        if change == "no remote":
            git(folder, "remote", "remove", "origin")
        else:
            there = {"clone": "acme/app", "fork": "me/app", "moved remote": "new/name"}[change]
            git(folder, "remote", "set-url", "origin", f"git@example.invalid:{there}")
    forget_commits()
    assert resolve(root, folder).project == "app"
    assert bind(root, folder).project == "app"
    assert list(projects.load(root).entries) == ["app"]


def test_a_fork_in_a_folder_of_another_name_joins_its_project_at_the_first_write(tmp_path: Path, root: str) -> None:
    app = repo(tmp_path / "app", "https://example.invalid/acme/app.git")
    bind(root, app)
    git(tmp_path, "clone", "-q", str(app), "my-fork")
    git(tmp_path / "my-fork", "remote", "set-url", "origin", "https://example.invalid/me/my-fork")
    assert bind(root, tmp_path / "my-fork").project == "app"
    assert resolve(root, tmp_path / "my-fork").project == "app"


@pytest.mark.parametrize("kind", ["another history", "no commits", "no git", "cut-off history"])
def test_the_same_name_with_other_evidence_is_contested(tmp_path: Path, root: str, kind: str) -> None:
    bind(root, repo(tmp_path / "good" / "app", "https://example.invalid/acme/app.git"))
    rival = tmp_path / "rival" / "app"
    if kind == "no git":
        write_tree(rival, {"x": ""})
    elif kind == "cut-off history":
        source = repo(tmp_path / "source")
        git(source, "commit", "-q", "--allow-empty", "-m", "two")
        git(tmp_path, "clone", "-q", "--depth", "1", f"file://{source}", str(rival))
    else:
        repo(rival, "https://example.invalid/else/app.git", "first" if kind == "another history" else "")
    caller = bind(root, rival)
    assert caller.contested and caller.project is None
    assert len(entry(root, "app").contested) == 1
    bind(root, rival)
    assert len(entry(root, "app").contested) == 1, "told once"


def test_another_repository_in_the_same_folder_is_another_project(tmp_path: Path, root: str) -> None:
    import shutil

    app = repo(tmp_path / "app", "https://example.invalid/acme/app.git")
    bind(root, app)
    shutil.rmtree(app)
    repo(app, "https://example.invalid/else/thing.git", "other")
    forget_commits()
    assert resolve(root, app).contested


def test_a_folder_that_became_a_repository_keeps_its_project(tmp_path: Path, root: str) -> None:
    app = write_tree(tmp_path / "app", {"x": ""})
    bind(root, app)
    repo(app, "https://example.invalid/acme/app.git")
    assert resolve(root, app).project == "app"


def test_a_person_settles_a_contested_name(tmp_path: Path, root: str) -> None:
    bind(root, repo(tmp_path / "good" / "app"))
    rival = repo(tmp_path / "rival" / "app")
    bind(root, rival)
    with pytest.raises(VaultError, match="--as NEWNAME.*--same"):
        binding.register(root, str(rival))
    assert binding.register(root, str(rival), name="App Two") == ("app two", str(rival), True)
    assert resolve(root, rival).project == "app two"
    assert entry(root, "app").contested == []
    third = repo(tmp_path / "third" / "app")
    assert resolve(root, third).contested
    binding.register(root, str(third), same=True)
    assert resolve(root, third).project == "app"


def test_a_name_that_is_taken_is_not_given_away(tmp_path: Path, root: str) -> None:
    bind(root, repo(tmp_path / "app"))
    other = repo(tmp_path / "other")
    with pytest.raises(VaultError, match="another repository"):
        binding.register(root, str(other), name="APP")
    assert "other" not in projects.load(root).entries


def test_a_sub_folder_can_be_a_project_of_its_own(tmp_path: Path, root: str) -> None:
    mono = repo(tmp_path / "mono")
    write_tree(mono, {"packages/web/src/x": ""})
    bind(root, mono)
    binding.register(root, str(mono / "packages" / "web"), name="web")
    assert resolve(root, mono / "packages" / "web" / "src").project == "web"
    assert resolve(root, mono / "packages").project == "mono"
    write_tree(mono, {"packages/api/.om-project": "web"})
    caller = resolve(root, mono / "packages" / "api")
    assert caller.project == "mono" and any("web" in note for note in caller.conflicts)


@pytest.mark.parametrize("path", ["/", "~", "gone"])
def test_registering_what_says_nothing_is_refused(tmp_path: Path, root: str, path: str) -> None:
    with pytest.raises(VaultError, match="give the folder"):
        binding.register(root, os.path.expanduser(path) if path != "gone" else str(tmp_path / path))


def test_registering_inside_the_vault_is_refused(vault: Callable[..., Path]) -> None:
    root = vault({"brain/a.md": "x"})
    with pytest.raises(VaultError, match="vault itself"):
        binding.register(str(root), str(root / "brain"))


def test_a_dry_run_writes_nothing(tmp_path: Path, root: str) -> None:
    assert binding.register(root, str(repo(tmp_path / "app")), dry_run=True) == ("app", str(tmp_path / "app"), True)
    assert os.listdir(root) == ["vault-manifest.json"]


def test_entries_of_a_newer_version_and_broken_ones_are_kept(tmp_path: Path, root: str) -> None:
    raw = {
        "version": 2,
        "salt": "s",
        "projects": {"old": {"roots": ["a" * 40], "colour": "red"}, "broken": {"roots": "x"}, "Mixed Case": {}},
    }
    write_tree(Path(root), {projects.FILE: json.dumps(raw)})
    assert resolve(root, repo(tmp_path / "broken")).contested
    bind(root, repo(tmp_path / "new"))
    kept = json.loads(Path(root, projects.FILE).read_text())["projects"]
    assert kept["old"]["colour"] == "red" and kept["broken"] == {"roots": "x"}
    assert sorted(kept) == ["broken", "mixed case", "new", "old"]


def test_a_name_without_a_folder_binds_nothing(root: str) -> None:
    caller = identity.resolve(root, None, [Claim("flag", "atlas", "name")])
    assert binding.bind(root, caller) == caller
    assert not os.path.exists(os.path.join(root, projects.FILE))


def test_processes_that_bind_at_once_agree_on_one_owner(tmp_path: Path, root: str, python: str) -> None:
    folders = [repo(tmp_path / str(n) / "app") for n in range(4)]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from vaultcore import binding, identity\n"
        "c = binding.bind(sys.argv[2], identity.resolve(sys.argv[2], None, [identity.Claim('cwd', sys.argv[3])]))\n"
        "print(c.contested)\n"
    )
    source = str(Path(identity.__file__).parent.parent)
    running = [
        subprocess.Popen([python, "-c", code, source, root, str(folder)], stdout=subprocess.PIPE, text=True)
        for folder in folders
    ]
    out = [process.communicate()[0].strip() for process in running]
    assert sorted(out) == ["False", "True", "True", "True"]
    assert len(entry(root, "app").paths) == 1


@pytest.mark.parametrize("obstacle", [".om", ".om/projects.json/x"])
def test_a_file_that_cannot_be_used_binds_nothing_and_says_so(tmp_path: Path, root: str, obstacle: str) -> None:
    write_tree(Path(root), {obstacle: "in the way"})
    assert bind(root, repo(tmp_path / "app")).contested
    with pytest.raises(VaultError, match="projects.json"):
        binding.register(root, str(tmp_path / "app"))
