"""Files outside the vault that a person asked us to write: read, changed atomically, and taken back."""

from __future__ import annotations

import base64
import difflib
import hashlib
import os
from dataclasses import dataclass, field

from vaultcore.errors import VaultError

LIMIT = 50_000_000


@dataclass
class Change:
    """One file before and after; None means: not there. `agents` are those that need it."""

    path: str
    before: bytes | None
    after: bytes | None
    agents: list[str] = field(default_factory=list)

    def diff(self) -> str:
        """A unified diff; for a file with more than 200 changed lines only its head."""
        old, new = (_lines(data) for data in (self.before, self.after))
        names = ("/dev/null" if self.before is None else self.path, "/dev/null" if self.after is None else self.path)
        lines = list(difflib.unified_diff(old, new, *names, lineterm=""))
        hidden = len(lines) - 200
        return "\n".join(lines[:200]) + (f"\n… {hidden} more lines" if hidden > 0 else "")


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "replace").splitlines()


def read(path: str) -> bytes | None:
    """The bytes at `path`, None when there is no file. Raises VaultError for what is no readable, sensible file."""
    try:
        if not os.path.lexists(path):
            return None
        if not os.path.isfile(path):
            raise VaultError(f"{path} is not a file: move it away and run this again")
        if os.path.getsize(path) > LIMIT:
            raise VaultError(f"{path} is larger than {LIMIT // 1_000_000} MB: it is left alone")
        with open(path, "rb") as handle:
            return handle.read()
    except OSError as error:
        raise VaultError(f"{path} cannot be read ({error.strerror}): make it readable and run this again") from error


def digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def install(path: str, before: bytes | None, after: bytes | None) -> list[str]:
    """Make `path` hold `after` (None: remove it), provided that it still holds `before`. Returns the folders it made.

    A link is followed, so that a file kept elsewhere stays where it is; mode bits stay; a reader sees one or the other.
    """
    target = os.path.realpath(path)
    if read(target) != before:
        raise VaultError(f"{path} changed in the meantime: nothing was written to it, run this again")
    if after is None:
        os.remove(target)
        return []
    folder = os.path.dirname(target)
    made: list[str] = []
    try:
        while not os.path.isdir(folder):
            made.insert(0, folder)
            folder = os.path.dirname(folder)
        for new in made:
            os.mkdir(new)
        _replace(target, after)
    except OSError as error:
        for new in reversed(made):
            _remove_folder(new)
        raise VaultError(f"{path} cannot be written ({error.strerror}): nothing was changed there") from error
    return made


def _replace(target: str, data: bytes) -> None:
    import tempfile

    mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else None
    handle, temporary = tempfile.mkstemp(prefix=".om-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def remove_folders(folders: list[str]) -> None:
    """Remove those of `folders` that are empty, deepest first."""
    for folder in sorted(folders, key=len, reverse=True):
        _remove_folder(folder)


def _remove_folder(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass


@dataclass
class Patch:
    """How to get from a file's later bytes back to its earlier ones, without keeping a copy of the whole: a user's
    configuration holds secrets that have no business in a second place."""

    at: int
    removed: bytes
    inserted: bytes

    @classmethod
    def between(cls, before: bytes, after: bytes) -> Patch:
        start = len(os.path.commonprefix([before, after]))
        end = len(os.path.commonprefix([before[start:][::-1], after[start:][::-1]]))
        return cls(start, before[start : len(before) - end], after[start : len(after) - end])

    def back(self, after: bytes) -> bytes | None:
        """The earlier bytes; also of a file edited elsewhere since, if what we wrote is there exactly once."""
        at = self.at
        if after[at : at + len(self.inserted)] != self.inserted:
            if not self.inserted.strip() or after.count(self.inserted) != 1:
                return None
            at = after.index(self.inserted)
        return after[:at] + self.removed + after[at + len(self.inserted) :]

    def to_json(self) -> dict[str, object]:
        removed, inserted = (base64.b64encode(part).decode() for part in (self.removed, self.inserted))
        return {"at": self.at, "removed": removed, "inserted": inserted}

    @classmethod
    def from_json(cls, raw: dict[str, object]) -> Patch:
        removed, inserted = (base64.b64decode(str(raw[key])) for key in ("removed", "inserted"))
        return cls(int(str(raw["at"])), removed, inserted)
