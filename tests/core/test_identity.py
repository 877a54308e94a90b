"""Who is calling: roots, declared names, folders, worktrees, and what none of them may borrow."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import write_tree
from tests.repositories import git, repo
from vaultcore import binding, identity, projects, repository
from vaultcore.identity import Claim, canonical, process_claims, resolve


def uri(path: Path) -> str:
    return "file://" + quote(str(path))


def cwd(path: Path) -> list[Claim]:
    return [Claim("cwd", str(path))]


@pytest.fixture
def empty_vault(vault: Callable[..., Path]) -> str:
    return str(vault())


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Atlas", "atlas"),
        ("  my   Proj\tÉ ", "my proj é"),
        ("E\u0301tude", "étude"),
        ("한국어", "한국어"),
        ("Straße", "strasse"),
        ("a/b\\c", "a b c"),
        ("line\nbreak\u2028x", "line break x"),
        ("zero\u200bwidth", "zero width"),
        ("x" * 300, "x" * 100),
        ("C# & co, [v2]", "c# & co, [v2]"),
        ("..", None),
        (" \n ", None),
        ("\ud800", None),
        (None, None),
        (7, None),
    ],
)
def test_a_name_has_one_canonical_form(name: object, form: str | None) -> None:
    assert canonical(name) == form


@given(st.text(max_size=150))
def test_the_canonical_form_is_its_own_canonical_form(name: str) -> None:
    form = canonical(name)
    assert form is None or canonical(form) == form


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///srv/my%20proj%20%C3%A9", "/srv/my proj é"),
        ("file:///srv/my%20proj/", "/srv/my proj/"),
        ("file://localhost/srv/a", "/srv/a"),
        ("FILE:///srv/a", "/srv/a"),
        ("file:/srv/a", "/srv/a"),
        ("file:///srv/my%2520proj", "/srv/my%20proj"),
        ("file://otherhost/srv/a", None),
        ("file:///srv/a?x=1", None),
        ("file:///srv/a#x", None),
        ("file:///srv/%00", None),
        ("file:relative", None),
        ("vscode-remote://ssh/x/my%20proj", None),
        ("https://example.invalid/x", None),
        ("/srv/a", None),
        ("", None),
        ("file:///" + "a" * 9000, None),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_a_root_is_a_local_folder_decoded_once_or_nothing(uri: str, path: str | None) -> None:
    assert repository.path_of(uri) == path


def test_an_unregistered_repository_works_by_its_folder_name(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "My Proj É")
    write_tree(app, {"src/deep/f.txt": ""})
    for where in (app, app / "src" / "deep", app / "src" / "deep" / "f.txt"):
        caller = resolve(empty_vault, [uri(where)], [])
        assert (caller.project, caller.root, caller.source) == ("my proj é", str(app), "roots")
    assert resolve(empty_vault, None, cwd(app)).project == "my proj é"
    assert resolve(empty_vault, [], cwd(app)).source == "cwd", "an empty list of roots tells nothing"


def test_a_root_that_does_not_exist_here_still_has_a_name(tmp_path: Path, empty_vault: str) -> None:
    assert resolve(empty_vault, [uri(tmp_path / "gone")], []).project == "gone"


def test_all_roots_count_and_the_first_useful_one_leads(tmp_path: Path, empty_vault: str) -> None:
    one, two = repo(tmp_path / "one"), repo(tmp_path / "two")
    roots = [uri(Path.home()), uri(one), uri(two), uri(one / "sub"), "vscode-remote://ssh/x"]
    caller = resolve(empty_vault, roots, [])
    assert caller.projects == ("one", "two") and caller.project == "one"
    assert str(two) in caller.roots
    assert any("vscode-remote" in note for note in caller.conflicts)


@pytest.mark.parametrize(
    "where", ["/", "~", "/tmp", "~/.cache/uv/x", "~/.claude/plugins/p", "~/.codex", "/usr", "/home"]
)
@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_folders_that_say_nothing_give_no_identity(where: str, empty_vault: str) -> None:
    folder = os.path.expanduser(where)
    assert resolve(empty_vault, [f"file://{folder}"], []) == identity.ANONYMOUS
    assert resolve(empty_vault, None, [Claim("cwd", folder)]).anonymous


@pytest.mark.parametrize(
    ("where", "plain", "with_git"),
    [
        (".config/nvim", None, "nvim"),
        (".local/share/chezmoi", None, "chezmoi"),
        ("Library/Mobile Documents/vaults/app", "app", "app"),
        (".claude/plugins/cache/tool", None, None),
        (".cache/uv/git/tool", None, None),
        ("src/.config/app", "app", "app"),
    ],
)
def test_a_repository_among_settings_is_one_and_a_plugin_is_none(
    empty_vault: str, where: str, plain: str | None, with_git: str | None
) -> None:
    folder = Path.home() / where
    folder.mkdir(parents=True)
    assert resolve(empty_vault, None, cwd(folder)).project == plain
    repo(folder)
    assert resolve(empty_vault, None, cwd(folder)).project == with_git


def test_a_git_repository_in_the_home_folder_names_nothing_below_it(tmp_path: Path, empty_vault: str) -> None:
    repo(Path.home())
    (Path.home() / "scratch").mkdir()
    assert resolve(empty_vault, None, cwd(Path.home())).anonymous
    assert resolve(empty_vault, None, cwd(Path.home() / "scratch")).project == "scratch"


def test_a_useless_root_is_not_replaced_by_chance(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "app")
    home = uri(Path.home())
    assert resolve(empty_vault, [home], [*cwd(app), Claim("env:CLAUDE_PROJECT_DIR", str(app))]).anonymous
    assert resolve(empty_vault, [home], [Claim("flag", str(app))]).project == "app", "a registration is no chance"


def test_claims_are_read_strongest_first_and_left_out_when_not_filled_in() -> None:
    argv = ["--root=/a", "--project", "P", "--root", "${workspaceFolder}", "--project="]
    env = {"OM_ROOT": "/b", "OM_PROJECT": " ", "CLAUDE_PROJECT_DIR": "/c", "WORKSPACE_FOLDER_PATHS": "/d,/e"}
    found = [(claim.source, claim.value, claim.kind) for claim in process_claims(argv, env, "/f")]
    assert found == [
        ("flag", "/a", "path"),
        ("flag", "P", "name"),
        ("env:OM_ROOT", "/b", "path"),
        ("env:CLAUDE_PROJECT_DIR", "/c", "path"),
        ("cwd", "/f", "path"),
        ("env:WORKSPACE_FOLDER_PATHS", "/d", "path"),
        ("env:WORKSPACE_FOLDER_PATHS", "/e", "path"),
    ]
    assert process_claims([], {}, None) == []


@pytest.mark.parametrize(
    ("roots", "sources", "winner"),
    [
        (["one"], ["flag", "env:CLAUDE_PROJECT_DIR", "cwd"], "one"),
        ([], ["flag", "env:CLAUDE_PROJECT_DIR", "cwd"], "flag"),
        ([], ["env:CLAUDE_PROJECT_DIR", "cwd"], "claude_project_dir"),
        ([], ["cwd", "env:WORKSPACE_FOLDER_PATHS"], "cwd"),
        ([], ["env:WORKSPACE_FOLDER_PATHS"], "workspace_folder_paths"),
        ([], [], None),
    ],
)
def test_the_strongest_source_wins_and_the_others_are_told(
    tmp_path: Path, empty_vault: str, roots: list[str], sources: list[str], winner: str | None
) -> None:
    claims = [Claim(source, str(repo(tmp_path / source.split(":")[-1]))) for source in sources]
    caller = resolve(empty_vault, [uri(repo(tmp_path / root)) for root in roots], claims)
    assert caller.project == winner
    assert len(caller.conflicts) == max(0, len(roots + sources) - 1)


def test_a_linked_worktree_and_its_folders_belong_to_the_main_repository(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "alpha")
    git(app, "worktree", "add", "-q", str(tmp_path / "wt-branch-7"))
    (tmp_path / "wt-branch-7" / "deep").mkdir()
    caller = resolve(empty_vault, None, cwd(tmp_path / "wt-branch-7" / "deep"))
    assert (caller.project, caller.root) == ("alpha", str(app))


def test_a_worktree_kept_among_an_agents_own_files_belongs_to_its_repository(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "alpha")
    (Path.home() / ".codex" / "worktrees").mkdir(parents=True)
    git(app, "worktree", "add", "-q", str(Path.home() / ".codex" / "worktrees" / "f00"))
    assert resolve(empty_vault, None, cwd(Path.home() / ".codex" / "worktrees" / "f00")).project == "alpha"


def test_worktrees_of_a_bare_repository_go_by_its_name(tmp_path: Path, empty_vault: str) -> None:
    source = repo(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "alpha.git"))
    git(tmp_path / "alpha.git", "worktree", "add", "-q", str(tmp_path / "wt"))
    assert resolve(empty_vault, None, cwd(tmp_path / "wt")).project == "alpha"


@pytest.mark.parametrize("form", ["worktree", "git folder", "missing", "link", "commondir", "garbage"])
def test_a_forged_git_file_borrows_no_identity(tmp_path: Path, empty_vault: str, form: str) -> None:
    victim = repo(tmp_path / "victim", "https://example.invalid/acme/victim.git")
    git(victim, "worktree", "add", "-q", str(tmp_path / "wt"))
    binding.bind(empty_vault, resolve(empty_vault, None, cwd(victim)))
    evil = tmp_path / "evil"
    target = {
        "worktree": victim / ".git" / "worktrees" / "wt",
        "git folder": victim / ".git",
        "missing": tmp_path / "nowhere" / "victim" / ".git" / "worktrees" / "x",
    }
    if form == "link":
        evil.mkdir()
        (evil / ".git").symlink_to(victim / ".git")
    elif form == "commondir":
        write_tree(evil, {".git/HEAD": "ref: refs/heads/main\n", ".git/commondir": str(victim / ".git")})
    else:
        write_tree(evil, {".git": f"gitdir: {target[form]}\n" if form in target else b"\xff\x00gitdir"})
    caller = resolve(empty_vault, None, cwd(evil))
    assert (caller.project, caller.root) == ("evil", str(evil))
    write_tree(evil, {".om-project": "victim\n"})
    caller = resolve(empty_vault, None, cwd(evil))
    assert caller.contested and caller.project is None and caller.projects == ()


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path, empty_vault: str) -> None:
    library, app = repo(tmp_path / "library", "https://example.invalid/acme/library"), repo(tmp_path / "app")
    git(app, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendored")
    assert resolve(empty_vault, None, cwd(app / "vendored")).root == str(app / "vendored")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("atlas\n", "atlas"),
        ("\n# a comment\n\n  My Atlas  \nother\n", "my atlas"),
        ("\ufeffatlas\r\n", "atlas"),
        ("# nothing\n", "folder"),
        ("", "folder"),
        ("\x00\x01", "folder"),
    ],
)
def test_om_project_names_a_repository(tmp_path: Path, empty_vault: str, text: str, name: str) -> None:
    app = repo(tmp_path / "folder")
    write_tree(app, {".om-project": text, "src/x": ""})
    assert resolve(empty_vault, None, cwd(app / "src")).project == name


def test_om_project_names_a_part_of_a_repository_and_a_folder_without_git(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "mono")
    write_tree(app, {"packages/web/.om-project": "web", "packages/web/src/x": ""})
    caller = resolve(empty_vault, None, cwd(app / "packages" / "web" / "src"))
    assert (caller.project, caller.root) == ("web", str(app / "packages" / "web"))
    assert resolve(empty_vault, None, cwd(app)).project == "mono"
    write_tree(tmp_path / "plain", {".om-project": "notes", "a/b/x": ""})
    assert resolve(empty_vault, None, cwd(tmp_path / "plain" / "a" / "b")).project == "notes"


@pytest.mark.parametrize("inner", [".", "brain", "brain/deep", "nested-repo"])
def test_a_caller_inside_the_vault_is_the_vault(vault: Callable[..., Path], inner: str) -> None:
    root = vault({"brain/deep/a.md": "x"})
    repo(root / "nested-repo")
    caller = resolve(str(root), [uri(root / inner)], [])
    assert caller.vault and not caller.anonymous and caller.project is None


def test_a_worktree_of_the_vault_is_the_vault_and_a_vault_beside_it_is_not(vault: Callable[..., Path]) -> None:
    root = repo(vault())
    git(root, "worktree", "add", "-q", str(root.parent / "wt"))
    assert resolve(str(root), None, cwd(root.parent / "wt")).vault
    (root.parent / "vault-2").mkdir()
    assert not resolve(str(root), None, cwd(root.parent / "vault-2")).vault


def test_a_vault_among_further_roots_widens_nothing(tmp_path: Path, vault: Callable[..., Path]) -> None:
    root, app = vault(), repo(tmp_path / "app")
    caller = resolve(str(root), [uri(app), uri(root)], [])
    assert caller.project == "app" and not caller.vault


@pytest.mark.parametrize("source", ["flag", "env:OM_ROOT", "env:CLAUDE_PROJECT_DIR"])
def test_nothing_but_the_clients_roots_makes_a_caller_elsewhere_the_vault(
    tmp_path: Path, empty_vault: str, source: str
) -> None:
    app, claim = repo(tmp_path / "app"), Claim(source, empty_vault)
    caller = resolve(empty_vault, None, [claim, *cwd(app)])
    assert caller.project == "app" and not caller.vault and any("the vault" in note for note in caller.conflicts)
    assert resolve(empty_vault, None, [claim, *cwd(Path.home())]).vault
    assert resolve(empty_vault, None, [claim, Claim("env:WORKSPACE_FOLDER_PATHS", str(app))]).vault
    assert resolve(empty_vault, [uri(Path(empty_vault))], cwd(app)).vault


def test_a_declared_name_names_an_unknown_folder_but_never_a_known_one(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "app")
    declared = [Claim("flag", "atlas", "name"), *cwd(app)]
    assert resolve(empty_vault, None, declared).project == "atlas"
    assert resolve(empty_vault, None, declared[:1]).project == "atlas", "no path says otherwise"
    binding.bind(empty_vault, resolve(empty_vault, None, cwd(app)))
    caller = resolve(empty_vault, None, declared)
    assert caller.project == "app" and "atlas" in caller.conflicts[0]
    caller = resolve(empty_vault, [uri(app)], declared[:1])
    assert caller.project == "app" and "atlas" in caller.conflicts[0]


@pytest.mark.parametrize("how", ["flag", "env:OM_PROJECT", ".om-project", "folder"])
def test_a_name_bound_to_another_repository_gives_general_reach_only(
    tmp_path: Path, empty_vault: str, how: str
) -> None:
    binding.bind(empty_vault, resolve(empty_vault, None, cwd(repo(tmp_path / "good" / "atlas"))))
    evil = repo(tmp_path / "evil" / ("atlas" if how == "folder" else "x"))
    if how == ".om-project":
        write_tree(evil, {".om-project": "Atlas"})
    claims = [*([Claim(how, "ATLAS", "name")] if how in ("flag", "env:OM_PROJECT") else []), *cwd(evil)]
    caller = resolve(empty_vault, None, claims, lookup=lambda name: ["linux"])
    assert caller.contested and caller.anonymous and caller.name == "atlas"
    assert (caller.project, caller.projects, caller.platforms) == (None, (), ())
    assert any("--as NEWNAME" in note and str(evil) in note for note in caller.conflicts)


def test_a_contested_root_takes_nothing_from_the_others(tmp_path: Path, empty_vault: str) -> None:
    binding.bind(empty_vault, resolve(empty_vault, None, cwd(repo(tmp_path / "good" / "atlas"))))
    other, rival = repo(tmp_path / "other"), repo(tmp_path / "evil" / "atlas")
    assert resolve(empty_vault, [uri(other), uri(rival)], []).projects == ("other",)
    caller = resolve(empty_vault, [uri(rival), uri(other)], [])
    assert caller.contested and caller.project is None and caller.projects == ("other",)


def test_platforms_come_from_the_projects_note_else_from_its_registration(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "app")
    binding.register(empty_vault, str(app), platforms=["Linux", " ROS2 "])
    assert resolve(empty_vault, None, cwd(app)).platforms == ("linux", "ros2")
    assert resolve(empty_vault, None, cwd(app), lookup=lambda name: ["iOS"]).platforms == ("ios",)
    assert resolve(empty_vault, None, cwd(app), lookup=lambda name: []).platforms == ("linux", "ros2")


@pytest.mark.parametrize("content", [b"{", b"", b"[]", b'{"salt":1,"projects":{}}', b"<<<<<<< HEAD\n", b"\xff\xfe"])
def test_a_damaged_projects_file_opens_nothing_and_says_so(tmp_path: Path, empty_vault: str, content: bytes) -> None:
    write_tree(Path(empty_vault), {".om/projects.json": content})
    caller = resolve(empty_vault, None, cwd(repo(tmp_path / "app")))
    assert caller.contested and caller.projects == ()
    assert "projects.json" in caller.conflicts[0] and "git" in caller.conflicts[0]
    assert binding.bind(empty_vault, caller) == caller
    assert Path(empty_vault, ".om/projects.json").read_bytes() == content


@pytest.mark.parametrize("path", ["a\0b", "/\ud800", "/" + "x/" * 3000, "relative", ""])
def test_odd_paths_are_no_identity_and_no_error(path: str, empty_vault: str) -> None:
    assert resolve(empty_vault, [f"file://{path}"], [Claim("cwd", path), Claim("flag", path)]).name in (
        "anonymous",
        "x",
    )


def test_links_in_a_circle_and_a_named_pipe_hang_nothing(tmp_path: Path, empty_vault: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    resolve(empty_vault, [uri(tmp_path / "loop")], [])
    if hasattr(os, "mkfifo"):
        (tmp_path / "app").mkdir()
        os.mkfifo(tmp_path / "app" / ".om-project")
        os.mkfifo(tmp_path / "app" / ".git")
        assert resolve(empty_vault, None, cwd(tmp_path / "app")).project == "app"


def test_resolving_starts_no_process_for_a_known_repository(
    tmp_path: Path, empty_vault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = repo(tmp_path / "app", "git@example.invalid:acme/app.git")
    binding.bind(empty_vault, resolve(empty_vault, None, cwd(app)))
    git(tmp_path, "clone", "-q", str(app), "copy")
    git(tmp_path / "copy", "remote", "set-url", "origin", "https://user:secret@example.invalid/acme/app")
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: pytest.fail("a process was started"))
    for folder in (app, tmp_path / "copy", tmp_path / "elsewhere"):
        assert not resolve(empty_vault, None, cwd(folder)).contested
    assert resolve(empty_vault, None, cwd(tmp_path / "copy")).project == "app", "known by its remote"


def test_importing_identity_imports_nothing_slow(python: str) -> None:
    slow = "pathlib typing dataclasses subprocess datetime argparse logging tempfile hashlib sqlite3 urllib"
    code = f"import sys, vaultcore.identity, vaultcore.projects; print([m for m in {slow.split()} if m in sys.modules])"
    source = Path(identity.__file__).parent.parent
    out = subprocess.run([python, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {code}"],
                         capture_output=True, text=True)  # fmt: skip
    assert out.stdout.strip() == "[]", out.stderr


NAMES = st.sampled_from(["alpha", "beta", "Gamma", "victim"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bound=NAMES,
    folder=NAMES,
    declared=st.none() | NAMES,
    flag=st.none() | NAMES,
    roots=st.booleans(),
    home=st.booleans(),
)
def test_a_caller_never_gets_a_name_bound_elsewhere(
    tmp_path_factory: pytest.TempPathFactory,
    bound: str,
    folder: str,
    declared: str | None,
    flag: str | None,
    roots: bool,
    home: bool,
) -> None:
    """Whatever a repository calls itself and whatever its configuration says, it is not the one that is bound."""
    base = tmp_path_factory.mktemp("world")
    root = str(write_tree(base / "vault", {"vault-manifest.json": "{}"}))
    write_tree(base / "good" / bound, {"x": ""})
    binding.bind(root, resolve(root, None, cwd(base / "good" / bound)))
    evil = write_tree(base / "evil" / folder, {"x": "", **({".om-project": declared} if declared else {})})
    claims = [*([Claim("flag", flag, "name")] if flag else []), *cwd(evil)]
    given_roots = [*([uri(Path.home())] if home else []), *([uri(evil)] if roots else [])]
    caller = resolve(root, given_roots, claims)
    if home and not roots and flag and canonical(flag) == canonical(bound):
        return  # nothing but a declared name: there is no path that could say otherwise
    assert canonical(bound) not in caller.projects
    assert caller.project != canonical(bound)


def test_a_snapshot_can_be_compared_and_changed(empty_vault: str) -> None:
    caller = identity.Caller("a", "/a", "cwd")
    assert caller.but(provisional=True) != caller and caller.but() == caller
    assert caller.but(provisional=True).provisional and caller.projects == ("a",)
    assert hash(caller) == hash(caller.but()) and "a" in repr(caller) and repr(Claim("cwd", "/a"))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")
def test_cached_bindings_follow_the_file(tmp_path: Path, empty_vault: str) -> None:
    app = repo(tmp_path / "app")
    assert projects.load(empty_vault).entries == {}
    binding.bind(empty_vault, resolve(empty_vault, None, cwd(app)))
    assert list(projects.load(empty_vault).entries) == ["app"]
    assert projects.load(empty_vault) is projects.load(empty_vault)
    os.remove(os.path.join(empty_vault, ".om", "projects.json"))
    assert projects.load(empty_vault).entries == {}
