"""What a check has to say: one finding is one fault, at one place, with what to do about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

LEVELS = ("error", "warning", "note")


@dataclass(frozen=True, order=True)
class Finding:
    """One fault. `rule` is a stable kebab-case id; `line` is 1-based, 0 where the whole file is meant.

    `level` is "error" (something is broken), "warning" (probably a mistake) or "note" (worth knowing).
    """

    path: str
    line: int
    rule: str
    message: str
    fix: str = ""
    level: str = "error"
    column: int = 0

    def sentence(self) -> str:
        """The finding as one line: place, fault, and what to do."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}" + (f" ({self.fix})" if self.fix else "")

    def data(self) -> dict[str, Any]:
        """The finding as JSON-ready data."""
        return asdict(self)
