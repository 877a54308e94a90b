"""The one gate that every new memory passes, whoever sends it and by whichever way."""

from __future__ import annotations

from . import markup, record, secrets, signals, times
from .declarations import paths, refuse, subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = 1_000
BODY = 50_000
LONG_BODY = 8_000
LISTS = ("projects", "platforms", "paths", "links", "supersedes")
TEXTS = (
    "title",
    "body",
    "confidence",
    "verification",
    "scope",
    "generality",
    "about",
    "valid_from",
    "valid_until",
    "external_id",
)
SWITCHES = ("force", "force_confirm", "dry_run")
ARGUMENTS = frozenset(
    (*TEXTS, *LISTS, *SWITCHES, "origin", "source", "status", "promoted", "date", "recorded_at", "flags")
)


class Draft:
    """A memory that passed the gates which need no store. `facets` are properties to write; `notes` are sentences
    for whoever sent it; `links` are note names to list under Related."""

    __slots__ = (
        "title",
        "body",
        "facets",
        "sections",
        "notes",
        "supersedes",
        "force",
        "force_confirm",
        "dry_run",
        "links",
    )

    def __init__(self) -> None:
        self.title = ""
        self.body = ""
        self.facets: dict[str, object] = {}
        self.sections: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.supersedes: list[str] = []
        self.links: list[str] = []
        self.force = self.force_confirm = self.dry_run = False

    def record(self, rel: str = "", recorded_at: str = "") -> record.Record:
        """The draft as the record it will be, to be compared with others."""
        values = {**self.facets, "recorded_at": recorded_at}
        made = record.build(
            rel or f"memories/{record.slug(self.title)}.md", values, f"# {self.title}\n\n{self.body}\n", 0, 0
        )
        assert made is not None
        return made


def check(
    arguments: dict[str, object],
    origin: str = "",
    projects: tuple[str, ...] = (),
    resolves: Callable[[str], bool] | None = None,
    trusted: bool = False,
    home: bool = False,
) -> Draft:
    """The draft that `arguments` describe, or a Refusal (nothing was written).

    `origin` is the caller's project ("" when nobody knows who calls), `projects` all its projects. `resolves` tells
    whether a link target exists for this caller. `trusted` lets an import set date, origin and status. `home`: the
    caller is a person or the vault's own session, which are no project.
    """
    _types(arguments, trusted)
    broken = markup.explain(arguments)
    if broken:
        raise refuse("swallowed-markup", *broken)
    for field, value in arguments.items():
        text = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
        rule = secrets.find(text)
        if rule:
            raise refuse(
                "secret",
                f"{field} holds what looks like a secret (rule {rule}), and a vault is shared and committed.",
                "Send it again without the value: say where the secret is kept instead.",
                rule=rule,
                field=field,
            )
    draft = Draft()
    draft.title = record.one_line(str(arguments.get("title") or ""))
    draft.body = _body(str(arguments.get("body") or ""))
    if not draft.title:
        raise refuse("no-title", "title is empty.", "Give the lesson as one line that stands by itself.")
    if len(draft.title) > TITLE:
        raise refuse(
            "long-title",
            f"title has {len(draft.title)} characters, at most {TITLE} are kept.",
            "Shorten it; put the rest into body.",
        )
    if not draft.body:
        raise refuse("no-body", "body is empty.", "Say what holds, where, and what to do.")
    if len(draft.body) > BODY:
        raise refuse(
            "long-body",
            f"body has {len(draft.body):,} characters, at most {BODY:,} are kept.",
            "Keep the lesson; file long text as a note.",
        )
    if len(draft.body) > LONG_BODY:
        draft.notes.append(
            f"The body has {len(draft.body):,} characters; a lesson is shorter, long text belongs into a note."
        )
    if signals.is_transcript(draft.body):
        raise refuse("transcript", "body is a pasted conversation.", "Write what was learnt, in your own words.")
    _reach(draft, arguments, origin, projects, home)
    _confidence(draft, arguments)
    _times(draft, arguments)
    draft.facets["paths"] = paths(arguments.get("paths") or [])
    about = subject(str(arguments.get("about") or ""))
    if about:
        draft.facets["about"] = about
    if arguments.get("external_id"):
        draft.facets["external_id"] = record.one_line(str(arguments["external_id"]))[:200]
    if trusted:
        for name in ("status", "origin", "source", "promoted", "date", "flags"):
            if arguments.get(name):
                draft.facets[name] = arguments[name]
    from . import wikilinks

    wikilinks.apply(draft, [str(x) for x in _items(arguments, "links")], resolves)
    draft.supersedes = [record.one_line(str(x)) for x in _items(arguments, "supersedes") if str(x).strip()]
    draft.force, draft.force_confirm, draft.dry_run = (arguments.get(name) is True for name in SWITCHES)
    draft.facets = {k: v for k, v in draft.facets.items() if v not in (None, "", [])}
    return draft


def _types(arguments: dict[str, object], trusted: bool) -> None:
    allowed = (
        ARGUMENTS
        if trusted
        else ARGUMENTS - {"origin", "source", "status", "promoted", "date", "recorded_at", "flags", "external_id"}
    )
    unknown = sorted(set(arguments) - allowed)
    if unknown:
        names = ", ".join(record.one_line(n)[:40] for n in unknown[:5])
        raise refuse("unknown-argument", f"Unknown argument {names}.", "Known: " + ", ".join(sorted(allowed)) + ".")
    for field in LISTS:
        value = arguments.get(field)
        if value is not None and (not isinstance(value, list) or not all(isinstance(x, str) for x in value)):
            hint = " (it came as one string)" if isinstance(value, str) else ""
            raise refuse(
                "not-a-list", f"{field} must be a list of strings{hint}.", f'Send {field} as ["…"].', field=field
            )
    for field in TEXTS:
        value = arguments.get(field)
        if value is not None and not isinstance(value, str):
            raise refuse("not-a-text", f"{field} must be text.", f"Send {field} as a string.", field=field)
    for field in SWITCHES:
        if arguments.get(field) not in (None, True, False):
            raise refuse(
                "not-a-switch", f"{field} must be true or false.", f"Send {field} as true or leave it out.", field=field
            )


def _items(arguments: dict[str, object], field: str) -> list[object]:
    value = arguments.get(field)
    return list(value) if isinstance(value, list) else []


def _body(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").encode("utf-8", "replace").decode()
    return text.strip("\n ").rstrip()


def _names(arguments: dict[str, object], field: str) -> list[str]:
    kept: dict[str, str] = {}
    for item in _items(arguments, field):
        text = record.one_line(str(item))
        folded = record.name(text)
        if not folded:
            raise refuse(
                "bad-name",
                f"{field} holds a name without a usable character.",
                f"Leave it out or name a {field[:-1]}.",
                field=field,
            )
        kept.setdefault(folded, text[:100])
    if len(kept) > 50:
        raise refuse(
            "many-names",
            f"{field} names {len(kept)}, at most 50 are kept.",
            "A memory for that many is general: say so and why.",
        )
    return list(kept.values())


def _reach(draft: Draft, arguments: dict[str, object], origin: str, own: tuple[str, ...], home: bool) -> None:
    """Who it is for. What was declared is kept or narrowed, never widened; what reaches nobody is refused."""
    asked = str(arguments.get("scope") or "").strip().lower()
    projects, platforms = _names(arguments, "projects"), _names(arguments, "platforms")
    generality = str(arguments.get("generality") or "").strip()
    if asked and asked not in record.SCOPES:
        raise refuse(
            "bad-scope",
            f"scope {record.one_line(asked)[:40]!r} is none of general, platform, project.",
            "Choose the narrowest that is true.",
        )
    scope = asked or "project"
    if scope == "general" and (projects or platforms):
        scope = "platform" if platforms else "project"
        draft.facets["claimed_scope"] = "general"
        draft.notes.append(f"Names were given together with scope general, so it is recorded for those only ({scope}).")
    if scope == "project" and not projects:
        if not origin:
            name = "Name projects, or declare scope general or platform with the reason"
            why = (
                "Nobody knows which project calls" if not home else "No project is named, and the vault itself is none"
            )
            more = "" if home else "; `om register` makes this repository known"
            raise refuse("no-project", f"{why}: a memory of scope project would reach nobody.", f"{name}{more}.")
        projects = [origin]
        if not asked:
            draft.notes.append(f"No scope was given: recorded for project {origin} only.")
    if scope == "platform" and not platforms:
        raise refuse(
            "no-platform", "scope platform without platforms reaches nobody.", 'Name them: platforms ["windows"].'
        )
    draft.facets.update(scope=scope, projects=projects, platforms=platforms if scope == "platform" else [])
    if platforms and scope != "platform":
        draft.notes.append("platforms counts only with scope platform and was left out.")
    if scope == "project" and own and not {record.name(p) for p in projects} & {record.name(p) for p in own}:
        draft.notes.append(f"It does not reach your own project ({own[0]}): you will not recall it.")
    if scope == "general":
        if generality:
            draft.sections.append(("Why this reaches everywhere", _body(generality)[:4_000]))
        else:
            draft.facets["flags"] = ["no-generality"]
            draft.notes.append(
                "It is general without a reason. Why does it hold in every repository? If it is about one stack, "
                "file or version, "
                "file it again with scope platform or project and supersedes; otherwise pass generality next time."
            )


def _confidence(draft: Draft, arguments: dict[str, object]) -> None:
    claimed = str(arguments.get("confidence") or "").strip().lower()
    if claimed not in record.CONFIDENCE:
        raise refuse(
            "bad-confidence",
            "confidence must be verified (you saw it), inferred (it follows) or unverified (you were told).",
            "Send one of the three.",
        )
    verification = _body(str(arguments.get("verification") or ""))
    flags = signals.flags(f"{draft.title}\n{draft.body}")
    confidence = claimed
    if claimed == "verified" and flags:
        confidence = "inferred"
        draft.facets["claimed_confidence"] = "verified"
    if "generalised" in flags:
        draft.notes.append("It generalises beyond what one observation shows: say what was seen, when, how often.")
    if "volatile" in flags:
        draft.notes.append('It holds a number that will change: say "as of YYYY-MM-DD".')
    if claimed == "verified" and not verification:
        draft.notes.append("It claims to be verified without saying how: pass verification.")
    draft.facets["confidence"] = confidence
    held = draft.facets.get("flags")
    draft.facets["flags"] = [*(held if isinstance(held, list) else []), *flags]
    if verification:
        draft.sections.insert(0, ("How this is known", verification[:4_000]))


def _times(draft: Draft, arguments: dict[str, object]) -> None:
    for field in ("valid_from", "valid_until"):
        text = record.one_line(str(arguments.get(field) or ""))
        if text and times.moment(text) is None:
            raise refuse(
                "bad-date",
                f"{field} {text[:40]!r} is no date.",
                "Write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ.",
                field=field,
            )
        draft.facets[field] = text
    start, end = times.bounds(draft.facets["valid_from"], draft.facets["valid_until"])
    if start >= end:
        raise refuse(
            "bad-interval",
            "valid_until must come after valid_from.",
            "valid_until is the first moment it no longer holds.",
        )
