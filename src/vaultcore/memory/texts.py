"""The text of a memory: held by its record, or left to the snapshot that has it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .snapshot import Snapshot


class Texts:
    """What of a record is long and seldom asked for. Thread-safe."""

    __slots__ = ("_body", "_description", "kept")

    rel: str

    def __init__(self) -> None:
        self._body = self._description = ""
        self.kept: tuple[Snapshot, int] | None = None  # what has the text, which nobody needs of most memories

    @property
    def body(self) -> str:
        """The text below the title."""
        body, kept = self._body, self.kept  # in this order: another thread may just leave it to a snapshot
        return body or self._body if kept is None else kept[0].text(kept[1], self.rel, "body")

    @body.setter
    def body(self, text: str) -> None:
        self._body = text

    @property
    def description(self) -> str:
        said, kept = self._description, self.kept
        return said or self._description if kept is None else kept[0].text(kept[1], self.rel, "description")

    @description.setter
    def description(self, text: str) -> None:
        self._description = text

    def keep_in(self, snapshot: Snapshot, number: int) -> None:
        """Leave the text to `snapshot`, which has it under `number`."""
        self.kept = (snapshot, number)
        self._body = self._description = ""

    def take_back(self) -> None:
        """Hold the text again."""
        self._body, self._description = self.body, self.description
        self.kept = None

    def number(self, snapshot: Snapshot) -> int:
        """Its number in `snapshot`; -1 when that does not keep it."""
        return self.kept[1] if self.kept is not None and self.kept[0] is snapshot else -1
