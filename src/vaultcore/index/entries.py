"""One file into the index: read, parsed, and written as rows in the caller's transaction."""

from __future__ import annotations

import json
import os

from vaultcore import text
from vaultcore.chunks import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from vaultcore.notes import Note

LONGEST = 16_000_000  # bytes of one file that are looked at
PROPERTIES = 16_000  # characters of a note's properties as JSON
MOST_LINKS = 5_000
MEMORY_BODY = 64_000  # characters of a memory's body that are kept
_COLUMNS = (
    "key, kind, size, mtime_ns, ino, sha, seen_ns, gone, title, note_id, description, private, conflict, state,"
    " problem, aliases, tags, properties, headings"
)
_MARKS = ",".join("?" * 21)
_ASSIGNED = ", ".join(f"{name}=?" for name in [*_COLUMNS.split(", "), "gen"])
PATH, ID, TITLE, STEM, ALIAS = range(5)  # kinds of names, in the order in which they win


class Source:
    """The bytes of one file, and the state they were read in."""

    __slots__ = ("rel", "data", "size", "mtime_ns", "ino", "sha", "seen_ns")

    def __init__(self, rel: str, data: bytes, state: os.stat_result, seen_ns: int) -> None:
        from hashlib import sha256

        self.rel, self.data, self.seen_ns = rel, data, seen_ns
        self.size, self.mtime_ns, self.ino = state.st_size, state.st_mtime_ns, state.st_ino & 0x7FFFFFFFFFFFFFFF
        self.sha = sha256(data).hexdigest()


def load(root: str, rel: str) -> Source | None:
    """The file `rel`, at most LONGEST bytes of it; None when it is gone or can't be read."""
    import time

    seen = time.time_ns()
    try:
        fd = os.open(os.path.join(root, rel), os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    try:
        state = os.fstat(fd)
        if (state.st_mode & 0o170000) != 0o100000:
            return None
        pieces, left = [], min(LONGEST, state.st_size)
        while left > 0 and (piece := os.read(fd, min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
        return Source(rel, b"".join(pieces), state, seen)
    except OSError:
        return None
    finally:
        os.close(fd)


def erase(connection: sqlite3.Connection, note: int, full_text: bool = True, trigrams: bool = True) -> None:
    """Take everything about note number `note` out, its row in `notes` excepted."""
    if full_text:
        connection.execute("delete from fts where rowid in (select id from chunks where note=?)", (note,))
        connection.execute("delete from recollection where rowid=?", (note,))
    if trigrams:
        connection.execute("delete from tri where rowid between ? and ?", (note * 8, note * 8 + 7))
    for table in ("chunks", "names", "tags", "memories"):
        connection.execute(f"delete from {table} where note=?", (note,))
    connection.execute("delete from links where source=?", (note,))


class Entry:
    """Everything the index will hold about one file, worked out before any lock is taken."""

    __slots__ = ("source", "memory", "row", "links", "tags", "names", "body", "recollection", "chunks")

    def __init__(self, source: Source, memory: bool) -> None:
        from vaultcore import notes, walk
        from vaultcore.links import file_key
        from vaultcore.markdown import parse

        self.source, self.memory = source, memory
        rel = source.rel
        note = notes.parse(rel, source.data, source.size, source.mtime_ns)
        body_at = max(0, note.properties.body)
        document = parse(text.clean(note.text), body_at)
        self.tags = _tags(note.tags, document.tags)
        problem = "; ".join(p.sentence() for p in note.problems[:3])[:1000] or None
        if source.size > len(source.data):
            problem = f"{rel}: only the first {LONGEST // 1_000_000} MB are indexed"
        aliases = [text.clean(a)[:500] for a in note.aliases[:200]]
        values = _json(note.properties.values)
        if not memory and len(values) > PROPERTIES:
            values = "{}"
        self.row = (
            file_key(rel), "memory" if memory else "note", source.size, source.mtime_ns, source.ino, source.sha,
            source.seen_ns, 0, text.clean(note.title)[:1000], note.id and text.clean(note.id)[:500],
            _line(note.properties.values.get("description")), note.private,
            int(walk.is_conflict(rel.rsplit("/", 1)[-1])), note.properties.state, problem, _json(aliases),
            _json(self.tags), values, _json([(h.level, h.text[:300], h.line) for h in document.headings[:200]]),
        )  # fmt: skip
        self.links = [
            (i, link_key(k.raw), k.raw, k.alias, k.embed, k.kind, k.line, k.in_properties)
            for i, k in enumerate(document.links[:MOST_LINKS])
        ]
        self.names = [(key, kind) for key, kind in _names(note, rel, aliases) if key]
        nested = [part for tag in self.tags if "/" in tag for part in tag.split("/")]
        names = text.segment(" ".join([text.name_words(rel[:-3]), *aliases, *self.tags, *nested]))
        title = text.segment(note.title)
        self.body = text.clean(note.text[body_at:])[:MEMORY_BODY] if memory else ""
        self.recollection = (title, names, text.segment(self.body)) if memory else None
        self.chunks: list[tuple[str, int, int, str, str, str, str]] = []
        if not memory and not note.private:
            # What no caller may see is not in the full text either: it can neither be ranked nor counted.
            self.chunks = [
                (c.heading[:500], c.line0, c.line1, title, text.segment(c.heading), names, text.segment(c.text))
                for c in cut(document, note.title)
            ]

    def write(self, connection: sqlite3.Connection, generation: int, full_text: bool, trigrams: bool) -> int:
        """Write it in place of what the index holds about the file; returns the note's number."""
        rel = self.source.rel
        found = connection.execute("select id from notes where rel=?", (rel,)).fetchone()
        if found:
            number: int = found[0]
            erase(connection, number, full_text, trigrams)
            connection.execute(f"update notes set {_ASSIGNED} where id=?", (*self.row, generation, number))
        else:
            added = connection.execute(
                f"insert into notes({_COLUMNS}, gen, rel) values({_MARKS})", (*self.row, generation, rel)
            )
            number = added.lastrowid or 0
        many = connection.executemany
        if self.links:
            many("insert into links values(?,?,?,?,?,?,?,?,?)", [(number, *link) for link in self.links])
        if self.tags:
            many("insert or ignore into tags values(?,?)", [(t.casefold(), number) for t in self.tags])
        many("insert or ignore into names values(?,?,?)", [(key, number, kind) for key, kind in self.names])
        if self.recollection is not None:
            connection.execute("insert or replace into memories values(?,?)", (number, self.body))
            if full_text:
                connection.execute(
                    "insert into recollection(rowid, title, names, body) values(?,?,?,?)", (number, *self.recollection)
                )
        if self.chunks:
            first = connection.execute("select coalesce(max(id), 0) + 1 from chunks").fetchone()[0]
            many(
                "insert into chunks(id, note, ord, heading, line0, line1) values(?,?,?,?,?,?)",
                [(first + i, number, i, *c[:3]) for i, c in enumerate(self.chunks)],
            )
            if full_text:
                many(
                    "insert into fts(rowid, title, heading, names, body) values(?,?,?,?,?)",
                    [(first + i, *c[3:]) for i, c in enumerate(self.chunks)],
                )
            if trigrams:
                near = [*dict.fromkeys(key for key, kind in self.names if kind != PATH and 3 <= len(key) <= 200)][:8]
                many(
                    "insert into tri(rowid, key, note) values(?,?,?)",
                    [(number * 8 + i, k, number) for i, k in enumerate(near)],
                )
        return number


def _names(note: Note, rel: str, aliases: list[str]) -> list[tuple[str, int]]:
    stem = rel.rsplit("/", 1)[-1][:-3]
    return [
        (text.key(rel), PATH),
        (text.key(rel[:-3]), PATH),
        (text.key(note.id or ""), ID),
        (text.key(note.title)[:500], TITLE),
        (text.key(stem), STEM),
        *((text.key(a), ALIAS) for a in aliases),
    ]


def link_key(raw: str) -> str:
    """The folded file name a link looks for, without `.md` and without what follows the first `#`."""
    from vaultcore.links import stem

    return stem(text.fold(raw.partition("#")[0].rsplit("/", 1)[-1]))


def _tags(declared: list[str], found: list[str]) -> list[str]:
    seen: dict[str, str] = {}
    for tag in [*declared, *found]:
        tag = text.clean(tag).lstrip("#").strip("/ ")[:200]
        if tag:
            seen.setdefault(tag.casefold(), tag)
    return list(seen.values())[:500]


def _line(value: object) -> str | None:
    """A property as one bounded line of text, None if it is no scalar."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return " ".join(text.clean(str(value)).split())[:1000] or None


def _json(value: object) -> str:
    """JSON that SQLite can hold: lone surrogates are escaped, what JSON does not know becomes text."""
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    try:
        return json.dumps(value, ensure_ascii=True, default=str, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "{}" if isinstance(value, dict) else "[]"
