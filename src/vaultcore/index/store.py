"""The index file: opened, made, found broken and made again; one connection for each thread that is in a call."""

from __future__ import annotations

import os

from vaultcore.errors import VaultError

from . import schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

BUSY = 5.0  # seconds a connection waits for another process's transaction


class Trouble(VaultError):
    """The index can't be used right now; the sentence says why and what happens next."""


class Store:
    """Connections to one index file. A file that is damaged, foreign, or of another version is replaced by an empty
    one.

    `path` None, or a folder that cannot hold the file, gives an index in memory for the life of the process.
    `remade` counts replacements; `notice` says in one sentence what was wrong last.
    """

    def __init__(self, path: str | None) -> None:
        import threading

        self.path = path
        self.notice = ""
        self.remade = 0
        self.full_text = True
        self.trigrams = True
        self._inode = 0
        self._idle: list[tuple[sqlite3.Connection, int]] = []
        self._lock = threading.RLock()
        self._memory: sqlite3.Connection | None = None
        self._mine = threading.local()

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Give `work` a connection. A broken file is replaced and `work` runs again on the new one; it must be
        repeatable.

        Raises Trouble when the file is locked for longer than BUSY, or the disk is full.
        """
        import sqlite3

        held: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if held is not None:
            return work(held)
        for _ in range(4):
            seen = self.remade
            try:
                connection = self._take()
            except (sqlite3.Error, UnicodeDecodeError) as error:
                self._mend(error, seen)
                continue
            if connection is self._memory:
                with self._lock:
                    return self._call(connection, work)
            try:
                result = self._call(connection, work)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                self._drop(connection)
                self._mend(error, seen)
                continue
            except BaseException:
                self._drop(connection)
                raise
            self._give(connection, seen)
            return result
        raise Trouble("the index keeps breaking while it is used: run `om refresh --rebuild` and look at the disk")

    def _call(self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
        self._mine.connection = connection
        try:
            return work(connection)
        finally:
            self._mine.connection = None

    def write(self, work: Callable[[sqlite3.Connection, int], T], news: Callable[[T], bool] | None = None) -> T:
        """Run `work(connection, generation)` in one transaction that other processes wait for; `generation` is its
        number.
        """

        def transaction(connection: sqlite3.Connection) -> T:
            connection.execute("begin immediate")
            try:
                generation = meta(connection, "generation") + 1
                result = work(connection, generation)
                if news is None or news(result):
                    connection.execute("update meta set value=? where key='generation'", (generation,))
                connection.execute("commit")
                return result
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise

        return self.run(transaction)

    def remake(self, why: str) -> None:
        """Throw the index away and start an empty one."""
        with self._lock:
            self._replace(why)

    def close(self) -> None:
        with self._lock:
            for connection, _ in self._idle:
                connection.close()
            self._idle.clear()
            if self._memory is not None:
                self._memory.close()
                self._memory = None

    def size(self) -> int:
        """Bytes on disk, 0 for an index in memory."""
        total = 0
        for suffix in ("", "-wal"):
            try:
                total += os.stat((self.path or "") + suffix).st_size if self.path else 0
            except OSError:
                pass
        return total

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._memory is not None:
                return self._memory
            if self.path and self._inode:
                inode, size = _state(self.path)
                if inode != self._inode:
                    self._forget()  # another process replaced the file, or somebody deleted it
                elif size < 512:
                    self._replace("the file was cut off")  # SQLite would wait for locks that nobody holds
            while self._idle:
                connection, made = self._idle.pop()
                if made == self.remade:
                    return connection
                connection.close()
            return self._open()

    def _give(self, connection: sqlite3.Connection, made: int) -> None:
        with self._lock:
            if made == self.remade and len(self._idle) < 4:
                self._idle.append((connection, made))
                return
        connection.close()

    @staticmethod
    def _drop(connection: sqlite3.Connection) -> None:
        import sqlite3

        try:
            connection.close()
        except sqlite3.Error:
            pass

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        if self.path is None:
            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            schema.make(self._memory)
            self.full_text, self.trigrams = schema.lanes(self._memory)
            return self._memory
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            return self._in_memory(f"{self.path} can't be written ({error.strerror})")
        connection = sqlite3.connect(self.path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("pragma synchronous=normal")
            connection.execute("pragma temp_store=memory")
            _log_ahead(connection)
            connection.execute("pragma journal_size_limit=16000000")
            version = connection.execute("pragma user_version").fetchone()[0]
            if version != schema.VERSION:
                schema.make(connection)
            self.full_text, self.trigrams = schema.lanes(connection)
        except BaseException:
            connection.close()
            raise
        self._inode, _ = _state(self.path)
        return connection

    def _mend(self, error: sqlite3.Error | UnicodeDecodeError, seen: int) -> None:
        """Decide what an SQLite error means: refuse, work in memory, or replace the file."""
        import sqlite3

        said = str(error)
        low = said.lower()
        if isinstance(error, (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.IntegrityError)):
            raise error
        if isinstance(error, UnicodeDecodeError):
            said, low = "its text is damaged", ""
        elif not isinstance(error, sqlite3.DatabaseError):
            raise error
        if "locked" in low or "busy" in low:
            raise Trouble("another process keeps the index locked: try again in a moment")
        elif "disk is full" in low:
            raise Trouble("the index can't be written because the disk is full: free some space")
        elif "readonly" in low or "unable to open" in low or "read-only" in low:
            with self._lock:
                self._in_memory(f"{self.path} can't be opened ({said})")
        elif low.startswith(("near ", "fts5:", "unterminated")):
            raise error  # our own statement is wrong: no reason to throw an index away
        else:
            with self._lock:
                if self.remade == seen:
                    self._replace(said)

    def _replace(self, why: str) -> None:
        for connection, _ in self._idle:
            self._drop(connection)
        self._idle.clear()
        self.notice = f"the index was rebuilt: {why}"
        self.remade += 1
        self._inode = 0
        if self._memory is not None:
            self._memory.close()
            self._memory = None
            return
        if self.path is None:
            return
        try:
            # The log first: a log that survives its file would be played into the next one.
            for suffix in ("-wal", "-shm", "-journal", ""):
                try:
                    os.unlink(self.path + suffix)
                except FileNotFoundError:
                    pass
        except OSError as error:
            self._in_memory(f"{self.path} is damaged and can't be removed ({error.strerror})")

    def _forget(self) -> None:
        for connection, _ in self._idle:
            self._drop(connection)
        self._idle.clear()
        self.remade += 1
        self._inode = 0

    def _in_memory(self, why: str) -> sqlite3.Connection:
        self.notice = f"{why}: the index lives in memory until that is mended"
        self.path = None
        self.remade += 1
        self._idle.clear()
        return self._open()


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. Two processes that do so at once get "locked" without any wait: so wait here."""
    import sqlite3
    import time

    for attempt in range(40):
        try:
            if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
                connection.execute("pragma journal_mode=wal")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == 39:
                raise
            time.sleep(0.05)


def meta(connection: sqlite3.Connection, key: str) -> Any:
    """One value of the index's own table; DatabaseError, as for any damage, when it is not there."""
    import sqlite3

    row = connection.execute("select value from meta where key=?", (key,)).fetchone()
    if row is None:
        raise sqlite3.DatabaseError(f"the index has lost its {key}")
    return row[0]


def _state(path: str) -> tuple[int, int]:
    try:
        state = os.stat(path)
        return state.st_ino, state.st_size
    except OSError:
        return -1, 0
