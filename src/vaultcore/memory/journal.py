"""The log of every mutation and refusal: `.om/log/<writer>/YYYY-MM.jsonl`, committed, appended to, never trimmed.

Each clone writes its own files, so a merge of two histories never touches a line; within a writer every line holds
the hash of the one before. Content never enters it, only hashes, paths and ids.
"""

from __future__ import annotations

import json
import os

from . import heads, record, times
from .clones import count, holds, identity, last_line, mend, month_files, raw_lines, remember, renew

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FOLDER = ".om/log"
CHANNELS = ("agent", "hook", "import", "person", "external", "system")
VERSION = 1


class Bad:
    """The first line that breaks a chain: where it is and what is wrong."""

    __slots__ = ("path", "line", "seq", "why")

    def __init__(self, path: str, line: int, seq: int, why: str) -> None:
        self.path, self.line, self.seq, self.why = path, line, seq, why

    def sentence(self) -> str:
        return f"{self.path} line {self.line} (seq {self.seq}): {self.why}"


class Journal:
    """The log of one vault, appended to by one writer. Callers hold the memory lock while they append."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._end: tuple[str, int, int, str] | None = None  # path, size, seq, hash of our last line
        self._sizes: dict[str, tuple[str, int]] = {}  # of the other writers' logs when they were last looked at

    @property
    def writer(self) -> str:
        """This clone's id, beside git's own files (never committed), else in the cache; a copy gets its own."""
        return identity(self.root)[0]

    def append(self, op: str, channel: str, caller: str, **fields: Any) -> dict[str, Any]:
        """Write one line, down to the disk, and return it. A torn end (a writer died in the middle) is mended first."""
        assert channel in CHANNELS
        return self.extend([{"op": op, "channel": channel, "caller": caller, **fields}])[-1]

    def extend(self, many: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Write several lines in one go."""
        now = times.stamp()
        name, last = identity(self.root)
        if last and not self._ends_with(last) and not holds(os.path.join(self.root, FOLDER, name), last):
            heads.keep(self.root, {**heads.kept(self.root), name: last})
            name = renew(self.root)
        seen = heads.news(self.root, name, self._sizes)
        if seen:
            many = [{**many[0], "seen": seen}, *many[1:]]
        path = f"{FOLDER}/{name}/{now[:7]}.jsonl"
        full = _place(self.root, path)
        seq, prev = self._tail(path)
        lines: list[dict[str, Any]] = []
        for fields in many:
            seq += 1
            line = {
                "v": VERSION,
                "seq": seq,
                "at": now,
                **{k: _bounded(v) for k, v in fields.items() if v not in (None, "", [])},
                "prev": prev,
            }
            prev = line["hash"] = digest(line)
            lines.append(line)
        data = b"".join(encode(line) + b"\n" for line in lines)
        fd = os.open(full, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        try:
            start = os.fstat(fd).st_size
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
                os.fsync(fd)
            except OSError:
                os.ftruncate(fd, start)  # a full disk must not leave half a line
                raise
        finally:
            os.close(fd)
        self._end = (path, start + len(data), seq, prev)
        remember(self.root, name, prev)
        return lines

    def _ends_with(self, last: str) -> bool:
        if self._end is None or self._end[3] != last:
            return False
        try:
            return os.path.getsize(os.path.join(self.root, self._end[0])) == self._end[1]
        except OSError:
            return False

    def _tail(self, path: str) -> tuple[int, str]:
        """Sequence number and hash of our last line, in this month's file or an earlier one."""
        full = os.path.join(self.root, path)
        try:
            size = os.path.getsize(full)
        except OSError:
            size = -1
        if self._end and self._end[0] == path and self._end[1] == size:
            return self._end[2], self._end[3]
        if size > 0:
            mend(full)
        folder = os.path.dirname(full)
        for name in reversed(month_files(folder)):
            last = last_line(os.path.join(folder, name))
            if last:
                try:
                    line = json.loads(last)
                    return int(line["seq"]), str(line["hash"])
                except (ValueError, KeyError, TypeError):
                    # damaged by hand: the chain goes on from the bytes as they are, and verify names the line
                    return count(folder), digest({"damaged": last.decode("utf-8", "replace")})
        return 0, ""

    def writers(self) -> list[str]:
        """Every writer that has a log here, ours included."""
        folder = os.path.join(self.root, FOLDER)
        try:
            return sorted(
                n for n in os.listdir(folder) if os.path.isdir(os.path.join(folder, n)) and not n.startswith(".")
            )
        except OSError:
            return []

    def lines(self, writer: str = "", months: int = 0) -> Iterator[dict[str, Any]]:
        """Every readable line, of `writer` or of all, in order of time; `months`: of the newest so many files only."""
        found: list[dict[str, Any]] = []
        for name in [writer] if writer else self.writers():
            folder = os.path.join(self.root, FOLDER, name)
            files = month_files(folder)
            for file in files[-months:] if months else files:
                for raw in raw_lines(os.path.join(folder, file)):
                    try:
                        line = json.loads(raw)
                    except ValueError:
                        continue
                    if isinstance(line, dict):
                        line["writer"] = name
                        found.append(line)
        found.sort(key=lambda line: (str(line.get("at", "")), str(line["writer"]), line.get("seq", 0)))
        return iter(found)

    def mentioning(self, words: list[str]) -> list[dict[str, Any]]:
        """The lines of all writers that hold one of `words`, in order of time."""
        wanted = [json.dumps(w)[1:-1].encode() for w in words]
        found: list[dict[str, Any]] = []
        for writer in self.writers():
            folder = os.path.join(self.root, FOLDER, writer)
            for name in month_files(folder):
                for raw in raw_lines(os.path.join(folder, name)):
                    if any(w in raw for w in wanted):
                        try:
                            line = json.loads(raw)
                        except ValueError:
                            continue
                        if isinstance(line, dict):
                            found.append({**line, "writer": writer})
        return sorted(found, key=lambda line: (str(line.get("at", "")), line.get("seq", 0)))

    def forced(self, caller: str, since: str) -> int:
        """How many of `caller`'s writes since the stamp `since` overrode a refusal."""
        return sum(
            1
            for line in self.lines(months=2)
            if line.get("forced") and line.get("caller") == caller and str(line.get("at", "")) >= since
        )

    def verify(self) -> list[Bad]:
        """The first bad line of every writer's chain, or where its end was cut off; an empty list when all hold."""
        found = {writer: _verify(self.root, writer) for writer in self.writers()}
        for writer, hashes in heads.witnessed(self.root, self.lines()).items():
            if found.get(writer) is None and any(not heads.stands(self.root, writer, h) for h in hashes):
                found[writer] = _cut(self.root, writer)
        return [b for b in found.values() if b is not None]


def digest(line: dict[str, Any]) -> str:
    """sha256 of the canonical line without its own hash."""
    import hashlib

    return hashlib.sha256(encode({k: v for k, v in line.items() if k != "hash"})).hexdigest()


def encode(line: dict[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def _verify(root: str, writer: str) -> Bad | None:
    folder = os.path.join(root, FOLDER, writer)
    seq, prev, last = 0, "", ""
    for name in month_files(folder):
        rel = f"{FOLDER}/{writer}/{name}"
        for number, raw in enumerate(raw_lines(os.path.join(folder, name)), 1):
            try:
                line = json.loads(raw)
                held = int(line["seq"])
            except (ValueError, KeyError, TypeError):
                return Bad(rel, number, seq + 1, "it is no line of this log (torn or edited)")
            if held != seq + 1:
                return Bad(rel, number, held, f"seq {seq + 1} was expected: a line was removed, added or moved")
            if line.get("prev") != prev:
                return Bad(rel, number, held, "it does not follow from the line before: one of the two was changed")
            if line.get("hash") != digest(line):
                return Bad(rel, number, held, "its content is not what was written")
            if str(line.get("at", "")) < last[:7]:
                return Bad(rel, number, held, "it lies in the file of another month")
            seq, prev, last = held, line["hash"], str(line.get("at", ""))
    return None


def _cut(root: str, writer: str) -> Bad:
    folder = os.path.join(root, FOLDER, writer)
    files = month_files(folder)
    last = f"{FOLDER}/{writer}/{files[-1]}" if files else f"{FOLDER}/{writer}"
    number = sum(1 for _ in raw_lines(os.path.join(root, last))) if files else 0
    why = "lines seen here before are gone from its end; another branch or an older state in git does that too"
    return Bad(last, number + 1, count(folder) + 1, why)


def _place(root: str, rel: str) -> str:
    """The real path for a log file, its folder made; refused when `.om` leads out of the vault."""
    from vaultcore.errors import VaultError

    real = os.path.realpath(root)
    folder = os.path.join(real, *rel.split("/")[:-1])
    if not os.path.isdir(real):
        raise VaultError(f"The vault {real} is not there: check whether it was moved, renamed or unmounted.")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise VaultError(
            f"{rel} was not written ({error.strerror or error}): make .om writable, then try again."
        ) from error
    if os.path.realpath(folder) != folder:
        raise VaultError(f"{FOLDER} leads out of the vault through a link: replace the link by a folder.")
    return os.path.join(folder, rel.split("/")[-1])


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return record.one_line(value)[:500]
    if isinstance(value, (list, tuple)):
        return [_bounded(v) for v in list(value)[:100]]
    if isinstance(value, dict):
        return {str(k)[:60]: _bounded(v) for k, v in list(value.items())[:50]}
    return value
