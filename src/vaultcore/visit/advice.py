"""Before an edit: what the vault knows about the file, once for each file and session."""

from __future__ import annotations

from vaultcore.memory import anchors, covering

from . import guest as guests
from . import served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultcore.agents import Event

    from .guest import Guest

MOST, BYTES = 3, 1_500
FILES = 20  # of one tool call
RESERVE = 60  # bytes kept for the line that says how many more there are
READING = "read_file"  # of Gemini, which takes no context before an edit: it is told when it reads


def on(event: Event, guest: Guest) -> str:
    """The text for the files of this tool call, "" when there is nothing new to say. Remembers which were edited."""
    paths = list(dict.fromkeys(guests.real(write.path) for write in event.writes()))[:FILES]
    if not paths:
        return ""
    if event.text("tool_name") != READING:
        edited = {path for many in guest.session.all("edited") if isinstance(many, list) for path in many}
        new = [path for path in paths if path not in edited]
        if new:
            guest.session.add(edited=new, at=_now())
    said = guest.session.said()
    fresh = [path for path in paths if f"about {path}" not in said]
    rows = guest.shelf.with_paths() if fresh else []
    tails = Tails(fresh)
    likely = [row for row in rows if tails.covered(row[2])]
    if not likely and guest.shelf.there:
        return ""
    wanted = {rel: path for path in fresh if (rel := guests.repository_path(guest, path))}
    if not wanted:
        return ""
    text = _tell(guest, list(wanted), likely)
    if text:
        guest.session.add(said=[f"about {path}" for path in wanted.values()])
    return text


class Tails:
    """All that paths of files may be called from some folder above them, to tell quickly what cannot be meant."""

    __slots__ = ("tails", "spans")

    def __init__(self, paths: list[str]) -> None:
        self.tails: list[str] = []
        self.spans: set[str] = {"."}
        for path in paths:
            parts = path.replace("\\", "/").split("/")
            self.tails += ["/".join(parts[n:]) for n in range(1, len(parts))]
            self.spans.update("/".join(parts[n:m]) for n in range(1, len(parts)) for m in range(n + 1, len(parts) + 1))

    def covered(self, values: dict[str, Any]) -> bool:
        """Whether the paths that `values` declare may cover one of the files, wherever their repository starts."""
        for scope in covering.scopes(values):
            if scope in self.spans:
                return True
            if any(c in scope for c in "*?[") and anchors.matching([scope], self.tails) is not None:
                return True
        return False


def _tell(guest: Guest, wanted: list[str], likely: list[tuple[str, bool, dict[str, Any]]]) -> str:
    from vaultcore import fence

    mark = fence.tag()
    found = [*_memories(guest, wanted, likely, mark), *_notes(guest, wanted, likely, mark)]
    if not found:
        return ""
    found.sort(key=lambda one: one[0], reverse=True)
    told = _fates(guest, found[:MOST])
    pieces = [make(told.get(key, "")) for _, key, _, _, _, make in found[:MOST]]
    named = ", ".join(served.line(path, 80) for path in wanted[:3])
    text, count = served.fit(f"om: the vault knows this about {named}. {served.DATA}", pieces, BYTES - RESERVE)
    if not count:
        return ""
    more = len(found) - count
    if more:
        text += f"\n{more} more: context says them."
    shown = [key for _, key, _, _, _, _ in found[:count]]
    guest.audit(
        "told_before_edit",
        paths=[fence.flat(p, 200) for p in wanted[:5]],
        told=shown,
        more=more,
        bytes=len(text.encode()),
    )
    return text


def _memories(guest: Guest, wanted: list[str], likely: list[tuple[str, bool, dict[str, Any]]], mark: str) -> list[Any]:
    from vaultcore.memory import selection

    folder = guest.memory_folder
    if guest.shelf.there:
        guest.shelf.freshen(folder)
        rows = guest.shelf.with_paths()
        rels = [rel for rel, mem, values in rows if mem and anchors.matching(covering.scopes(values), wanted)]
    else:
        rels = []
    store = guest.shelf.store(folder, rels)
    found = []
    for e in selection.select(store, guest.reader).entries:
        match = covering.of_memory(e.record, guest.reader, wanted)
        if match:
            r = e.record

            def make(fate: str, e: Any = e, match: Any = match) -> str:
                return served.memory(guest, store, e, mark, why=served.line(match.why(), 120), check=fate or None)

            found.append(((match.depth, 1, r.date), r.key, r.paths, r.known, r.date, make))
    return found


def _notes(guest: Guest, wanted: list[str], likely: list[tuple[str, bool, dict[str, Any]]], mark: str) -> list[Any]:
    from vaultcore.memory import record, times

    mine = {record.name(p) for p in guest.caller.projects}
    found = []
    for rel, is_memory, _ in likely:
        note = None if is_memory else served.live(guest, rel)
        if note is None:
            continue
        values = note.properties.values
        scopes = covering.scopes(values)
        match = anchors.matching(scopes, wanted) if scopes and covering.concerns(values, mine, False) else None
        if match is None or _over(values):
            continue
        date = str(values.get("as_of") or values.get("date") or "")[:10]
        says = str(values.get("description") or "")

        def make(fate: str, note: Any = note, match: Any = match, says: str = says, date: str = date) -> str:
            return served.note(
                note.rel,
                note.title,
                says,
                mark,
                date=date or None,
                why=served.line(match.why(), 120),
                check=fate or None,
            )

        found.append(((match.depth, 0, date), rel, scopes, times.moment(date) or 0.0, date, make))
    return found


def _over(values: dict[str, Any]) -> bool:
    """Whether a note is history by its own word; `context` still shows it, marked as such."""
    status = str(values.get("status") or "").strip().lower()
    return status in ("superseded", "archived", "rejected", "deprecated", "obsolete", "cancelled", "canceled")


def _fates(guest: Guest, found: list[Any]) -> dict[str, str]:
    root = guest.caller.root
    if not root:
        return {}

    items = [(key, scopes, known, date) for _, key, scopes, known, date, _ in found]
    return {key: served.line(fate.sentence(), 200) for key, fate in anchors.fates(root, items).items()}


def _now() -> float:
    import time

    return time.time()
