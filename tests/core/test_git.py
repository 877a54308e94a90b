"""What git knows, from files where files suffice, and None where git cannot say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from vaultcore import git


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    run(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path, name: str, text: str = "x", message: str = "change") -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    run(folder, "add", "--", name)
    run(folder, "commit", "-q", "-m", message)
    return run(folder, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo")


def test_recent_changes_carry_paths_as_they_are(repo: Path) -> None:
    commit(repo, "a.md", message="first")
    second = commit(repo, "notes/計 画's.md", message="second: more")
    found = git.head_changes(str(repo), 24)
    assert found is not None
    assert [(change.subject, change.paths) for change in found] == [
        ("second: more", ["notes/計 画's.md"]),
        ("first", ["a.md"]),
    ]
    assert found[0].sha == second
    assert found[0].when[:2] == "20"
    inner = git.head_changes(str(repo / "notes"), 24)
    assert inner is not None
    assert inner[0].paths == ["計 画's.md"]


def test_old_changes_are_left_out(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    commit(repo, "a.md")
    assert git.head_changes(str(repo), 24) == []


def test_the_root_commit_is_the_first_of_the_main_line(repo: Path, tmp_path: Path) -> None:
    first = commit(repo, "a.md")
    run(repo, "checkout", "-q", "--orphan", "other")
    commit(repo, "b.md")
    run(repo, "checkout", "-q", "main")
    run(repo, "merge", "-q", "--allow-unrelated-histories", "-m", "merge", "other")
    (repo / "deep").mkdir()
    assert git.root_commit(str(repo / "deep")) == first
    run(tmp_path, "clone", "-q", str(repo), "clone")
    assert git.root_commit(str(tmp_path / "clone")) == first
    run(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    assert git.root_commit(str(tmp_path / "shallow")) is None


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ('[remote "origin"]\n\turl = git@example.org:a/b.git\n', "git@example.org:a/b.git"),
        ('[remote "origin"]\n\turl = https://user:token@example.org/a.git\n', "https://example.org/a.git"),
        ('[remote "up"]\n\turl = u\n[remote "origin"]\n\tfetch = x\n\tURL=o\n[branch "main"]\n\turl = no\n', "o"),
        ('[remote "up"]\n\turl = u\n', "u"),
        ('[remote "origin"] url = "same line"\n', "same line"),
        ("[core]\n\turl = no\n", None),
    ],
)
def test_the_remote_is_read_from_the_config_without_credentials(repo: Path, config: str, url: str | None) -> None:
    (repo / ".git/config").write_text(config)
    assert git.remote(str(repo)) == url


def test_linked_worktrees_and_folders_belong_to_their_repository(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repo, "a/b.md")
    run(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    (tmp_path / "linked/sub").mkdir()
    run(repo, "remote", "add", "origin", "git@example.org:x.git")
    monkeypatch.setenv("PATH", "")  # files suffice
    assert git.toplevel(str(tmp_path / "linked/sub")) == str(tmp_path / "linked")
    assert git.main_worktree(str(tmp_path / "linked/sub")) == str(repo)
    assert git.main_worktree(str(repo / "a")) == git.toplevel(str(repo / "a/b.md")) == str(repo)
    assert git.remote(str(tmp_path / "linked")) == "git@example.org:x.git"


def test_submodules_and_separate_git_folders_are_their_own(repo: Path, tmp_path: Path) -> None:
    commit(repo, "a.md")
    outer = repository(tmp_path / "outer")
    run(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "inner")
    assert git.main_worktree(str(outer / "inner")) == str(outer / "inner")
    (tmp_path / "apart").mkdir()
    run(tmp_path / "apart", "init", "-q", f"--separate-git-dir={tmp_path / 'gitdir'}")
    assert git.main_worktree(str(tmp_path / "apart")) == str(tmp_path / "apart")


def test_the_last_commit_of_each_file_is_found(repo: Path) -> None:
    first = commit(repo, "a b.md")
    commit(repo, "c.md", "1")
    second = commit(repo, "c.md", "2")
    (repo / "new.md").write_text("")
    found = git.last_commits(str(repo), ["a b.md", "c.md", "new.md", "*.md"])
    assert found is not None
    assert {name: sha for name, (sha, _) in found.items()} == {"a b.md": first, "c.md": second}
    assert git.last_commits(str(repo), []) == {}


def test_without_a_repository_or_without_git_the_answer_is_none(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (str(tmp_path / "nowhere"), str(tmp_path)):
        for ask in (git.root_commit, git.remote, git.toplevel, git.main_worktree):
            assert ask(path) is None
        assert git.head_changes(path, 1) is None
        assert git.last_commits(path, ["a"]) is None
    assert git.root_commit(str(repo)) is None  # no commit yet
    commit(repo, "a.md")
    monkeypatch.setenv("PATH", "")
    assert git.root_commit(str(repo)) is None
    assert git.head_changes(str(repo), 1) is None


def test_a_repositorys_own_configuration_starts_no_program(repo: Path, tmp_path: Path) -> None:
    commit(repo, "a.md")
    (tmp_path / "trap").write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    (tmp_path / "trap").chmod(0o755)
    run(repo, "config", "core.fsmonitor", str(tmp_path / "trap"))
    run(repo, "config", "core.pager", str(tmp_path / "trap"))
    git.head_changes(str(repo), 1)
    git.root_commit(str(repo))
    git.last_commits(str(repo), ["a.md"])
    assert not (tmp_path / "sprung").exists()


def test_a_git_that_hangs_is_given_up(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, "a.md")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(git, "_TIMEOUT", 0.2)
    assert git.root_commit(str(repo)) is None
