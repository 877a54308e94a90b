"""One note: its bytes read once, its properties, title, names, tags and privacy."""

from __future__ import annotations

import os
import re

from vaultcore import private, properties, walk
from vaultcore.errors import Problem, VaultError

_HEADING = re.compile(r"^ {0,3}(?:(```+|~~~+)|#[ \t]+(.+?)[ \t]*#*[ \t]*\r?$)", re.MULTILINE)
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029]+"
_TITLE_WINDOW = 20_000


class Note:
    """A note as it was read: `text` without byte order mark, `tags` without #, `private` the reason or None.

    `body_line` is the number (from 1) of the line on which the body starts.
    """

    __slots__ = (
        "aliases", "body_line", "id", "mtime_ns", "private", "problems", "properties", "rel", "size", "tags", "text",
        "title",
    )  # fmt: skip

    def __init__(self, rel: str, size: int, mtime_ns: int, text: str, props: properties.Properties) -> None:
        self.rel = rel
        self.size = size
        self.mtime_ns = mtime_ns
        self.text = text
        self.properties = props
        self.title = _title(rel, text, props)
        self.aliases = _names(props, ("aliases", "alias"))
        self.tags = _tags(props)
        self.id = _id(props)
        self.private = private.why_private(props)
        self.problems: list[Problem] = [problem.at(rel) for problem in props.problems]
        self.body_line = text.count("\n", 0, props.body) + 1

    @property
    def body(self) -> str:
        """The text below the properties."""
        return self.text[self.properties.body :]


def read(root: str, rel: str, limit: int = 2_000_000) -> Note:
    """Read the note `rel`; of a longer file only the first `limit` bytes, with a problem that says so.

    Raises VaultError when it is gone, is no plain file, cannot be read or lies outside the vault.
    """
    path = walk.contained(root, rel)
    if path is None:
        raise VaultError(f"{rel} is not a place in the vault: give a path inside it.")
    data, size, mtime_ns = load(path, rel, root, limit)
    return parse(rel, data, size, mtime_ns)


def parse(rel: str, data: bytes, size: int, mtime_ns: int) -> Note:
    """Build the note `rel` from its bytes (fewer than `size` when the file was cut)."""
    cut = len(data) < size
    if cut:
        data = _whole_characters(data)
    text, remark = properties.decode(data)
    note = Note(rel, size, mtime_ns, text, properties.read(text))
    if remark:
        note.problems.append(Problem(rel, remark))
    if cut:
        note.problems.append(Problem(rel, f"only the first {len(data):,} of {size:,} bytes were read"))
    return note


def load(path: str, rel: str, root: str, limit: int) -> tuple[bytes, int, int]:
    """Return up to `limit` bytes, the size and the mtime of one consistent version of a plain file."""
    try:
        for _ in range(3):
            # Never blocks on a pipe, never follows what was swapped in for a file.
            fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
            with open(fd, "rb", closefd=True) as file:
                before = os.fstat(fd)
                if (before.st_mode & 0o170000) != 0o100000:
                    raise VaultError(f"{rel} is not a plain file: name a note.")
                data = file.read(limit)
                after = os.fstat(fd)
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                break
        return data, max(after.st_size, len(data)), after.st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.isdir(root):
            raise VaultError(f"The vault {root} is not there: check whether it was moved or unmounted.") from None
        raise VaultError(f"{rel} is not there: it may have been moved or deleted.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise VaultError(f"{rel} cannot be read ({reason}): check its permissions.") from error


def flat(text: str) -> str:
    """Return `text` on one line without control characters."""
    if not text.isprintable():
        text = re.sub(_CONTROL, " ", text)
    return " ".join(text.split())


def _whole_characters(data: bytes) -> bytes:
    """Drop a UTF-8 character that the cut went through."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
        if byte < 0x80:
            break
    return data


def _title(rel: str, text: str, props: properties.Properties) -> str:
    named = props.get("title")
    if isinstance(named, (str, int, float)) and not isinstance(named, bool):
        title = flat(str(named))
        if title:
            return title
    return _heading(text, props.body) or rel.rsplit("/", 1)[-1][:-3] or rel


def _heading(text: str, start: int) -> str:
    """Return the first level-one heading outside code fences, "" if there is none near the top."""
    fence = ""
    for match in _HEADING.finditer(text, start, start + _TITLE_WINDOW):
        mark, heading = match.groups()
        if mark:
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        elif not fence:
            return flat(heading)
    return ""


def _names(props: properties.Properties, keys: tuple[str, ...]) -> list[str]:
    found: dict[str, None] = {}
    for key, value in props.values.items():
        if key.lower() in keys:
            for name in properties.as_list(value):
                found[flat(name)] = None
    return list(found)


def _tags(props: properties.Properties) -> list[str]:
    found: dict[str, str] = {}
    for text in _names(props, ("tags", "tag")):
        for tag in re.split(r"[,\s]+", text):
            name = tag.strip("#/ ")
            if name:
                found.setdefault(name.lower(), name)
    return list(found.values())


def _id(props: properties.Properties) -> str | None:
    value = props.values.get("id")
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value).strip() or None
    return None
