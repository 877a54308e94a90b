"""The log files of one clone on disk, and the id that tells clones apart."""

from __future__ import annotations

import os
import re

from vaultcore.regular import opener

from . import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MONTH = re.compile(r"^\d{4}-\d{2}\.jsonl$")


def identity(root: str) -> tuple[str, str]:
    """This clone's id, and the hash of the last line it wrote ("" when none is known).

    They lie beside git's own files, which are never committed, else in the cache. A copied folder is another clone.
    """
    path, mark = place(root)
    try:
        with open(path, encoding="ascii") as file:
            name, where, *tail = file.read().split()
        if where == mark and re.match(r"^[0-9a-z]{10}$", name):
            return name, tail[0] if tail else ""
    except (OSError, ValueError):
        pass
    return renew(root), ""


def renew(root: str) -> str:
    """A new id for this clone: its history went back (another branch, a reset), so a new chain begins."""
    _, mark = place(root)
    name = record.new_id()[2:12]
    return name if remember(root, name, "") else "w" + mark[:9]


def remember(root: str, name: str, tail: str) -> bool:
    """Keep the id and the hash of its last line; False when they cannot be kept."""
    path, mark = place(root)
    try:
        draft = f"{path}.{os.getpid()}"
        with open(draft, "w", encoding="ascii") as file:
            file.write(f"{name} {mark} {tail}\n")
        os.replace(draft, path)
    except OSError:
        return False
    return True


def place(root: str) -> tuple[str, str]:
    from vaultcore import places
    from vaultcore.write import revision

    real = os.path.realpath(root)
    git = os.path.join(real, ".git")
    return os.path.join(git if os.path.isdir(git) else places.cache(root), "om-writer"), revision(os.fsencode(real))[
        :16
    ]


def holds(folder: str, tail: str) -> bool:
    """Whether a line with the hash `tail` is still among the newest ones in `folder`."""
    wanted = f'"hash":"{tail}"'.encode()
    for name in month_files(folder)[-2:]:
        with open(os.path.join(folder, name), "rb") as file:
            file.seek(max(0, os.path.getsize(file.name) - 1_000_000))
            if wanted in file.read():
                return True
    return False


def month_files(folder: str) -> list[str]:
    try:
        return sorted(n for n in os.listdir(folder) if _MONTH.match(n))
    except OSError:
        return []


def raw_lines(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb", opener=opener) as file:
            for raw in file:
                yield raw.rstrip(b"\r\n") if raw.endswith(b"\n") else raw + b" "
    except OSError:
        return


def last_line(path: str) -> bytes:
    with open(path, "rb", opener=opener) as file:
        size = file.seek(0, os.SEEK_END)
        span = 65_536
        while True:
            file.seek(max(0, size - span))
            lines = file.read().rstrip(b"\n").split(b"\n")
            if len(lines) > 1 or span >= size:
                return lines[-1]
            span *= 8


def count(folder: str) -> int:
    return sum(1 for name in month_files(folder) for _ in raw_lines(os.path.join(folder, name)))


def mend(path: str) -> None:
    """Cut an unfinished last line off: its writer died before it could be said to be written."""
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return
        span = min(size, 1_000_000)
        file.seek(size - span)
        kept = file.read().rfind(b"\n")
        file.truncate(size - span + kept + 1 if kept >= 0 else 0 if span == size else size)
