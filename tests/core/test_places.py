"""Derived things lie in one private folder per vault, wherever a folder can be had."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultcore import places
from vaultcore.errors import VaultError

Vault = Callable[..., Path]


def test_the_cache_lies_in_the_users_cache_folder_and_is_private(vault: Vault, closed_world: Path) -> None:
    folder = Path(places.cache(str(vault())))
    assert folder.parent == closed_world / ".cache/om-vault"
    assert folder.name.startswith("vault-")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_one_vault_has_one_folder_however_it_is_reached(vault: Vault, tmp_path: Path) -> None:
    root = vault({"a/n.md": ""})
    (tmp_path / "link").symlink_to(root)
    same = {places.cache(path) for path in (str(root), f"{root}/", f"{root}/a/..", str(tmp_path / "link"))}
    assert len(same) == 1
    assert places.cache(str(vault(name="other"))) not in same


def test_vaults_of_one_name_do_not_share(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x/vault").mkdir()
    assert places.cache(str(vault())) != places.cache(str(tmp_path / "x/vault"))


def test_a_chosen_folder_comes_first(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OM_CACHE", str(tmp_path / "chosen"))
    assert Path(places.cache(str(vault()))).parent == tmp_path / "chosen"


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_each_system_has_its_own_place(
    vault: Vault, closed_world: Path, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(vault())
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("LOCALAPPDATA", str(closed_world / "AppData"))
    monkeypatch.setattr(sys, "platform", platform)
    base = {"linux": ".cache", "darwin": "Library/Caches", "win32": "AppData"}[platform]
    assert Path(places.cache(root)).parent == closed_world / base / "om-vault"


def test_a_home_that_is_no_home_falls_back_into_the_vault(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault()
    monkeypatch.delenv("XDG_CACHE_HOME")
    for home in ("/dev/null", "/proc/none"):
        monkeypatch.setenv("HOME", home)
        assert places.cache(str(root)) == str(root / ".cache/om")
    assert (root / ".cache/om").stat().st_mode & 0o777 == 0o700


def test_a_relative_cache_folder_is_not_used(vault: Vault, closed_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert places.cache(str(vault())).startswith(str(closed_world / ".cache"))


def test_when_the_vault_is_read_only_too_the_temporary_folder_serves(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault()
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (root / ".cache").write_text("no folder")
    folder = Path(places.cache(str(root)))
    assert folder.parent == tmp_path / f"tmp/om-vault-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_somebody_laid_out_as_a_link_is_not_used(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault()
    trap = tmp_path / "trap"
    trap.mkdir()
    monkeypatch.setenv("OM_CACHE", str(tmp_path / "chosen"))
    name = os.path.basename(places.cache(str(root)))
    (tmp_path / "chosen" / name).rmdir()
    (tmp_path / "chosen" / name).symlink_to(trap)
    assert not places.cache(str(root)).startswith(str(tmp_path / "chosen"))


def test_a_vault_that_is_gone_is_not_made_again(vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = vault()
    root.rename(tmp_path / "away")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    places.cache(str(root))
    assert not root.exists()


def test_when_nothing_can_be_written_one_sentence_says_so(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_usable", lambda *_: False)
    with pytest.raises(VaultError, match="set OM_CACHE to a folder"):
        places.cache(str(vault()))


def test_a_process_without_any_environment_has_a_cache(vault: Vault, python: str) -> None:
    root = vault()
    code = "import sys; sys.path.insert(0, sys.argv[1]); from vaultcore import places; print(places.cache(sys.argv[2]))"
    source = os.path.dirname(os.path.dirname(places.__file__))
    command = [python, "-I", "-S", "-c", code, source, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"OM_CACHE": str(root / "x")})
    assert done.stdout.startswith(str(root / "x"))


@pytest.mark.parametrize(
    ("path", "synced"),
    [
        ("Dropbox/vault", True), ("Dropbox (Work)/v", True), ("OneDrive - Firm/v", True),
        ("Library/Mobile Documents/iCloud~md~obsidian/v", True),
        ("Library/CloudStorage/GoogleDrive-x/v", True), ("Nextcloud/v", True), ("Syncthing/v", True),
        ("iCloudDrive/v", True),
        ("projects/vault", False), ("my dropbox notes/v", False), ("box of notes/v", False),
    ],
)  # fmt: skip
def test_synced_folders_are_known_by_name(tmp_path: Path, path: str, synced: bool) -> None:
    (tmp_path / path).mkdir(parents=True)
    assert places.is_synced(str(tmp_path / path)) is synced


def test_synced_folders_are_known_by_what_their_tools_leave(tmp_path: Path) -> None:
    (tmp_path / "notes/vault").mkdir(parents=True)
    (tmp_path / "notes/.stfolder").mkdir()
    assert places.is_synced(str(tmp_path / "notes/vault"))
