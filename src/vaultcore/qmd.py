"""Which qmd index is this vault's: the one answer for setup, refresh, the MCP entry, the bridge and doctor.

An index is a name; under it qmd keeps one configuration (collections and their folders) and one store.
"""

from __future__ import annotations

import os
import re

from vaultcore.errors import VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultcore.manifest import Manifest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_LARGEST = 1_000_000  # bytes of a configuration


class Index:
    """The index of one vault.

    `name`; `collection` inside it; `registered`: its configuration names this vault's folder; `taken`: the folder that
    has the name instead, "" if none; `problem`: a sentence about the manifest's qmd_index, or "".
    """

    __slots__ = ("collection", "name", "problem", "registered", "taken")

    def __init__(self, name: str, collection: str, registered: bool, taken: str = "", problem: str = "") -> None:
        self.name, self.collection, self.registered = name, collection, registered
        self.taken, self.problem = taken, problem

    @property
    def config(self) -> str:
        return config_path(self.name)

    @property
    def store(self) -> str:
        return store_path(self.name)


def valid(name: str) -> bool:
    """Whether qmd takes `name` as the name of an index, on every system."""
    return bool(_NAME.match(name)) and not name.endswith(".")


def slug(folder: str) -> str:
    """A name made from a folder's name; "" when no Latin letter or digit is in it. Accents go, their letters stay."""
    from unicodedata import combining, normalize

    plain = "".join(c for c in normalize("NFKD", folder) if not combining(c)).lower()
    return re.sub(r"-{2,}", "-", re.sub(r"[^a-z0-9._-]+", "-", plain)).strip("-._")[:60].rstrip("-._")


def names(root: str) -> list[str]:
    """The names a vault's folder gives, best first: its slug, and one that no other folder has."""
    from vaultcore import places

    real = os.path.realpath(root)
    mark = places.identity(real)[-8:]
    made = slug(os.path.basename(real))
    return [made, f"{made}-{mark}"] if made else [f"vault-{mark}"]


def resolve(root: str, manifest: Manifest) -> Index:
    """The index of the vault at `root`. Raises VaultError when a qmd configuration in question cannot be read."""
    pinned, problem = str(manifest.get("qmd_index")).strip(), ""
    if pinned and not valid(pinned):
        problem = f"qmd_index {pinned[:60]!r} is no name for an index: use letters, digits, dot, dash, underscore"
        pinned = ""
    candidates = [pinned] if pinned else names(root)
    held = {name: collections(name) for name in candidates}
    for name in candidates:
        for collection, path in held[name].items():
            if same(path, root):
                return Index(name, collection, True, problem=problem)
    for name in candidates:
        if not held[name] or (pinned and not _another(name, held[name])):
            return Index(name, name, False, problem=problem)
    last = candidates[-1]
    return Index(last, last, False, _another(last, held[last]) or next(iter(held[last].values())), problem)


def _another(name: str, held: dict[str, str]) -> str:
    """The folder for which `name` is in use, if that is another vault's or its collection is called alike."""
    if name in held:
        return held[name]
    return next((path for path in held.values() if os.path.exists(os.path.join(path, "vault-manifest.json"))), "")


def same(path: str, root: str) -> bool:
    """Whether a configured folder is the vault's own, through whatever links."""
    real = os.path.realpath(root)
    return bool(path) and os.path.normcase(os.path.realpath(os.path.expanduser(path))) == os.path.normcase(real)


def collections(name: str) -> dict[str, str]:
    """Collection -> folder in the configuration of the index `name`; empty when there is none."""
    held = configuration(config_path(name)).get("collections")
    if not isinstance(held, dict):
        return {}
    paths = {str(key): entry.get("path") for key, entry in held.items() if isinstance(entry, dict)}
    return {key: path for key, path in paths.items() if isinstance(path, str)}


def configuration(path: str) -> dict[str, Any]:
    """What a qmd configuration says; empty when the file is missing. VaultError when it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LARGEST)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise VaultError(f"{path} cannot be read ({error}): mend or remove it") from error
    try:
        import yaml

        held = yaml.safe_load(text)
    except ImportError as error:
        raise VaultError(f"{path} cannot be read without PyYAML: run `python3 om.py setup`") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:160]
        raise VaultError(f"{path} is not valid YAML ({reason}): mend or remove it") from error
    return held if isinstance(held, dict) else {}


def config_path(name: str) -> str:
    """Where qmd keeps the configuration of an index."""
    base = os.environ.get("QMD_CONFIG_DIR") or os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config"), "qmd"
    )
    return os.path.join(base, name + ".yml")


def cache_folder() -> str:
    """Where qmd keeps stores and models."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "qmd")


def store_path(name: str) -> str:
    """Where qmd keeps the store of an index. Pinned: an INDEX_PATH of the user's is for their own use of qmd."""
    return os.path.join(cache_folder(), name + ".sqlite")
