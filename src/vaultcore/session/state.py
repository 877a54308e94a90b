"""What hooks remember between two calls: small files in `<vault>/.cache/session`, all of it derived or forgettable.

A folder that cannot be written costs repeats, never a session: every function here goes on without it.
"""

from __future__ import annotations

import os

from vaultcore import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LARGEST = 1_000_000  # bytes a session's record may grow to; then it only forgets new things
KEEP_SESSIONS = 200
KEEP_DAYS = 14


def folder(root: str) -> str:
    return os.path.join(root, ".cache", "session")


def read(root: str, name: str) -> Any:
    """The JSON value in the file `name`, or None if there is none that can be read."""
    try:
        with open(os.path.join(folder(root), name), encoding="utf-8") as file:
            return fastjson.loads(file.read())
    except (OSError, ValueError):
        return None


def write(root: str, name: str, value: object) -> bool:
    """Replace the file `name` whole; False where that is not possible."""
    return write_text(root, name, fastjson.dumps(value))


def write_text(root: str, name: str, text: str) -> bool:
    path = os.path.join(folder(root), name)
    part = f"{path}.{os.getpid()}.part"
    try:
        make(root)
        with open(part, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        os.replace(part, path)
        return True
    except OSError:
        try:
            os.unlink(part)
        except OSError:
            pass  # it was never made
        return False


def make(root: str) -> None:
    """Make the folder when it is missing; OSError where that is not possible or the vault is gone."""
    path = folder(root)
    if not os.path.isdir(path):
        os.stat(root)
        os.makedirs(path, 0o700, exist_ok=True)


class Session:
    """The record of one agent's session: one JSON object per line, only ever appended to.

    Hooks of one session run at the same time; an append is the one write that needs no lock.
    """

    __slots__ = ("path", "records", "root")

    def __init__(self, root: str, agent: str, session: str) -> None:
        self.root = root
        self.path = os.path.join(folder(root), f"{agent}-{safe(session)}.jsonl") if session else ""
        self.records: list[dict[str, Any]] = []
        if self.path:
            try:
                with open(self.path, encoding="utf-8", errors="replace") as file:
                    lines = file.read(2 * LARGEST).split("\n")
            except OSError:
                lines = []
            for line in lines:
                try:
                    record = fastjson.loads(line) if line else None
                except ValueError:
                    continue  # a line that was being written when its writer died
                if isinstance(record, dict):
                    self.records.append(record)

    def add(self, **record: object) -> None:
        """Append one record; a session without a name or a place remembers nothing."""
        self.records.append(record)
        if not self.path:
            return
        line = (fastjson.dumps(record) + "\n").encode("utf-8", "replace")
        try:
            make(self.root)
            target = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                if os.fstat(target).st_size < LARGEST:
                    os.write(target, line)
            finally:
                os.close(target)
        except OSError:
            pass  # the next hook says it once more

    def all(self, key: str) -> list[Any]:
        """Every value recorded under `key`, oldest first."""
        return [record[key] for record in self.records if key in record]

    def said(self) -> set[str]:
        """The keys of everything this session has been told."""
        return {key for keys in self.all("said") if isinstance(keys, list) for key in keys if isinstance(key, str)}

    def start(self) -> int:
        """When the session started, in the file system's own clock (ns); 0 if nobody has noted it."""
        starts = [value for value in self.all("start") if isinstance(value, int)]
        return starts[0] if starts else 0

    def mark_start(self) -> None:
        """Note the start once. The clock that stamps notes is asked, not the one that only resembles it."""
        if not self.path or self.start():
            if self.records and "ended" in self.records[-1]:
                self.add(opened=True)  # resumed
            return
        self.add(opened=True)
        try:
            self.add(start=os.stat(self.path).st_mtime_ns)
        except OSError:
            pass  # nothing can be remembered here


def safe(name: str) -> str:
    """A file name of letters, digits, - and _ for any session id; different ids stay different."""
    kept = "".join(c for c in name if c.isascii() and (c.isalnum() or c in "-_"))[:64]
    if kept == name:
        return kept
    from binascii import crc32

    return f"{kept}-{crc32(name.encode('utf-8', 'replace')):08x}"


def prune(root: str, now: float) -> None:
    """Forget sessions older than KEEP_DAYS, all but the newest KEEP_SESSIONS, and parts that a dead writer left."""
    found = []
    for name, path in _files(root):
        try:
            age = now - os.stat(path).st_mtime
        except OSError:
            continue
        if name.endswith(".jsonl"):
            found.append((age, path))
        elif name.endswith(".part") and age > 3600:
            _remove([path])
    found.sort()
    _remove(path for rank, (age, path) in enumerate(found) if rank >= KEEP_SESSIONS or age > KEEP_DAYS * 86400)


def _files(root: str) -> list[tuple[str, str]]:
    try:
        return [(name, os.path.join(folder(root), name)) for name in os.listdir(folder(root))]
    except OSError:
        return []


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            pass  # somebody else was faster
