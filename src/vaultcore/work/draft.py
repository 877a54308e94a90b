"""The gate that every work record passes: what was sent becomes a draft, or a refusal that says what to mend."""

from __future__ import annotations

from vaultcore.memory import declarations, markup, record, secrets, signals, wikilinks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TITLE, SUMMARY, LONG, ITEM, ITEMS = 200, 20_000, 4_000, 2_000, 50
LISTS = ("changes", "decisions", "learned", "open", "informed_by", "paths")
TEXTS = ("title", "summary", "verification", "kind", "folder")
ARGUMENTS = frozenset((*TEXTS, *LISTS, "dry_run"))
KINDS = ("note", "decision")
RECORD = "work-record"  # the tag by which a record is known
SECTIONS = (("changes", "What changed"), ("decisions", "Decisions"), ("learned", "Learned"))


class Draft:
    """A record that passed. `lists` holds the items of each list; `related` are links, ready to write; `notes` are
    sentences for whoever sent it."""

    __slots__ = ("dry_run", "folder", "kind", "lists", "notes", "paths", "related", "summary", "title", "verification")

    def __init__(self) -> None:
        self.title = self.summary = self.verification = self.folder = ""
        self.kind = "note"
        self.lists: dict[str, list[str]] = {}
        self.paths: list[str] = []
        self.related: list[str] = []
        self.notes: list[str] = []
        self.dry_run = False

    def text(self) -> str:
        """All that it says, in the order of the note: for comparing and for rulings."""
        before = [item for field, _ in SECTIONS for item in self.lists[field]]
        return "\n".join(part for part in [self.summary, *before, self.verification, *self.lists["open"]] if part)


def check(arguments: dict[str, object], resolves: Callable[[str], bool] | None = None) -> Draft:
    """The draft that `arguments` describe, or a Refusal. `resolves` tells whether a link leads somewhere."""
    _types(arguments)
    broken = markup.explain(arguments)
    if broken:
        raise declarations.refuse("swallowed-markup", *broken)
    for field, value in arguments.items():
        rule = secrets.find("\n".join(map(str, value)) if isinstance(value, list) else str(value))
        if rule:
            raise declarations.refuse(
                "secret",
                f"{field} holds what looks like a secret (rule {rule}), and a vault is shared and committed.",
                "Send it again without the value: say where the secret is kept instead.",
                rule=rule,
                field=field,
            )
    draft = Draft()
    draft.title = record.one_line(str(arguments.get("title") or ""))
    if not draft.title:
        raise declarations.refuse("no-title", "title is empty.", "Say in one line what was done.")
    if len(draft.title) > TITLE:
        raise declarations.refuse(
            "long-title",
            f"title has {len(draft.title)} characters, at most {TITLE} are kept.",
            "Put the rest into summary.",
        )
    if not any(c.isalnum() or ord(c) > 0x2000 for c in record.slug(draft.title, bytes_limit=400)) or (
        record.slug(draft.title) == "memory" and "memory" not in draft.title.casefold()
    ):
        raise declarations.refuse(
            "no-name", "title holds no character that a file can be named by.", "Use letters or digits."
        )
    lost: dict[str, None] = {}

    def clean(text: str) -> str:
        return wikilinks.plain(text, resolves, lost) if resolves else text

    draft.title = clean(draft.title)
    draft.summary = clean(_body(arguments.get("summary")))
    if not draft.summary:
        raise declarations.refuse(
            "no-summary", "summary is empty.", "Say what happened here and why, in a few sentences."
        )
    if signals.is_transcript(draft.summary):
        raise declarations.refuse(
            "transcript", "summary is a pasted conversation.", "Write what happened, in your own words."
        )
    draft.verification = clean(_body(arguments.get("verification")))
    for name, limit, text in (("summary", SUMMARY, draft.summary), ("verification", LONG, draft.verification)):
        if len(text) > limit:
            raise declarations.refuse(
                f"long-{name}", f"{name} has {len(text):,} characters, at most {limit:,} are kept.", "Shorten it."
            )
    for field in ("changes", "decisions", "learned", "open"):
        items = [clean(record.one_line(item)) for item in _items(arguments, field) if item.strip()]
        if len(items) > ITEMS or any(len(item) > ITEM for item in items):
            raise declarations.refuse(
                "long-list", f"{field} takes {ITEMS} items of {ITEM:,} characters.", "Shorten it.", field=field
            )
        draft.lists[field] = items
    draft.kind = str(arguments.get("kind") or "note")
    if draft.kind not in KINDS:
        raise declarations.refuse(
            "bad-kind", f"kind {record.one_line(draft.kind)[:40]!r} is neither note nor decision.", "Choose one."
        )
    draft.folder = str(arguments.get("folder") or "").strip()
    draft.paths = declarations.paths(arguments.get("paths") or [])
    draft.dry_run = arguments.get("dry_run") is True
    _related(draft, _items(arguments, "informed_by"), resolves, lost)
    if lost:
        names = ", ".join(repr(record.one_line(n)[:60]) for n in list(lost)[:10])
        draft.notes.append(f"Linked nothing you can read, so it stands as plain text: {names}.")
    return draft


def body(draft: Draft, provenance: str) -> str:
    """The note below its properties."""
    parts = [f"# {draft.title}", draft.summary]
    for field, heading in SECTIONS:
        if draft.lists[field]:
            parts.append(f"## {heading}\n\n" + "\n".join(f"- {item}" for item in draft.lists[field]))
    if draft.verification:
        parts.append(f"## Verification\n\n{draft.verification}")
    if draft.lists["open"]:
        parts.append("## Open questions\n\n" + "\n".join(f"- [ ] {item}" for item in draft.lists["open"]))
    if draft.related:
        parts.append("## Related\n\n" + "\n".join(f"- {entry}" for entry in draft.related))
    return "\n" + "\n\n".join([*parts, f"*{provenance}*"]) + "\n"


def _related(draft: Draft, names: list[str], resolves: Callable[[str], bool] | None, lost: dict[str, None]) -> None:
    seen: set[str] = set()
    for given in names[:ITEMS]:
        name = record.one_line(given.strip().strip("[]")).split("|")[0].strip()[:300]
        if not name or name.casefold() in seen:
            continue
        seen.add(name.casefold())
        plain = name.split("#")[0].strip()
        known = bool(plain) and "[[" not in name and "]]" not in name and (resolves is None or resolves(plain))
        if known:
            draft.related.append(f"[[{name}]]")
            continue
        shown = name.replace("[[", "").replace("]]", "")
        lost[shown] = None
        draft.related.append(f"{shown} (no note you can read)")


def _types(arguments: dict[str, object]) -> None:
    unknown = sorted(set(arguments) - ARGUMENTS)
    if unknown:
        names = ", ".join(record.one_line(n)[:40] for n in unknown[:5])
        raise declarations.refuse(
            "unknown-argument", f"Unknown argument {names}.", "Known: " + ", ".join(sorted(ARGUMENTS)) + "."
        )
    for field in LISTS:
        value = arguments.get(field)
        if value is not None and (not isinstance(value, list) or not all(isinstance(x, str) for x in value)):
            raise declarations.refuse(
                "not-a-list", f"{field} must be a list of strings.", f'Send {field} as ["…"].', field=field
            )
    for field in TEXTS:
        value = arguments.get(field)
        if value is not None and not isinstance(value, str):
            raise declarations.refuse("not-a-text", f"{field} must be text.", f"Send {field} as a string.", field=field)
    if arguments.get("dry_run") not in (None, True, False):
        raise declarations.refuse("not-a-switch", "dry_run must be true or false.", "Send true or leave it out.")


def _items(arguments: dict[str, object], field: str) -> list[str]:
    value = arguments.get(field)
    return [str(item) for item in value] if isinstance(value, list) else []


def _body(value: object) -> str:
    text = str(value or "").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return text.encode("utf-8", "replace").decode().strip("\n ").rstrip()
