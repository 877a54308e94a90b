"""What an agent gets to read: a private, read-only copy of the notes and memories that its caller may see.

The copy lies in the system's temporary folder, outside the vault, so that neither the vault's hooks nor its other notes
are anywhere near it. It is held by a lock for as long as its run lives, and what a killed run left is swept.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from vaultcore import exposure, private, properties, walk
from vaultcore.numerals import counted

if TYPE_CHECKING:
    from typing import IO

    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller

PREFIX = "om-reason-"
NOTES = 10_000
MEMORIES = 500
BYTES = 100_000_000
ONE = 2_000_000  # bytes of one note
YOUNG = 60.0  # seconds in which a folder may not be locked yet


class Run:
    """The folder of one run: `notes` is what the agent sees as its working directory, the rest is ours."""

    def __init__(self) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
        self._held = _lock(os.path.join(self.folder, "held"))
        self.notes = os.path.join(self.folder, "notes")
        self.temp = os.path.join(self.folder, "tmp")
        for path in (self.notes, self.temp):
            os.mkdir(path, 0o700)

    def file(self, name: str, text: str = "") -> str:
        """A private file beside the notes; its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def remove(self) -> None:
        """Take the folder away. Never raises."""
        discard(self.folder)
        if self._held is not None:
            self._held.close()
            self._held = None


class Copied:
    """What went into a copy. `left_out` is a sentence when something had to stay out, else empty."""

    __slots__ = ("bytes", "left_out", "memories", "notes")

    def __init__(self) -> None:
        self.notes = self.memories = self.bytes = 0
        self.left_out = ""


def fill(run: Run, bridge: Bridge, caller: Caller, first: Iterable[str] = ()) -> Copied:
    """Copy what `caller` may see into `run.notes`: `first` before the rest, newer before older, within bounds.

    Every note is judged again by the very bytes that are copied. The copy is no link: nothing that happens to it
    can reach the vault.
    """
    manifest, policy = bridge.manifest, bridge.policy
    order = {rel: at for at, rel in enumerate(first)}
    entries = list(exposure.visible(manifest, policy))
    entries.sort(key=lambda entry: (order.get(entry.rel, len(order)), -entry.mtime_ns))
    copied = Copied()
    over = large = 0
    for entry in entries:
        if entry.size > ONE:
            large += 1
        elif copied.notes >= NOTES or copied.bytes + entry.size > BYTES:
            over += 1
        else:
            data = _readable(bridge.root, entry.rel)
            if data is not None:
                _put(run.notes, entry.rel, data)
                copied.notes += 1
                copied.bytes += len(data)
    unshown = _memories(run, bridge, caller, copied)
    reasons = [f"{counted(over, 'note')} beyond {NOTES:,} or {BYTES // 1_000_000} MB"] if over else []
    reasons += [f"{counted(large, 'note')} over {ONE // 1_000_000} MB"] if large else []
    reasons += [f"{counted(unshown, 'memory', 'memories')} beyond {MEMORIES}"] if unshown else []
    copied.left_out = f"It could not see {' and '.join(reasons)}." if reasons else ""
    _close(run.notes)
    return copied


def _readable(root: str, rel: str) -> bytes | None:
    """The bytes of a note, or None when they are gone or have become private since it was listed."""
    path = walk.contained(root, rel)
    if path is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            data = file.read(ONE + 1)
    except OSError:
        return None
    text, _ = properties.decode(data)
    return None if len(data) > ONE or private.why_private(properties.read(text)) else data


def _memories(run: Run, bridge: Bridge, caller: Caller, copied: Copied) -> int:
    """Write the memories that reach `caller` beside the notes, as they are served; how many stayed out."""
    from vaultbridge import memories, recollection
    from vaultbridge.tools.recall import text_of
    from vaultcore.memory import selection

    entries = selection.select(memories.of(bridge).open(), memories.reader(caller)).entries
    blocks: dict[str, str] = {}
    for entry in entries[:MEMORIES]:
        body, extra = text_of(bridge, entry, blocks)
        facets = " · ".join([*recollection.facets(entry), *extra])
        title = " ".join(entry.record.title.split())
        data = f"# {title}\n\nMemory {entry.record.key}: {facets}\n\n{body}\n".encode("utf-8", "replace")
        _put(run.notes, entry.record.rel, data[:ONE])
        copied.memories += 1
        copied.bytes += len(data)
    return max(0, len(entries) - MEMORIES)


def _put(folder: str, rel: str, data: bytes) -> None:
    path = os.path.join(folder, *rel.split("/"))
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)
    os.chmod(path, 0o400)


def _close(folder: str) -> None:
    """Make the folders read-only too: the agent has nothing to write here."""
    for path, _, _ in os.walk(folder):
        os.chmod(path, 0o500)


def discard(folder: str) -> None:
    """Remove a run's folder, read-only parts included."""
    for path, _, _ in os.walk(folder):
        try:
            os.chmod(path, 0o700)
        except OSError:
            pass
    shutil.rmtree(folder, ignore_errors=True)


def sweep() -> int:
    """Remove the folders of runs whose process is gone; how many there were. Never raises."""
    base, removed = tempfile.gettempdir(), 0
    try:
        names = [name for name in os.listdir(base) if name.startswith(PREFIX)]
    except OSError:
        return 0
    for name in names:
        path = os.path.join(base, name)
        try:
            state = os.lstat(path)
        except OSError:
            continue
        mine = not hasattr(os, "getuid") or state.st_uid == os.getuid()
        if not mine or not stat.S_ISDIR(state.st_mode) or time.time() - state.st_mtime < YOUNG:
            continue
        held = _lock(os.path.join(path, "held"))
        if held is not None:
            discard(path)
            held.close()
            removed += 1
    return removed


def _lock(path: str) -> IO[bytes] | None:
    """`path`, opened and locked for this process; None when another one holds it."""
    try:
        file = open(path, "ab")
    except OSError:
        return None
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
