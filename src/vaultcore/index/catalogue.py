"""The index of one vault and what it answers: notes, names, links, tags, memories.
`freshness` keeps it up to the files."""

from __future__ import annotations

from .freshness import Freshness
from .rows import LinkRow, MemoryRow, Row, loads
from .store import meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from typing import Any, TypeVar

    from vaultcore.links import Resolver

    T = TypeVar("T")


class Index(Freshness):
    """The index of the vault at `root`. Safe to use from several threads and by several processes at once."""

    def ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query of a search lane on a connection of this index; raises Trouble when that can't be done."""
        return self._store.run(work)

    def keep(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction on what a search lane keeps for itself in this file; the notes are not touched,
        so nobody hears of a change."""
        return self._store.write(lambda connection, _: work(connection), news=lambda _: False)

    @property
    def generation(self) -> int:
        """Grows with every change of the index, by any process."""
        return self._generation

    @property
    def full_text(self) -> bool:
        return self._store.full_text

    @property
    def memories_version(self) -> int:
        """Grows with every change under the memory root."""
        return int(self.ask(lambda c: meta(c, "memories")))

    def _cached(self, name: str, version: int, make: Callable[[], T]) -> T:
        held = self._cache.get(name)
        if held is not None and held[0] == version:
            return held[1]  # type: ignore[no-any-return]
        value = make()
        self._cache[name] = (version, value)
        return value

    def notes(self) -> list[Row]:
        """Every note outside the memory root, private ones included, sorted by path."""
        query = f"select {Row.COLUMNS} from notes where kind='note' and gone=0 order by rel"
        more = self._more
        return self._cached(
            "notes", self._generation, lambda: self.ask(lambda c: [Row(r, more) for r in c.execute(query)])
        )

    def listing(
        self, keep: Callable[[str], bool], after: str = "", most: int = 1_000_000
    ) -> list[tuple[str, str, int]]:
        """(rel, title, size) of the notes that are not private and whose path `keep` wants, sorted by path: at most
        `most`, from behind the path `after`. What a list needs, without holding ten thousand rows from then on.
        """
        from itertools import islice

        query = (
            "select rel, title, size from notes"
            " where kind='note' and gone=0 and private is null and rel > ? order by rel"
        )

        def work(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
            return list(islice((row for row in connection.execute(query, (after,)) if keep(row[0])), most))

        return self.ask(work)

    def troubled(self) -> list[Row]:
        """The notes that are private, could not be read whole, or are conflict copies, sorted by path."""
        query = (
            f"select {Row.COLUMNS} from notes where kind='note' and gone=0"
            " and (private is not null or problem is not null or conflict) order by rel"
        )
        return self.ask(lambda c: [Row(row, self._more) for row in c.execute(query)])

    def note(self, rel: str) -> Row | None:
        """One note by its path as spelled on disk."""
        query = f"select {Row.COLUMNS} from notes where rel=? and gone=0"
        row = self.ask(lambda c: c.execute(query, (rel,)).fetchone())
        return Row(row, self._more) if row else None

    def _more(self, number: int) -> tuple[str, str]:
        query = "select properties, headings from notes where id=?"
        found: tuple[str, str] = self.ask(lambda c: c.execute(query, (number,)).fetchone()) or ("{}", "[]")
        return found

    def names(self) -> dict[str, list[str]]:
        """Folded title, stem, alias and id -> notes that have it (conflict copies left out)."""
        query = (
            "select k.key, n.rel from names k join notes n on n.id=k.note"
            " where k.kind>0 and n.gone=0 and n.kind='note' and n.conflict=0 order by k.key, n.rel"
        )
        found: dict[str, list[str]] = {}
        for key, rel in self.ask(lambda c: c.execute(query).fetchall()):
            rels = found.setdefault(key, [])
            if rel not in rels:
                rels.append(rel)
        return found

    def named(self, name: str) -> list[str]:
        """The notes (or memories) that `name` means: by path, else id, else title or file name, else the end of a path,
        else alias; only those of the first kind that has any, conflict copies only when there is nothing else."""
        from vaultcore import text

        key = text.key(name)
        bare = key[:-3] if key.endswith(".md") else key
        query = (
            "select n.rel, k.kind, n.conflict from names k join notes n on n.id=k.note"
            " where k.key in (?,?) and n.gone=0 order by n.kind desc, n.rel"
        )
        rows = self.ask(lambda c: c.execute(query, (key, bare)).fetchall())
        for kinds in ((0,), (1,), (2, 3)):
            found = [row for row in rows if row[1] in kinds]
            if found:
                whole = [rel for rel, _, conflict in found if not conflict]
                return list(dict.fromkeys(whole or [row[0] for row in found]))
        place = self.resolver().resolve(name)
        if place.kind in ("name", "path", "suffix", "alias"):
            return [rel for rel in place.candidates if rel[-3:].lower() == ".md"]
        return list(dict.fromkeys(row[0] for row in rows))

    def similar(self, name: str, limit: int = 5) -> list[str]:
        """Notes whose title, file name, alias or id is spelled much like `name`, best first."""
        from .near import similar

        return similar(self, name, limit)

    def resolver(self) -> Resolver:
        """A link resolver over all notes, memories and attachments, answered from the index."""
        from vaultcore.links import Resolver

        def files_named(key: str) -> list[str]:
            query = "select rel from notes where key=? and gone=0 union select rel from attachments where key=?"
            return [row[0] for row in self.ask(lambda c: c.execute(query, (key, key)).fetchall())]

        def notes_called(key: str) -> list[str]:
            query = "select n.rel from names k join notes n on n.id=k.note where k.key=? and k.kind=4 and n.gone=0"
            return [row[0] for row in self.ask(lambda c: c.execute(query, (key,)).fetchall())]

        def stems() -> list[tuple[str, str]]:
            query = "select k.key, n.rel from names k join notes n on n.id=k.note where k.kind>1 and n.gone=0"
            return self.ask(lambda c: c.execute(query).fetchall())

        return Resolver(files_named=files_named, notes_called=notes_called, stems=stems)

    def links_from(self, rel: str) -> list[LinkRow]:
        """The links in a note, in order."""
        query = (
            "select n.rel, l.raw, l.alias, l.embed, l.kind, l.line, l.in_properties from notes n join links l on"
            " l.source=n.id"
            " where n.rel=? and n.gone=0 order by l.at"
        )
        return [LinkRow(*row) for row in self.ask(lambda c: c.execute(query, (rel,)).fetchall())]

    def links(self) -> list[LinkRow]:
        """Every link of every note and memory, by note."""
        query = (
            "select n.rel, l.raw, l.alias, l.embed, l.kind, l.line, l.in_properties from notes n join links l on"
            " l.source=n.id"
            " where n.gone=0 order by n.rel, l.at"
        )
        return [LinkRow(*row) for row in self.ask(lambda c: c.execute(query).fetchall())]

    def links_to(self, rel: str) -> list[str]:
        """The notes that link to `rel` by path, name or alias, sorted; not `rel` itself."""
        from vaultcore import text
        from vaultcore.links import file_key, stem

        row = self.note(rel)
        name = file_key(rel)
        keys = {name, stem(name), stem(name).partition("#")[0].strip()}
        if row is not None:
            keys.update(text.fold(alias.partition("#")[0].rsplit("/", 1)[-1]) for alias in row.aliases)
        marks = ",".join("?" * len(keys))
        query = (
            "select distinct n.rel, l.raw from links l join notes n on n.id=l.source"
            f" where l.key in ({marks}) and n.gone=0"
        )
        resolver = self.resolver()
        found = {
            source
            for source, raw in self.ask(lambda c: c.execute(query, tuple(keys)).fetchall())
            if source != rel and resolver.resolve(raw, source).rel == rel
        }
        return sorted(found)

    def tags(self) -> dict[str, list[str]]:
        """Folded tag -> the notes that have it."""
        query = (
            "select t.tag, n.rel from tags t join notes n on n.id=t.note"
            " where n.gone=0 and n.kind='note' order by t.tag, n.rel"
        )
        found: dict[str, list[str]] = {}
        for tag, rel in self.ask(lambda c: c.execute(query).fetchall()):
            found.setdefault(tag, []).append(rel)
        return found

    def attachments(self) -> list[str]:
        """Every file that is no note, sorted by path."""
        return [row[0] for row in self.ask(lambda c: c.execute("select rel from attachments order by rel").fetchall())]

    def memories(self) -> list[MemoryRow]:
        """Every file under the memory root, parsed, sorted by path. The list is shared: do not change it or its
        rows.
        """
        query = (
            "select n.rel, n.size, n.mtime_ns, n.sha, n.title, n.properties, m.body, n.private, n.problem, n.conflict"
            " from notes n join memories m on m.note=n.id where n.gone=0"
        )
        version = self.memories_version
        held = self._cache.get("memories")
        if held is not None and held[0] == version:
            return held[1]  # type: ignore[no-any-return]
        parsed: dict[str, MemoryRow] = {row.rel: row for row in held[1]} if held else {}
        found = []
        since = held[0] if held else -1

        def work(connection: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
            rels = connection.execute(
                "select n.rel from notes n join memories m on m.note=n.id where n.gone=0 order by n.rel"
            ).fetchall()
            return rels, connection.execute(query + " and n.gen>?", (since,)).fetchall()

        rels, rows = self.ask(work)
        for rel, size, mtime_ns, sha, title, properties, body, private, problem, conflict in rows:
            values: dict[str, Any] = loads(properties, {})
            parsed[rel] = MemoryRow(rel, size, mtime_ns, sha, title, values, body, private, problem, bool(conflict))
        found = [parsed[rel] for (rel,) in rels if rel in parsed]
        self._cache["memories"] = (version, found)
        return found

    def rank_memories(self, query: str, limit: int = 10_000) -> list[str]:
        """The memories that hold a word of `query`, best match first."""
        from vaultcore import text

        expression = text.match_expression(query)
        if not expression or not self.full_text:
            return []
        search = (
            "select n.rel from (select rowid r, bm25(recollection, 3, 2, 1) s from recollection where"
            " recollection match ?"
            " order by s limit ?) x join notes n on n.id=x.r where n.gone=0 order by x.s"
        )
        return [row[0] for row in self.ask(lambda c: c.execute(search, (expression, limit)).fetchall())]

    def state(self) -> dict[str, Any]:
        """What health shows: counts, size in bytes, version, where it is, what was wrong last."""
        from .schema import VERSION

        query = "select kind, count(*) from notes where gone=0 group by kind"
        counts = dict(self.ask(lambda c: c.execute(query).fetchall()))
        return {
            "notes": counts.get("note", 0),
            "memories": counts.get("memory", 0),
            "bytes": self._store.size(),
            "version": VERSION,
            "path": self._store.path or "in memory",
            "full_text": "on" if self.full_text else "off: this Python's SQLite has no FTS5",
            "problem": self._store.notice or None,
        }
