"""What was asked and answered, kept outside the notes: one private file for each answer, a bounded number of them.

The files lie in `.om/reasoning/` of the vault (ignored by git, because they quote notes), else in the vault's cache
folder. They are never read as notes or memories: an answer is inferred, and stays so.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from typing import Any

from vaultcore import places

KEPT = 200


def folders(root: str) -> Iterator[str]:
    """Where records may lie, best first."""
    if os.path.isdir(root):
        yield os.path.join(root, ".om", "reasoning")
    yield os.path.join(places.cache(root), "reasoning")


def keep(root: str, record: dict[str, Any]) -> str:
    """Write one record under a name that nobody has and return its path. Raises OSError when no folder takes it."""
    data = json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"
    trouble = OSError("there is no folder for it")
    for folder in folders(root):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            path = _write(folder, data)
        except OSError as error:
            trouble = error
            continue
        prune(folder)
        return path
    raise trouble


def _write(folder: str, data: bytes) -> str:
    stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
    while True:
        path = os.path.join(folder, f"{stamp}-{secrets.token_hex(3)}.json")
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except FileExistsError:
            continue
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
        except OSError:
            os.unlink(path)
            raise
        return path


def names(folder: str) -> list[str]:
    """The records of a folder, oldest first."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in found if name[:2] == "20" and name.endswith(".json"))


def prune(folder: str) -> None:
    """Remove the oldest records over the bound. Never raises."""
    for name in names(folder)[:-KEPT]:
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            return
