"""Parsed memories kept between processes, so that a session's first recall does not parse thousands of files. Derived:
each row counts only while its file has the size and time it was parsed at; anything odd is parsed anew."""

from __future__ import annotations

import json
import os

from . import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .record import Record

VERSION = 1
FEWEST = 200  # fewer changed files than this are parsed faster than the snapshot is written
_PLAIN = (
    "rel size mtime_ns key id title body date description source origin session scope projects platforms paths aliases "
    "confidence claimed_confidence claimed_scope flags valid_from valid_until recorded_at retired_at declared about "
    "supersedes superseded_by promoted external_id private problems"
).split()


def path(root: str) -> str:
    from vaultcore import places

    return os.path.join(places.cache(root), "memory-records.json")


def load(root: str) -> dict[str, Record]:
    """What the snapshot holds, by path; empty when there is none that can be used."""
    try:
        with open(path(root), "rb") as file:
            data = json.loads(file.read())
        if data["version"] != VERSION or data["fields"] != _PLAIN:
            return {}
        return {row[0]: _made(row) for row in data["rows"]}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}


def save(root: str, records: Iterable[Record]) -> None:
    """Keep `records`; a cache that cannot be written only costs time."""
    from vaultcore.errors import VaultError

    rows = [[getattr(r, name) for name in _PLAIN] for r in records]
    try:
        target = path(root)
        draft = f"{target}.{os.getpid()}"
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(json.dumps({"version": VERSION, "fields": _PLAIN, "rows": rows}, default=str).encode())
        os.replace(draft, target)
    except (OSError, ValueError, TypeError, VaultError):
        return


def drop(root: str) -> None:
    """Forget the snapshot: it holds the text of memories."""
    try:
        os.unlink(path(root))
    except OSError:
        return


def _made(row: list[object]) -> Record:
    r = record.Record()
    for name, value in zip(_PLAIN, row):
        setattr(r, name, value)
    record.complete(r)
    return r
