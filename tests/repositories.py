"""Repositories for tests: made with git, in folders the test names."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    """Run git in `folder` and return what it printed."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def repo(folder: Path, remote: str = "", commit: str = "first") -> Path:
    """A repository of its own history at `folder`; `commit` "" leaves it without one."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        git(folder, "commit", "-q", "--allow-empty", "-m", f"{commit} of {folder}")
    return folder
