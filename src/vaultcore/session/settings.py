"""What hooks need of the manifest, remembered until one of its files changes: parsing it costs more than a hook may."""

from __future__ import annotations

import os

from vaultcore.session import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOADER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "manifest.py")
FILES = ("vault-manifest.json", "vault-manifest.local.json")
KEYS = (
    "done_statuses",
    "eager_layer_budget_bytes",
    "frontmatter_required",
    "infrastructure",
    "listing_collapse_threshold",
    "mcp_inbox",
    "mcp_never_expose",
    "memory_root",
    "open_loop_dirs",
    "open_loop_sections",
    "signals",
    "transcripts_kept",
    "user_content_roots",
    *(
        "hygiene." + name
        for name in ("cap", "cluster_notes", "inbox_days", "meeting_days", "open_loop_days", "split_bytes")
    ),
)


class Settings:
    """`get` gives a key's value, `limit` one of the thresholds under `hygiene`; `problems` are sentences."""

    __slots__ = ("problems", "values")

    def __init__(self, values: dict[str, Any], problems: list[str]) -> None:
        self.values = values
        self.problems = problems

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def limit(self, name: str) -> int:
        value: int = self.values["hygiene." + name]
        return value

    def words(self, key: str) -> list[str]:
        value = self.values.get(key)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def load(root: str) -> Settings:
    """The settings of a vault; defaults and a sentence for whatever is wrong with its manifest."""
    mark = [*_mark(root), list(KEYS)]
    known = state.read(root, "settings.json")
    if isinstance(known, dict) and known.get("mark") == mark and isinstance(known.get("values"), dict):
        return Settings(known["values"], known.get("problems") or [])
    from vaultcore import manifest

    read = manifest.load(root)
    values = {key: read.get(key) for key in KEYS}
    problems = [problem.sentence() for problem in read.problems]
    state.write(root, "settings.json", {"mark": mark, "values": values, "problems": problems})
    return Settings(values, problems)


def _mark(root: str) -> list[list[int]]:
    found = []
    # a loader that was updated may have other defaults
    for path in (*(os.path.join(root, name) for name in FILES), LOADER):
        try:
            status = os.stat(path)
            found.append([status.st_size, status.st_mtime_ns, status.st_ino])
        except OSError:
            found.append([])
    return found
