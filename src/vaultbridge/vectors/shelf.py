"""Where vectors lie: in a table of their own in the index file, by the file's hash and the number of the piece.

So a rename costs nothing, an edit costs that note, and a file in an older state finds its vectors again.
"""

from __future__ import annotations

import secrets
import sqlite3
from typing import TYPE_CHECKING, Any

from . import model

if TYPE_CHECKING:
    from vaultcore.index import Index

TABLE = (
    "create table if not exists vectors(id integer primary key, sha text not null, ord int not null, v blob not null,"
    " unique(sha, ord))"
)
PIECES = "from chunks c join notes n on n.id=c.note where n.gone=0 and n.kind='note' and n.private is null"
MISSING = (
    "from chunks c join notes n on n.id=c.note left join vectors v on v.sha=n.sha and v.ord=c.ord"
    " where v.id is null and n.gone=0 and n.kind='note' and n.private is null"
)


class Piece:
    """A piece of a note that has no vector yet."""

    __slots__ = ("heading", "line0", "line1", "ord", "rel", "sha", "title")

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.rel, self.sha, self.title, self.ord, self.heading, self.line0, self.line1 = row


def stamp(index: Index) -> str:
    """What changes when the vectors are others than before; "" when there are none of this model."""

    def read(connection: sqlite3.Connection) -> str:
        row = connection.execute("select value from meta where key='vectors'").fetchone()
        return str(row[0]) if row is not None else ""

    found = index.ask(read)
    return found if found.startswith(model.NAME + ":") else ""


def prepare(index: Index) -> None:
    """Make the table, empty when it holds another model's vectors."""
    if stamp(index):
        return

    def make(connection: sqlite3.Connection) -> None:
        connection.execute(TABLE)
        connection.execute("delete from vectors")
        mark = f"{model.NAME}:{secrets.token_hex(4)}"
        connection.execute("insert or replace into meta(key, value) values('vectors', ?)", (mark,))

    index.keep(make)


def counts(index: Index) -> tuple[int, int]:
    """(pieces without a vector, pieces). Only after `stamp` said that there is a table."""

    def count(connection: sqlite3.Connection) -> tuple[int, int]:
        missing, every = (connection.execute("select count(*) " + of).fetchone()[0] for of in (MISSING, PIECES))
        return missing, every

    return index.ask(count)


def missing(index: Index, most: int, without: set[str]) -> list[Piece]:
    """Pieces without a vector, those of the notes changed last first; `without` are hashes to leave out."""
    query = (
        f"select n.rel, n.sha, n.title, c.ord, c.heading, c.line0, c.line1 {MISSING}"
        " order by n.mtime_ns desc, n.id, c.ord limit ?"
    )
    found = index.ask(lambda c: [Piece(row) for row in c.execute(query, (most + 50 * len(without),))])
    return [piece for piece in found if piece.sha not in without][:most]


def put(index: Index, rows: list[tuple[str, int, bytes]]) -> None:
    """Keep vectors (hash, number of the piece, float16 bytes; no bytes: none can be made)."""

    def write(connection: sqlite3.Connection) -> None:
        connection.executemany("insert or ignore into vectors(sha, ord, v) values(?, ?, ?)", rows)

    index.keep(write)


def sweep(index: Index) -> None:
    """Drop the vectors of texts that no note holds any more."""
    index.keep(
        lambda c: c.execute("delete from vectors where sha not in (select sha from notes where gone=0)") and None
    )


def since(index: Index, last: int) -> list[tuple[int, str, int, bytes]]:
    """(id, hash, number, bytes) of the vectors behind `last`."""
    query = "select id, sha, ord, v from vectors where id>? and length(v)>0 order by id"
    return index.ask(lambda c: c.execute(query, (last,)).fetchall())
