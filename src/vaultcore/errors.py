"""What goes wrong, as sentences a person can act on."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class VaultError(Exception):
    """Something stopped us. `str(error)` is one sentence with the path or value and what to do next."""


class Refusal(VaultError):
    """A read or write that we decline.

    `code` is a stable kebab-case id ("outside", "exists", "changed", "missing", "busy", "name", …), `why` says
    what is wrong, `next` what the caller can do about it, `details` carries values for a machine.
    """

    def __init__(self, code: str, why: str, next: str = "", details: dict[str, Any] | None = None) -> None:
        stop = "" if why.endswith((".", "?", "!")) or not next else "."
        super().__init__(f"{why}{stop} {next}".strip())
        self.code = code
        self.why = why
        self.next = next
        self.details: dict[str, Any] = details or {}


class Problem:
    """Something wrong that did not stop us: where it is, what it is, how to mend it.

    `line` and `column` count from 1; 0 means that the place inside the file is not known.
    """

    __slots__ = ("column", "fix", "line", "message", "path")

    def __init__(self, path: str, message: str, *, line: int = 0, column: int = 0, fix: str = "") -> None:
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        self.fix = fix

    def at(self, path: str) -> Problem:
        """Return the same problem, placed in `path`."""
        return Problem(path, self.message, line=self.line, column=self.column, fix=self.fix)

    def sentence(self) -> str:
        """Return one line: path, line and column as far as known, what is wrong, what to do."""
        where = self.path
        if self.line:
            where += f" line {self.line}" if where else f"line {self.line}"
            if self.column:
                where += f" column {self.column}"
        text = f"{where}: {self.message}" if where else self.message
        if self.fix:
            text = f"{text.rstrip('.')}. {self.fix}"
        return " ".join(text.split())

    def __repr__(self) -> str:
        return f"Problem({self.sentence()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.sentence() == other.sentence()

    def __hash__(self) -> int:
        return hash(self.sentence())
