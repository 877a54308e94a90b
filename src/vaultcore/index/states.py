"""What an index knows of each file, in a fraction of the memory that tuples of numbers take."""

from __future__ import annotations

from .scan import RACY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .scan import State

    Known = tuple[int, State, int]  # number of its row, state, when that was seen


class States:
    """A dictionary from paths to (number, (size, mtime_ns, inode), seen_ns). `racy` are the paths whose time stamp was
    too young when they were read to prove that they have not changed since."""

    __slots__ = ("racy", "_held", "_pack", "_unpack")

    def __init__(self) -> None:
        from struct import Struct

        self.racy: set[str] = set()
        self._held: dict[str, bytes] = {}
        layout = Struct("=5q")
        self._pack, self._unpack = layout.pack, layout.unpack

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __contains__(self, rel: object) -> bool:
        return rel in self._held

    def __getitem__(self, rel: str) -> Known:
        return self._made(self._held[rel])

    def __setitem__(self, rel: str, known: Known) -> None:
        self._held[rel] = self._pack(known[0], *known[1], known[2])
        if known[1][1] > known[2] - RACY:
            self.racy.add(rel)
        else:
            self.racy.discard(rel)

    def get(self, rel: str) -> Known | None:
        held = self._held.get(rel)  # once: another thread may be at it
        return None if held is None else self._made(held)

    def _made(self, held: bytes) -> Known:
        number, size, mtime_ns, inode, seen_ns = self._unpack(held)
        return number, (size, mtime_ns, inode), seen_ns

    def pop(self, rel: str) -> None:
        """Forget a path, known or not."""
        self._held.pop(rel, None)
        self.racy.discard(rel)

    def clear(self) -> None:
        self._held.clear()
        self.racy.clear()

    def take(self, rows: Iterable[tuple[str, Known | None]]) -> None:
        """Set each path, or forget it where there is nothing known."""
        for rel, known in rows:
            if known is None:
                self.pop(rel)
            else:
                self[rel] = known
