"""From ranked lists to an answer: candidates in order, each held against the policy and its live file, until enough
are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vaultcore import exposure, text
from vaultcore.errors import VaultError
from vaultcore.index import Row, Trouble

from . import excerpt
from .embedded import scope
from .engine import Answer, Chunk, Engine, Hit, NotAsked, Pointer
from .fusion import fuse

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge

FEW = 3  # fewer hits than this, and names that are spelled alike are looked at
DEEPEST = 20_000  # notes of one list
KINDS = ("the path", "the id", "the title", "the file name", "an alias")


def gather(
    bridge: Bridge,
    query: str,
    limit: int,
    folder: str | None,
    tag: str | None,
    include: frozenset[str],
    engines: list[Engine],
    memories: Callable[[str, int], list[Hit]] | None,
) -> Answer:
    """Carry out one search; see engine.search."""
    query = text.clean(query)
    limit = max(1, limit)
    done = bridge.refresh()
    for _ in range(3):
        round_ = _Round(bridge, query, limit, folder, tag, include)
        try:
            round_.run(engines)
        except Trouble as trouble:
            round_.answer.incomplete = str(trouble)
            break
        if not round_.stale:
            break
        # A hit was edited since it was indexed: what it holds now decides, so look again.
        bridge.index.update(round_.stale)
    answer = round_.answer
    if done.reason and not answer.incomplete:
        answer.incomplete = done.reason
    if len(query) > text.MAX_QUERY and not answer.incomplete:
        answer.incomplete = f"only the first {text.MAX_QUERY:,} characters of the query were looked at"
    if memories is not None:
        answer.hits.extend(memories(query, limit))
    return answer


class _Round:
    """One pass over the lists."""

    def __init__(
        self, bridge: Bridge, query: str, limit: int, folder: str | None, tag: str | None, include: frozenset[str]
    ) -> None:
        self.bridge, self.query, self.limit, self.include = bridge, query, limit, include
        self.folder, self.tag = folder, tag
        self.manifest, self.policy = bridge.manifest, bridge.policy
        self.answer = Answer()
        self.stale: list[str] = []
        self.seen: set[str] = set()
        self.pattern = excerpt.Pattern(text.terms(query))

    def run(self, engines: list[Engine]) -> None:
        answer = self.answer
        exposed = self.exposed()
        answer.searched = len(exposed)
        answer.lanes["names"] = "ok"
        first = self.identity()
        depth = max(50, 5 * self.limit)
        while True:
            lists, full = self.lists(engines, depth)
            fused = fuse(lists)
            self.take(first, fused, exposed)
            if len(answer.hits) >= self.limit or not full or depth >= DEEPEST or self.stale:
                break
            depth = min(DEEPEST, depth * 8)
        if len(answer.hits) < min(FEW, self.limit) and not self.stale:
            self.near(exposed)

    def lists(self, engines: list[Engine], depth: int) -> tuple[list[tuple[str, float, list[Pointer]]], bool]:
        """Each engine's list, and whether one of them was cut at `depth`."""
        found, full = [], False
        for engine in engines:
            try:
                state = engine.state()
                pointers = engine.search(self.query, depth, folder=self.folder, tag=self.tag) if state == "ok" else []
            except Trouble:
                raise
            except NotAsked as reason:
                state, pointers = str(reason), []
            except (VaultError, OSError, ValueError, RuntimeError) as error:
                # One engine failing is a remark, not a failed search.
                state, pointers = f"failed: {error}", []
            self.answer.lanes[engine.name] = state
            found.append((engine.name, engine.weight, pointers))
            full = full or len(pointers) >= depth
        return found, full

    def take(self, first: list[Pointer], fused: list[Any], exposed: dict[str, bool]) -> None:
        """Accept candidates in order until the limit; count the rest."""
        order: list[tuple[Pointer, float, str]] = []
        chunks = {f.rel: f.pointer.chunk for f in fused}
        for pointer in first:
            order.append((Pointer(pointer.rel, chunks.get(pointer.rel), pointer.rank, pointer.why), 1.0, "names"))
        named = {pointer.rel for pointer in first}
        order += [(f.pointer, f.score, "+".join(f.lanes)) for f in fused if f.rel not in named]
        last: list[tuple[Pointer, float, str, Row | None]] = []
        more = 0
        for pointer, score, lane in order:
            if pointer.rel in self.seen:
                continue
            if len(self.answer.hits) >= self.limit:
                more += pointer.rel in exposed
                continue
            self.seen.add(pointer.rel)
            row = self.bridge.index.note(pointer.rel)
            if row is not None and row.conflict:
                last.append((pointer, score, lane, row))
                continue
            self.accept(pointer, score, lane, row, exposed)
        for pointer, score, lane, row in last:
            if "conflicts" not in self.include:
                self.answer.copies += pointer.rel in exposed
            elif len(self.answer.hits) < self.limit:
                self.accept(pointer, score, lane, row, exposed)
            else:
                more += 1
        self.answer.more = more

    def accept(self, pointer: Pointer, score: float, lane: str, row: Row | None, exposed: dict[str, bool]) -> None:
        from vaultcore.index import entries

        answer = self.answer
        if pointer.rel not in exposed and not self.policy.admits(pointer.rel):
            answer.withheld += 1
            return
        decision = exposure.readable(self.manifest, self.policy, pointer.rel)
        if not decision.ok or decision.rel is None:
            if decision.reason in ("missing", "unreadable", "outside"):
                answer.dropped += 1
            elif decision.reason != "memory":
                answer.withheld += 1
            return
        source = entries.load(self.bridge.root, decision.rel)
        if source is None:
            answer.dropped += 1
            return
        if row is None or row.sha != source.sha:
            self.stale.append(pointer.rel)
            if row is None:
                return
        answer.hits.append(self.hit(pointer, score, lane, row, source.data))

    def hit(self, pointer: Pointer, score: float, lane: str, row: Row, data: bytes) -> Hit:
        from vaultcore import properties

        live, _ = properties.decode(data)
        hit = Hit(row.rel, row.title)
        hit.score, hit.lane, hit.id, hit.conflict = score, lane, row.note_id, row.conflict
        hit.tags = row.tags
        chunk = pointer.chunk or self.first_chunk(row)
        hit.line0, hit.line1 = chunk.line0, chunk.line1
        hit.line, hit.snippet, matched = excerpt.cut(live, chunk.line0, chunk.line1, self.pattern)
        if not hit.snippet:  # a note of properties only
            hit.snippet = row.description or ""
        hit.heading = heading_above(row.headings, hit.line, row.title)
        hit.why = pointer.why
        if pointer.why == "words":
            matched |= self.pattern.found(" ".join([row.title, row.rel, hit.heading, *row.aliases, *row.tags]))
            words = [term for term in self.pattern.terms if term in matched]
            hit.why = "words: " + ", ".join(words[:8]) if words else "words"
        if row.conflict:
            hit.why += "; a sync tool's conflict copy"
        return hit

    def first_chunk(self, row: Row) -> Chunk:
        query = "select heading, line0, line1 from chunks where note=? order by ord limit 1"
        found = self.bridge.index.ask(lambda c: c.execute(query, (row.id,)).fetchone())
        return Chunk(*found) if found else Chunk("", 1, 40)

    def identity(self) -> list[Pointer]:
        """Notes that the whole query names: by path, id, title, file name, alias, in this order."""
        key = text.key(self.query[:1000].strip().strip('[]"“”').split("|")[0])
        keys = dict.fromkeys([key, key.partition("#")[0].strip()])
        keys.update(dict.fromkeys([k[:-3] for k in keys if k.endswith(".md")]))
        where, values = scope(self.folder, self.tag)
        query = (
            "select n.rel, min(k.kind) from names k join notes n on n.id=k.note"
            f" where k.key in ({','.join('?' * len(keys))}) and n.gone=0 and n.kind='note'"
            f" and n.private is null{where} group by n.id"
            " order by min(k.kind), n.conflict, length(n.rel), n.rel limit 50"
        )
        rows = self.bridge.index.ask(lambda c: c.execute(query, (*keys, *values)).fetchall())
        return [Pointer(rel, None, i + 1, KINDS[kind]) for i, (rel, kind) in enumerate(rows)]

    def near(self, exposed: dict[str, bool]) -> None:
        """Notes with a name spelled much like the query."""
        if self.folder or self.tag:
            return
        for i, rel in enumerate(self.bridge.index.similar(self.query, 5)):
            if rel in self.seen or len(self.answer.hits) >= self.limit:
                continue
            self.seen.add(rel)
            row = self.bridge.index.note(rel)
            if row is not None and not row.conflict and rel in exposed:
                self.accept(Pointer(rel, None, i + 1, "a name spelled alike"), 0.0, "names", row, exposed)

    def exposed(self) -> dict[str, bool]:
        """Every note that exists for a caller, by path and by its properties as indexed."""
        index, policy = self.bridge.index, self.policy
        held: Any = self.bridge.extras.get("search.exposed")
        version = (index.generation, policy.fingerprint)
        if held is not None and held[0] == version:
            return held[1]  # type: ignore[no-any-return]
        before: dict[str, bool] = held[2] if held is not None and held[0][1] == policy.fingerprint else {}
        query = "select rel from notes where kind='note' and gone=0 and private is null"
        rels = [row[0] for row in index.ask(lambda c: c.execute(query).fetchall())]
        judged = {rel: before[rel] if rel in before else policy.admits(rel) for rel in rels}
        found = {rel: True for rel, ok in judged.items() if ok}
        self.bridge.extras["search.exposed"] = (version, found, judged)
        return found


def heading_above(headings: list[tuple[int, str, int]], line: int, title: str) -> str:
    """The path of headings above a line, the note's own title left out."""
    from vaultcore.markdown import plain

    stack: list[tuple[int, str]] = []
    for level, words, at in headings:
        if at > line:
            break
        stack = [*(x for x in stack if x[0] < level), (level, plain(words))]
    return " > ".join(words for _, words in stack if words and words != title)
