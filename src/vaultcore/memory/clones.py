"""The log files of one clone on disk, and the id that tells clones apart."""

from __future__ import annotations

import os
import re

from . import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MONTH = re.compile(r"^\d{4}-\d{2}\.jsonl$")


def clone_id(root: str) -> str:
    from vaultcore import places
    from vaultcore.write import revision

    real = os.path.realpath(root)
    mark = revision(os.fsencode(real))[:16]
    git = os.path.join(real, ".git")
    folder = git if os.path.isdir(git) else places.cache(root)
    path = os.path.join(folder, "om-writer")
    for _ in range(3):
        try:
            with open(path, encoding="ascii") as file:
                name, where = file.read().split()
            if where == mark and re.match(r"^[0-9a-z]{10}$", name):
                return name
            os.unlink(path)
        except (OSError, ValueError):
            pass
        try:
            temp = f"{path}.{os.getpid()}"
            with open(temp, "w", encoding="ascii") as file:
                file.write(f"{record.new_id()[2:12]} {mark}\n")
            try:
                os.link(temp, path)
            except FileExistsError:
                pass
            except OSError:
                os.replace(temp, path)
                continue
            os.unlink(temp)
        except OSError:
            break
    return "w" + mark[:9]


def month_files(folder: str) -> list[str]:
    try:
        return sorted(n for n in os.listdir(folder) if _MONTH.match(n))
    except OSError:
        return []


def raw_lines(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            for raw in file:
                yield raw.rstrip(b"\r\n") if raw.endswith(b"\n") else raw + b" "
    except OSError:
        return


def last_line(path: str) -> bytes:
    with open(path, "rb") as file:
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
