"""The tables of an index file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

VERSION = 1  # raise it with every change of tables, of text.segment or of chunks.cut
TOKENIZE = "tokenize=\"porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'\""

TABLES = """
create table meta(key text primary key, value) without rowid;
create table notes(
  id integer primary key, rel text not null unique, key text not null, kind text not null, size int not null,
  mtime_ns int not null, ino int not null, sha text not null, seen_ns int not null, gone int not null default 0,
  gen int not null, title text not null, note_id text, description text, private text, conflict int not null,
  state text not null, problem text, aliases text not null, tags text not null, properties text not null,
  headings text not null
);
create index notes_key on notes(key);
create index notes_gen on notes(gen);
create table names(key text not null, note int not null, kind int not null, primary key(key, note, kind)) without rowid;
create index names_note on names(note);
create table tags(tag text not null, note int not null, primary key(tag, note)) without rowid;
create index tags_note on tags(note);
create table links(
  source int not null, at int not null, key text not null, raw text not null, alias text, embed int not null,
  kind text not null, line int not null, in_properties int not null, primary key(source, at)
) without rowid;
create index links_key on links(key);
create table chunks(id integer primary key, note int not null, ord int not null, heading text not null,
  line0 int not null, line1 int not null);
create index chunks_note on chunks(note);
create table memories(note integer primary key, body text not null);
create table attachments(rel text primary key, key text not null) without rowid;
create index attachments_key on attachments(key);
insert into meta values('generation', 0), ('memories', 0), ('swept', 0), ('memory_root', ''), ('built', 0);
"""
FULL_TEXT = f"""
create virtual table fts using fts5(title, heading, names, body, {TOKENIZE});
create virtual table recollection using fts5(title, names, body, {TOKENIZE});
"""
TRIGRAMS = "create virtual table tri using fts5(key, note unindexed, tokenize='trigram')"


def make(connection: sqlite3.Connection) -> None:
    """Lay out the tables in an empty file; of two processes that do so at once the second finds it done.

    Raises sqlite3.DatabaseError for a file that holds anything else, another version included. Without FTS5 the tables
    for full text are left out.
    """
    import sqlite3

    connection.execute("begin immediate")
    try:
        version = connection.execute("pragma user_version").fetchone()[0]
        if version != VERSION:
            held = connection.execute("select count(*) from sqlite_master").fetchone()[0]
            if version or held:
                raise sqlite3.DatabaseError(f"made by another version ({version} instead of {VERSION})")
            _run(connection, TABLES)
            for optional in (FULL_TEXT, TRIGRAMS):
                try:
                    _run(connection, optional)
                except sqlite3.OperationalError as error:
                    if "no such" not in str(error):
                        raise
            connection.execute(f"pragma user_version={VERSION}")
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def lanes(connection: sqlite3.Connection) -> tuple[bool, bool]:
    """Whether the file has tables for full text, and for trigrams of names."""
    names = {row[0] for row in connection.execute("select name from sqlite_master where type='table'")}
    return "fts" in names, "tri" in names


def _run(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        if statement.strip():
            connection.execute(statement)
