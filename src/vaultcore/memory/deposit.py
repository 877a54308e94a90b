"""Writing the snapshot of memories: the file in place copied, what has changed since put right in it, the copy put in
its place. So the cost is that of what is new, and nobody who reads the old one notices."""

from __future__ import annotations

import json
import os

from . import lexicon, tables
from .snapshot import ABOUT, BODY, MARK, OPENING, PLAIN, TITLE, WORD, array_of, clear, digest, drop, packed, path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from array import array

    from .record import Record

_CHUNK = 500  # memories whose words are written at once
_TABLES = """
create table mark(text text not null, top int not null);
create table docs(number integer primary key, rel text not null unique, size int not null,
  mtime_ns int not null, length int not null, facts text not null,
  description blob not null, body blob not null);
create table terms(kind int not null, term blob not null, docs blob not null, primary key(kind, term)) without rowid;
"""


def save(root: str, served: dict[str, Record], proposed: dict[str, Record]) -> bool:
    """Put a snapshot of these records in place; the `served` ones are found by their words, the `proposed` only kept
    parsed. False for a cache that cannot be written, which only costs time."""
    import sqlite3

    from vaultcore.errors import VaultError

    draft = ""
    try:
        target = path(root)
        draft = f"{target}.{os.getpid()}"
        clear(draft)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection = _begun(target, draft)
        try:
            _fill(connection, served, proposed)
            connection.execute("commit")
        finally:
            connection.close()
        drop(root)
        os.replace(draft, target)
    except (sqlite3.Error, OSError, ValueError, TypeError, VaultError):
        clear(draft)
        return False
    return True


def _begun(target: str, draft: str) -> sqlite3.Connection:
    """A copy of the snapshot in place, or an empty one when there is none to go on from."""
    import shutil
    import sqlite3

    for known in (True, False):
        if known:
            try:
                shutil.copyfile(target, draft)
            except OSError:
                continue
        else:
            open(draft, "wb").close()
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            for pragma in ("journal_mode=off", "synchronous=off", "secure_delete=on", "cache_size=-4000"):
                connection.execute(f"pragma {pragma}")
            connection.execute("begin")
            if not known:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute("insert into mark values(?, 0)", (MARK,))
                return connection
            [(mark, top)] = connection.execute("select text, top from mark").fetchall()
            [(held,)] = connection.execute("select count(*) from docs").fetchall()
            if mark == MARK and top <= 2 * held:  # else most of it is about what is no more
                return connection
        except (sqlite3.Error, ValueError):
            if not known:
                connection.close()
                raise
        connection.close()
    raise OSError("no draft")


def _fill(connection: sqlite3.Connection, served: dict[str, Record], proposed: dict[str, Record]) -> None:
    left: dict[str, Record] = {**served, **proposed}
    for number, rel, size, mtime_ns in connection.execute("select number, rel, size, mtime_ns from docs").fetchall():
        r = left.get(rel)
        if r is not None and (r.size, r.mtime_ns) == (size, mtime_ns):
            del left[rel]
        else:
            connection.execute("delete from docs where number=?", (number,))
    [(top,)] = connection.execute("select top from mark").fetchall()
    added = list(left.values())
    for at in range(0, len(added), _CHUNK):
        _add(connection, top + at, added[at : at + _CHUNK], served)
    connection.execute("update mark set top=?", (top + len(added),))


def _add(connection: sqlite3.Connection, first: int, records: list[Record], served: dict[str, Record]) -> None:
    pending: dict[tuple[int, bytes], array[int]] = {}

    def note(kind: int, term: str, *numbers: int) -> None:
        pending.setdefault((kind, packed(term)), array_of([])).extend(numbers)

    for number, r in enumerate(records, first):
        length, body = 0, r.body
        if r.rel in served:
            counts = lexicon.counted(r)
            length = sum(counts.values())
            for word, n in counts.items():
                note(WORD, word, number, n)
            keys = tables.Keys(r)
            for bucket in keys.buckets:
                note(OPENING, bucket, number)
            if keys.about:
                note(ABOUT, keys.about, number)
            note(BODY, digest(keys.body), number)
            for word in keys.words:
                note(TITLE, word, number)
        facts = json.dumps([getattr(r, name) for name in PLAIN], default=str)
        connection.execute(
            "insert into docs values(?,?,?,?,?,?,?,?)",
            (number, r.rel, r.size, r.mtime_ns, length, facts, packed(r.description), packed(body)),
        )
    for key, numbers in pending.items():
        row = connection.execute("select docs from terms where kind=? and term=?", key).fetchone()
        data = (row[0] if row else b"") + numbers.tobytes()
        connection.execute("insert or replace into terms values(?,?,?)", (*key, data))
