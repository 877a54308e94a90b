"""What can drift in a vault: one detector each.

Every detector is a function of a `Vault` that returns a `Flag` or None; every flag goes away when its cause does.
"""

from __future__ import annotations

from vaultcore.session.plain import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vaultcore.session.settings import Settings
    from vaultcore.walk import Entry

DAY = 86_400
STOP_WORDS = frozenset(
    "about action active after analysis audit call case change check completed delivery discovery doc docs"
    " document draft execution experiment first follow framework from index investigation kickoff list meeting"
    " migration next note notes onboarding options overview phase plan playbook prep process progress project"
    " prompt proposal remediation report research review roadmap rollout status strategy summary support sync task"
    " team template test that this update verification week weekly with work".split()
)


class Flag:
    """One kind of drift: how many, the first few, and what clears it."""

    __slots__ = ("count", "items", "kind", "todo")

    def __init__(self, kind: str, items: list[str], todo: str, cap: int) -> None:
        self.kind = kind
        self.count = len(items)
        self.items = [flat(item, 120) for item in items[:cap]]
        self.todo = todo

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "count": self.count, "items": self.items, "todo": self.todo}


class Vault:
    """What the detectors look at: the notes on disk, the settings, the clock, and the index where there is one."""

    __slots__ = ("cap", "index", "notes", "now", "root", "settings")

    def __init__(self, root: str, settings: Settings, notes: list[Entry], index: Any, now: float) -> None:
        self.root = root
        self.settings = settings
        self.notes = notes
        self.index = index
        self.now = now
        self.cap = settings.limit("cap")

    def below(self, *folders: str) -> list[Entry]:
        wanted = tuple(folder.rstrip("/") + "/" for folder in folders)
        return [note for note in self.notes if note.rel.startswith(wanted)]

    def age(self, note: Entry) -> int:
        """Whole days since the note was changed."""
        return max(0, int((self.now - note.mtime_ns / 1e9) // DAY))

    def own(self, rel: str) -> bool:
        from vaultcore.session.note_checks import applies

        return applies(rel, self.settings)


def completed(vault: Vault) -> Flag | None:
    """Notes in work/active whose status says that they are done."""
    over = done(vault.settings)
    found = [note.rel for note in vault.below("work/active") if _status(vault.root, note.rel) in over]
    return _flag(vault, "done work not archived", found, "move it to work/archive (`python3 om.py tidy`)")


def done(settings: Settings) -> set[str]:
    """The values of `status` that mean the work is over."""
    return {value.strip().lower() for value in settings.words("done_statuses")}


def grouping(vault: Vault) -> Flag | None:
    """Loose notes in work/active that share a subject."""
    loose = [note.rel.rpartition("/")[2] for note in vault.below("work/active") if note.rel.count("/") == 2]
    groups = clusters(loose, vault.settings.limit("cluster_notes"))
    found = [f"{word} ({len(members)} notes, {members[0]} among them)" for word, members in groups]
    return _flag(vault, "subjects with loose notes in work/active", found, "give each a folder of its own there")


def oversized(vault: Vault) -> Flag | None:
    limit = vault.settings.limit("split_bytes")
    large = [
        note for note in vault.notes if note.size >= limit and "archive" not in note.rel.lower() and vault.own(note.rel)
    ]
    large.sort(key=lambda note: (-note.size, note.rel))
    found = [f"{note.rel} ({note.size // 1000} kB)" for note in large]
    return _flag(vault, f"notes over {limit // 1000} kB", found, "split by subject; don't cut anything")


def open_loops(vault: Vault) -> Flag | None:
    """Open items in old meeting, 1:1 and incident notes: path, age and number, never their text."""
    folders = list(dict.fromkeys(vault.settings.words("open_loop_dirs")))
    notes = _latest_per_person([note for note in vault.below(*folders) if "archive" not in note.rel.lower()])
    old = [note for note in notes if vault.age(note) >= vault.settings.limit("open_loop_days")]
    sections = [name.casefold() for name in vault.settings.words("open_loop_sections")]
    counted = [(vault.age(note), note.rel, _open_items(vault.root, note.rel, sections)) for note in old[:2_000]]
    counted.sort(key=lambda each: (-each[0], each[1]))
    found = [f"{rel} ({age} days, {count} open)" for age, rel, count in counted if count]
    return _flag(vault, "open loops", found, "close, move or drop the items")


def meetings(vault: Vault) -> Flag | None:
    age = vault.settings.limit("meeting_days")
    found = [note for note in vault.below("work/meetings") if not is_index(note.rel) and vault.age(note) >= age]
    return _flag(
        vault, f"meeting notes older than {age} days", _oldest(vault, found), "file what lasts, then archive them"
    )


def memory_inbox(vault: Vault) -> Flag | None:
    found = vault.below(f"{vault.settings.get('memory_root')}/_inbox")
    return _flag(
        vault, "proposed memories nobody ruled on", _oldest(vault, found), "the person decides: `python3 om.py review`"
    )


def note_inbox(vault: Vault) -> Flag | None:
    age = vault.settings.limit("inbox_days")
    inbox = vault.below(str(vault.settings.get("mcp_inbox")))
    found = [note for note in inbox if not is_index(note.rel) and vault.age(note) >= age]
    return _flag(vault, "unfiled notes in the inbox", _oldest(vault, found), "move each to where its kind lives")


def conflict_copies(vault: Vault) -> Flag | None:
    found = [note.rel for note in vault.notes if note.conflict]
    return _flag(vault, "conflict copies left by a sync tool", found, "merge them into the note and delete them")


def linking(vault: Vault) -> list[Flag]:
    """Broken links and orphans, in one pass over the links that the index holds."""
    from vaultcore.links import Resolver

    files = [note.rel for note in vault.notes] + list(vault.index.attachments())
    resolver = Resolver(files)
    known: dict[tuple[str, str], str | None] = {}
    linked: set[str] = set()
    broken: dict[str, int] = {}
    for link in vault.index.links():
        key = (link.raw, link.source.rpartition("/")[0])
        if key not in known:
            known[key] = resolver.resolve(link.raw, link.source).rel
        found = known[key]
        if found is None and link.target and vault.own(link.source):
            broken[link.source] = broken.get(link.source, 0) + 1
        elif found and found != link.source:
            linked.update((found, link.source))
    memories = f"{vault.settings.get('memory_root')}/"
    lonely = [
        note.rel
        for note in vault.notes
        if note.rel not in linked and not note.rel.startswith(memories) and "/" in note.rel and vault.own(note.rel)
    ]
    flags = [
        _flag(
            vault,
            "notes with broken links",
            [f"{rel} ({count})" for rel, count in sorted(broken.items())],
            "`python3 om.py check`",
        ),
        _flag(vault, "notes without any link", lonely, "link each from its project, person or index"),
    ]
    return [flag for flag in flags if flag]


DETECTORS: tuple[Callable[[Vault], Flag | None], ...] = (
    completed,
    note_inbox,
    memory_inbox,
    meetings,
    open_loops,
    conflict_copies,
    grouping,
    oversized,
)


def clusters(names: list[str], least: int) -> list[tuple[str, list[str]]]:
    """(word, names) for words that at least `least` and at most half of four or more note names share; larger first."""
    if len(names) < 4:
        return []
    by_word: dict[str, list[str]] = {}
    for name in sorted(names):
        for word in subject_words(name):
            by_word.setdefault(word, []).append(name)
    groups: dict[tuple[str, ...], str] = {}
    for word, members in sorted(by_word.items()):
        if least <= len(members) <= max(least, len(names) // 2):
            groups.setdefault(tuple(members), word)
    return sorted(
        ((word, list(members)) for members, word in groups.items()), key=lambda each: (-len(each[1]), each[0])
    )


def subject_words(name: str) -> set[str]:
    """The words of a file name that can name a subject: not its date, no number, no word of the trade."""
    stem = name[:-3] if name[-3:].lower() == ".md" else name
    words = "".join([c if c.isalnum() else " " for c in stem.casefold()]).split()
    return {
        word
        for word in words
        if not word.isdigit() and word not in STOP_WORDS and len(word) >= (4 if word.isascii() else 2)
    }


def _flag(vault: Vault, kind: str, items: list[str], todo: str) -> Flag | None:
    return Flag(kind, items, todo, vault.cap) if items else None


def _oldest(vault: Vault, notes: list[Entry]) -> list[str]:
    return [
        f"{note.rel} ({vault.age(note)} days)" for note in sorted(notes, key=lambda note: (note.mtime_ns, note.rel))
    ]


def is_index(rel: str) -> bool:
    """The note that explains a folder is not content of it: README, or one named like the folder."""
    folder, _, name = rel.rpartition("/")
    return name.lower() in ("readme.md", f"{folder.rpartition('/')[2]}.md".lower())


def _status(root: str, rel: str) -> str:
    from vaultcore import notes
    from vaultcore.errors import VaultError

    try:
        value = notes.read(root, rel, limit=100_000).properties.get("status")
    except VaultError:
        return ""
    return value.strip().lower() if isinstance(value, str) else ""


def _latest_per_person(notes: list[Entry]) -> list[Entry]:
    """Of `1-1/2026-01-31 Person.md` (or the date behind) only the latest of each person; every other note as it is."""
    latest: dict[str, Entry] = {}
    others = []
    for note in notes:
        folder, _, name = note.rel.rpartition("/")
        person, _, day = name[:-3].rpartition(" ")
        if not _is_day(day):
            day, _, person = name[:-3].partition(" ")
        if folder.rpartition("/")[2].lower() not in ("1-1", "1on1", "1-1s", "1on1s", "one-on-ones"):
            others.append(note)
        elif person and _is_day(day):
            key = f"{folder}/{person}"
            if key not in latest or latest[key].rel < note.rel:
                latest[key] = note
    return others + list(latest.values())


def _is_day(text: str) -> bool:
    return len(text) == 10 and text[:4].isdigit() and text[4] == text[7] == "-"


def _open_items(root: str, rel: str, sections: list[str]) -> int:
    """Open tasks under one of the headings `sections`, and other lines that wait for somebody."""
    from vaultcore import markdown, notes
    from vaultcore.errors import VaultError

    try:
        note = notes.read(root, rel, limit=400_000)
    except VaultError:
        return 0
    document = markdown.parse(note.text, note.properties.body)
    todo = {task.line for task in document.tasks if not task.done}
    wanted = [
        task_line
        for task_line in todo
        if any(part.strip().casefold().startswith(tuple(sections)) for part in document.path_of(task_line).split(">"))
    ]
    waiting = [
        number
        for number, line in enumerate(note.text.split("\n"), 1)
        if number not in todo and ("waiting on" in line.lower() or "watch for" in line.lower())
    ]
    return len(wanted) + len(waiting)
