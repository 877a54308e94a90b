"""The vault that the tests of qmd search in, and what they do with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bridge.qmd.fake import Fake
from tests.conftest import write_tree
from vaultbridge import search as searching
from vaultbridge.bridge import Bridge
from vaultbridge.search import Answer
from vaultcore import qmd

World = Callable[..., Bridge]
MANIFEST = '{"mcp_exposed_roots": ["notes"], "search": {"backend": "%s"}}\n'
NOTES = {
    "notes/alpha.md": "# Alpha\n\nzebra crossing\n",
    "notes/beta.md": "# Beta\n\n## Second\n\nunrelated words\n",
    "notes/deep/gamma.md": "---\ntags: [deep]\n---\n# Gamma\n\nmore\n",
    "notes/hidden.md": "---\nprivate: true\n---\n# Hidden\n\nzebra secret\n",
    "diary/own.md": "# Own\n\nzebra diary\n",
}
MODEL = b"GGUF" + b"\0" * 200_000


def register(root: Path, fake: Fake, name: str = "vault") -> None:
    write_tree(Path(qmd.config_path(name)).parent, {f"{name}.yml": f'collections:\n  {name}:\n    path: "{root}"\n'})
    fake.set(folder=str(root), name=name)


def download(*names: str) -> None:
    for name in names:
        write_tree(Path(qmd.cache_folder()) / "models", {"hf_someone_" + name: MODEL})


def find(bridge: Bridge, query: str = "zebra", limit: int = 10, **options: Any) -> Answer:
    return searching.search(bridge, None, query, limit, **options)


def rels(answer: Answer) -> list[str]:
    return [hit.rel for hit in answer.hits]
