"""Every part of the product names the same qmd index for a vault, and never another vault's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultcore import manifest, qmd
from vaultcore.errors import VaultError

Vault = Callable[..., Path]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("My Vault", "my-vault"), ("..weird..", "weird"), ("A  B--C", "a-b-c"), ("日本語", ""), ("---", ""),
        ("Ünïcode Väult", "unicode-vault"), ("v1.2_x", "v1.2_x"), ("a" * 200, "a" * 60), ("Notes (old)", "notes-old"),
        ("x\\y", "x-y"), ("𝔽ancy", "fancy"), ("", ""),
    ],
)  # fmt: skip
def test_a_folder_gives_a_name_that_qmd_takes(folder: str, name: str) -> None:
    assert qmd.slug(folder) == name
    assert not name or qmd.valid(name)


@pytest.mark.parametrize("name", ["", "-x", ".x", "a/b", "a b", "../up", "x" * 200, "a\n", "ä", "x."])
def test_what_is_no_name_is_not_taken(name: str) -> None:
    assert not qmd.valid(name)


def resolve(root: Path) -> qmd.Index:
    return qmd.resolve(str(root), manifest.load(str(root)))


def configure(name: str, **folders: object) -> None:
    path = Path(qmd.config_path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'  "{collection}":\n    path: "{folder}"\n' for collection, folder in folders.items()]
    path.write_text("collections:\n" + "".join(lines))


def test_the_manifest_decides_and_else_the_folder_never_a_name_that_others_share(vault: Vault) -> None:
    assert resolve(vault({"vault-manifest.json": '{"qmd_index": "mine"}'}, "a")).name == "mine"
    assert resolve(vault({"vault-manifest.json": '{"qmd_index": "", "template": "om-vault"}'}, "b")).name == "b"
    odd = resolve(vault({}, "日本語"))
    assert odd.name.startswith("vault-") and qmd.valid(odd.name)


def test_a_name_that_is_none_is_said_and_the_folder_decides(vault: Vault) -> None:
    index = resolve(vault({"vault-manifest.json": '{"qmd_index": "no/name"}'}))
    assert (index.name, "no/name" in index.problem) == ("vault", True)


def test_two_vaults_with_folders_of_one_name_get_two_indexes(tmp_path: Path, vault: Vault) -> None:
    other = tmp_path / "other" / "vault"
    other.mkdir(parents=True)
    configure("vault", vault=other)
    index = resolve(vault())
    assert (index.name.startswith("vault-"), index.registered, index.taken) == (True, False, "")
    configure(index.name, **{index.name: tmp_path / "vault"})
    again = resolve(tmp_path / "vault")
    assert (again.name, again.registered) == (index.name, True)
    os.unlink(qmd.config_path("vault"))
    assert resolve(tmp_path / "vault").name == index.name, "the name must not change when the other vault goes away"


def test_a_pinned_name_that_is_another_vaults_is_reported_as_taken(tmp_path: Path, vault: Vault) -> None:
    pinned = {"vault-manifest.json": '{"qmd_index": "shared"}'}
    first, second = vault(pinned, "first"), vault(pinned, "second")
    configure("shared", first=first)
    assert resolve(first).registered
    assert (resolve(second).registered, resolve(second).taken) == (False, str(first))


def test_a_pinned_index_may_hold_other_folders_that_are_no_vaults(tmp_path: Path, vault: Vault) -> None:
    root = vault({"vault-manifest.json": '{"qmd_index": "index"}'})
    configure("index", docs=tmp_path / "docs")
    assert (resolve(root).taken, resolve(root).registered) == ("", False)
    configure("index", docs=tmp_path / "docs", notes=root)
    assert (resolve(root).collection, resolve(root).registered) == ("notes", True)


def test_a_vault_reached_through_a_link_is_the_same_vault(tmp_path: Path, vault: Vault) -> None:
    root = vault()
    link = tmp_path / "elsewhere"
    link.symlink_to(root)
    configure("vault", vault=link)
    assert resolve(root).registered
    assert qmd.same(str(link), str(root))


@pytest.mark.parametrize("text", ["collections: [", "a: b: c", "\tx: 1"])
def test_a_broken_configuration_is_named_with_its_path(vault: Vault, text: str) -> None:
    root = vault()
    configure("vault")
    Path(qmd.config_path("vault")).write_text(text)
    with pytest.raises(VaultError, match=r"vault\.yml is not valid YAML"):
        resolve(root)


@pytest.mark.parametrize(
    "text", ["", "[]", "collections:\n", "collections: {x: 1}", "collections:\n  x:\n    path: 3\n"]
)
def test_a_configuration_without_collections_is_a_free_name(vault: Vault, text: str) -> None:
    root = vault()
    configure("vault")
    Path(qmd.config_path("vault")).write_text(text)
    assert (resolve(root).name, resolve(root).registered) == ("vault", False)


def test_configuration_store_and_models_lie_where_qmd_looks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/d")
    assert (qmd.config_path("x"), qmd.store_path("x")) == ("/d/qmd/x.yml", "/c/qmd/x.sqlite")
    monkeypatch.setenv("QMD_CONFIG_DIR", "/e")
    assert qmd.config_path("x") == "/e/x.yml"
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "QMD_CONFIG_DIR"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/h")
    assert (qmd.config_path("x"), qmd.store_path("x")) == ("/h/.config/qmd/x.yml", "/h/.cache/qmd/x.sqlite")
