"""The index's file as hooks use it: read where it lies, never built and never waited for, and every hit taken from the
live file. Without an index the memories themselves are read, and notes are left out.
"""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

    from vaultcore.memory.store import Store

PATIENCE = 0.05  # seconds for another process's transaction
_ID = re.compile(r"m-[0-9a-z]{12}\Z")


class Shelf:
    """Questions to the index of the vault at `root`; every one answers [] when the file is missing, busy or foreign."""

    __slots__ = ("_connection", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        self._connection = _open(root)

    @property
    def there(self) -> bool:
        """Whether there is an index that has been through the vault."""
        return bool(self.ask("select 1 from meta where key='generation' and value>0"))

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        import sqlite3

        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error:
            return []

    def with_paths(self) -> list[tuple[str, bool, dict[str, Any]]]:
        """(rel, whether it is a memory, properties) of everything that declares paths and is not private."""
        rows = self.ask(
            "select rel, kind, properties from notes"
            " where gone=0 and conflict=0 and private is null and instr(properties, '\"paths\"') order by rel"
        )
        return [(rel, kind == "memory", json.loads(properties)) for rel, kind, properties in rows]

    def notes_of(self, name: str) -> list[str]:
        """The notes that may be called `name`, by file name or alias."""
        from vaultcore.text import key

        rows = self.ask(
            "select distinct n.rel from names k join notes n on n.id=k.note"
            " where k.key=? and n.kind='note' and n.gone=0 order by n.rel",
            key(name),
        )
        return [rel for (rel,) in rows]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # -- memories -------------------------------------------------------------------------------------------------

    def freshen(self, folder: str) -> int:
        """Bring the index's memories up to the files, and say how many were behind: what was written past us
        must neither be missed nor believed."""
        held = {rel: (size, mtime) for rel, size, mtime in self.ask(
            "select rel, size, mtime_ns from notes where kind='memory' and gone=0"
        )}  # fmt: skip
        found = dict(_listing(self.root, folder))
        changed = [rel for rel, state in found.items() if held.get(rel) != state]
        changed += [rel for rel in held if rel not in found]
        if changed and self._connection is not None:
            from vaultcore.index import open_index

            index = open_index(self.root)
            try:
                index.update(changed[:2_000])
            finally:
                index.close()
        return len(changed)

    def store(self, folder: str, wanted: Iterable[str]) -> Store:
        """The memories `wanted`, read from their files, with all that bears on their standing: what replaces them, what
        they replace, what disputes them, and so on. All memories where titles link them (an older format)."""
        from vaultcore.memory.store import Store

        store = Store(self.root, folder)
        rels = self._bearing(set(wanted))
        if rels is None:
            store.refresh()
        else:
            store.reread(sorted(rels))
        return store

    def _bearing(self, wanted: set[str]) -> set[str] | None:
        if not self.there:
            return None
        from vaultcore.memory.record import target
        from vaultcore.properties import as_list

        rows = self.ask(
            "select rel, note_id, properties from notes where kind='memory' and gone=0 and conflict=0"
            " and (instr(properties, '\"supersede') or instr(properties, 'disputes '))"
        )
        ties: list[tuple[str, str]] = []
        for rel, _, properties in rows:
            values = json.loads(properties)
            entries = [*_listed(as_list, values, "supersedes"), *_listed(as_list, values, "superseded_by")]
            entries += [flag[9:] for flag in _listed(as_list, values, "flags") if flag.startswith("disputes ")]
            for entry in entries:
                key = target(" ".join(entry.split()))
                if not _ID.match(key):
                    return None
                ties.append((rel, key))
        if not ties:
            return wanted
        named: dict[str, list[str]] = {}
        for rel, key in self.ask(
            "select rel, note_id from notes where kind='memory' and gone=0 and conflict=0 and note_id is not null"
        ):
            named.setdefault(key, []).append(rel)
        beside: dict[str, set[str]] = {}
        for rel, key in ties:
            for other in named.get(key, ()):
                beside.setdefault(rel, set()).add(other)
                beside.setdefault(other, set()).add(rel)
        queue = list(wanted)
        while queue:
            for other in beside.get(queue.pop(), ()):
                if other not in wanted:
                    wanted.add(other)
                    queue.append(other)
        return wanted


def _listed(as_list: Any, values: dict[str, Any], key: str) -> list[str]:
    value = values.get(key)
    return list(as_list(value)) if isinstance(value, (str, list)) else []


def _open(root: str) -> sqlite3.Connection | None:
    from vaultcore import places
    from vaultcore.errors import VaultError

    try:
        path = os.path.join(places.cache(root), "index.sqlite")
    except VaultError:
        return None
    if not os.path.isfile(path):
        return None
    import sqlite3

    plain = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23").replace("\\", "/")
    address = "file:" + (plain if plain.startswith("/") else "/" + plain) + "?mode=ro"
    try:
        return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    except sqlite3.Error:
        return None


def _listing(root: str, folder: str) -> Iterable[tuple[str, tuple[int, int]]]:
    """(rel, (size, mtime)) of the files below the memory folder that may be memories."""
    stack = [folder]
    while stack:
        at = stack.pop()
        try:
            with os.scandir(os.path.join(root, at)) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(f"{at}/{entry.name}")
                    elif entry.name[-3:].lower() == ".md" and entry.is_file(follow_symlinks=False):
                        state = entry.stat()
                        yield f"{at}/{entry.name}", (state.st_size, state.st_mtime_ns)
        except OSError:
            continue
