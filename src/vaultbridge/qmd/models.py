"""Which of qmd's models are on this machine. A call that needs a missing one hangs for minutes, so files are looked for
first, always."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vaultcore import qmd

if TYPE_CHECKING:
    from vaultcore.qmd import Index

DEFAULTS = {
    "embed": "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf",
    "generate": "hf:tobil/qmd-query-expansion-1.7B-gguf/qmd-query-expansion-1.7B-q4_k_m.gguf",
    "rerank": "hf:ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF/qwen3-reranker-0.6b-q8_0.gguf",
}


def present(index: Index) -> frozenset[str]:
    """Those of embed, generate and rerank whose file is here and is a model."""
    named = qmd.configuration(index.config).get("models")
    named = named if isinstance(named, dict) else {}
    found = set()
    for kind, default in DEFAULTS.items():
        wanted = named.get(kind) or os.environ.get(f"QMD_{kind.upper()}_MODEL") or default
        if isinstance(wanted, str) and any(is_model(path) for path in _files(wanted)):
            found.add(kind)
    return frozenset(found)


def _files(wanted: str) -> list[str]:
    """The paths at which a model may lie: itself, or qmd's own folder where downloads get a longer name."""
    folder = os.path.join(qmd.cache_folder(), "models")
    if ":" not in wanted.split("/")[0] or os.path.isabs(wanted):
        return [os.path.expanduser(wanted), os.path.join(folder, wanted)]
    tail = wanted.split("?")[0].rsplit("/", 1)[-1].lower()
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if tail.endswith(".gguf") and name.lower().endswith(tail)]


def is_model(path: str) -> bool:
    """Whether a file begins as a model does: a download that broke off at once, or an error page, does not."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"GGUF" and os.path.getsize(path) > 100_000
    except (OSError, ValueError):
        return False


def missing(held: frozenset[str]) -> list[str]:
    return [kind for kind in DEFAULTS if kind not in held]
