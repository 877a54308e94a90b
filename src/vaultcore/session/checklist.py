"""At the end of a turn: what this session touched and left in disorder, said once."""

from __future__ import annotations

import os

from vaultcore.session import state
from vaultcore.session.plain import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultcore.agents import Event
    from vaultcore.session.settings import Settings

CHECKED = 40  # notes that one stop reads
LISTED = 1_500  # entries of changed folders that one stop looks at
NAMED = 5  # notes that the message names
HOT = ("work/active", "brain", "inbox", "work/incidents")  # where a shell writes into existing notes most


def remarks(event: Event) -> str:
    """The message for the person, or "" when nothing new is amiss."""
    agent = event.agent_name
    session = state.Session(event.root, agent, event.session)
    notes = findings(event.root, session)
    said = session.said()
    news: list[str] = []
    lines: list[str] = []
    for rel, found in notes.items():
        keys = [f"stop {rel} {fault(text)}" for _, text in found]
        fresh = [text for key, (_, text) in zip(keys, found) if key not in said]
        news += [key for key in keys if key not in said]
        if fresh:
            lines.append(
                f"- {flat(rel, 120)}: {'; '.join(fresh[:3])}" + (f"; {len(fresh) - 3} more" if len(fresh) > 3 else "")
            )
    if not news:
        return ""
    session.add(said=news)
    more = [f"- and {len(lines) - NAMED} more notes"] if len(lines) > NAMED else []
    return "\n".join(["om: before you go, in the notes this session touched", *lines[:NAMED], *more])


def fault(text: str) -> str:
    """A clause without its line: the same fault two lines further down is no news."""
    return text.partition(": ")[2] if text.startswith("line ") else text


def findings(root: str, session: state.Session) -> dict[str, list[tuple[str, str]]]:
    """Note -> (code, clause) for what is still wrong with the notes this session touched."""
    known: dict[str, dict[str, Any]] = {}
    for each in session.records:
        if isinstance(each.get("wrote"), str):
            known[each["wrote"]] = each
    found: dict[str, list[tuple[str, str]]] = {}
    candidates = list(dict.fromkeys([*known, *changed_since(root, session.start())]))
    checker = _Checker(root, session)
    for rel in candidates:
        try:
            status = os.stat(os.path.join(root, rel))
        except OSError:
            continue  # gone: nothing is wrong with it any more
        record: dict[str, Any] | None = known.get(rel)
        if record is None or [record.get("size"), record.get("mtime")] != [status.st_size, status.st_mtime_ns]:
            record = checker.look(rel)
        if record is None:
            continue
        pairs = [(str(code), flat(str(text), 160)) for code, text in record.get("found") or []]
        faults = [pair for pair in pairs if pair[0] not in ("oversized", "unchecked")]
        if faults:
            found[rel] = faults
    return found


class _Checker:
    """Reads notes only when it must; the modules for it are imported with the first one."""

    __slots__ = ("_left", "_names", "_settings", "root", "session")

    def __init__(self, root: str, session: state.Session) -> None:
        self.root = root
        self.session = session
        self._left = CHECKED
        self._settings: Settings | None = None
        self._names: Any = None

    def settings(self) -> Settings:
        if self._settings is None:
            from vaultcore.session import settings

            self._settings = settings.load(self.root)
        return self._settings

    def look(self, rel: str) -> dict[str, Any] | None:
        """Check a note that was changed behind our back and remember the result; None if it is not ours to judge."""
        from vaultcore.session import note_checks, writes

        if self._left <= 0 or not note_checks.applies(rel, self.settings()):
            return None
        self._left -= 1
        if self._names is None:
            from vaultcore.session.census import Names

            self._names = Names(self.root)
        writes.remember(self.session, self.root, rel, note_checks.check(self.root, rel, self.settings(), self._names))
        return self.session.records[-1]


def changed_since(root: str, start_ns: int) -> list[str]:
    """Notes changed since the session started, whoever changed them: by folders whose listing changed, by the folders
    where most happens, and by what the worker saw last. Empty if nobody noted the start."""
    if not start_ns:
        return []
    from vaultcore.session import census

    known = census.load(root)
    folders = census.changed(root, known, start_ns) if known else [""]
    todo = list(dict.fromkeys([*folders, *HOT]))
    seen: set[str] = set()
    found: list[str] = []
    left = LISTED
    while todo and left > 0:
        rel = todo.pop(0)
        if rel in seen:
            continue
        seen.add(rel)
        try:
            with os.scandir(os.path.join(root, rel) if rel else root) as listing:
                for entry in listing:
                    left -= 1
                    name = entry.name
                    if name[0] == "." or name == "node_modules" or entry.is_symlink():
                        continue
                    inner = f"{rel}/{name}" if rel else name
                    if entry.is_dir():
                        if known is None or inner not in known.folders or rel in HOT:
                            todo.append(inner)
                    elif name[-3:].lower() == ".md" and _moment(entry.stat()) > start_ns:
                        found.append(inner)
        except OSError:
            continue
    scan = state.read(root, "hygiene.json")
    recent = scan.get("recent") if isinstance(scan, dict) else None
    for item in recent if isinstance(recent, list) else []:
        if isinstance(item, list) and len(item) == 3 and isinstance(item[2], int) and item[2] > start_ns:
            found.append(str(item[0]))
    return sorted(set(found))


def _moment(status: os.stat_result) -> int:
    """When the file came to be as it is: a renamed or copied note keeps its mtime."""
    return status.st_mtime_ns if os.name == "nt" else max(status.st_mtime_ns, status.st_ctime_ns)
