"""One memory as it lies on disk: reading any spelling of it, writing the one we promise."""

from __future__ import annotations

import os
import re

from . import forms, times
from .texts import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.properties import Properties

SCOPES = ("general", "platform", "project")
CONFIDENCE = ("verified", "inferred", "unverified")
STATUSES = ("current", "candidate", "disputed", "superseded", "rejected", "archived")
SOURCES = ("mcp-capture", "hand-filed")
ORDER = (
    "date description tags id source origin session scope projects platforms paths aliases confidence "
    "claimed_confidence "
    "claimed_scope flags valid_from valid_until recorded_at retired_at status about supersedes superseded_by promoted "
    "external_id"
).split()
_ID = re.compile(r"^(m-[0-9a-z]{12})(?:\s|$)")
_HEADING = re.compile(r"^#[ \t]+(\S.*)$")
SECTIONS = ("How this is known", "Why this reaches everywhere", "Related")
_OURS = re.compile(r"(?:^|\n)## (?:" + "|".join(SECTIONS) + r")[ \t]*(?:\n|$)")


class Record(Texts):
    """A memory file, parsed. Lists are lists of stripped strings; every facet has its default.

    `key` names it in links and replies: its id, else the name of its file. `declared` is the status written in the
    file ("" when none or unknown); `problems` are sentences for the person who mends it.
    """

    __slots__ = (
        "rel", "size", "mtime_ns", "key", "id", "title", "date", "source", "origin", "session",
        "scope", "projects", "platforms", "paths", "aliases", "confidence", "claimed_confidence", "claimed_scope",
        "flags",
        "valid_from", "valid_until", "recorded_at", "retired_at", "declared", "about", "supersedes", "superseded_by",
        "promoted", "external_id", "private", "problems", "valid", "known", "retired", "order", "names", "flat_title",
        "project_names", "platform_names", "origin_name",
    )  # fmt: skip

    rel: str
    size: int
    mtime_ns: int
    key: str
    id: str
    title: str
    date: str
    source: str
    origin: str
    session: str
    scope: str
    projects: list[str]
    platforms: list[str]
    paths: list[str]
    aliases: list[str]
    confidence: str
    claimed_confidence: str
    claimed_scope: str
    flags: list[str]
    valid_from: str
    valid_until: str
    recorded_at: str
    retired_at: str
    declared: str
    about: str
    supersedes: list[str]
    superseded_by: list[str]
    promoted: object
    external_id: str
    private: bool
    problems: list[str]
    valid: tuple[float, float]
    known: float
    retired: float
    order: tuple[str, str]
    names: tuple[str, ...]
    flat_title: str
    project_names: frozenset[str]
    platform_names: frozenset[str]
    origin_name: str


def parse(rel: str, data: bytes, size: int = 0, mtime_ns: int = 0) -> Record | None:
    """The memory in `data`, or None when the file is no memory (it declares neither a scope nor a source of ours)."""
    from vaultcore import properties
    from vaultcore.private import why_private

    text, _ = properties.decode(data)
    props = properties.read(text)
    if props.state == "absent":
        return None
    return build(rel, props.values, text[props.body :], size, mtime_ns, props, why_private(props) is not None)


def build(
    rel: str,
    values: dict[str, object],
    below: str,
    size: int,
    mtime_ns: int,
    props: Properties | None = None,
    private: bool = False,
) -> Record | None:
    """The memory made of these properties and the text below them."""
    source = _word(values.get("source"))
    if "scope" not in values and source not in SOURCES:
        return None
    r = Record()
    r.rel, r.size, r.mtime_ns = rel, size, mtime_ns
    r.problems = []
    r.private = private
    stem = os.path.basename(rel)[:-3]
    r.id = _word(values.get("id"))
    r.key = r.id or stem
    r.title, r.body = _split(below, _line(values.get("title")) or stem)
    r.date = _line(values.get("date")) or (stem[:10] if re.match(r"\d{4}-\d{2}-\d{2}", stem) else "")
    r.description = _line(values.get("description"))
    r.source, r.origin, r.session = source or "hand-filed", _line(values.get("origin")), _line(values.get("session"))
    r.projects, r.platforms = _list(values.get("projects")), _list(values.get("platforms"))
    r.paths, r.aliases = _list(values.get("paths")), _list(values.get("aliases"))
    r.flags = _list(values.get("flags"))
    r.supersedes, r.superseded_by = _list(values.get("supersedes")), _list(values.get("superseded_by"))
    scope = _word(values.get("scope")).lower() or "project"
    if scope not in SCOPES:
        r.problems.append(f"scope {scope[:40]!r} is none of general, platform, project: read as project")
        scope = "project"
    if props is not None and props.state not in ("whole", "absent"):
        r.problems.append("its properties cannot be read whole, so it is not served")
        scope, r.projects, r.platforms, r.private = "project", [], [], True
    r.scope = scope
    confidence = _word(values.get("confidence")).lower()
    r.confidence = confidence if confidence in CONFIDENCE else "unverified"
    r.claimed_confidence, r.claimed_scope = _line(values.get("claimed_confidence")), _line(values.get("claimed_scope"))
    status = _word(values.get("status")).lower()
    if status and status not in STATUSES:
        r.problems.append(f"status {status[:40]!r} is unknown: treated as candidate")
        status = "candidate"
    r.declared = status
    r.about = _line(values.get("about"))
    r.promoted = values.get("promoted")
    r.external_id = _line(values.get("external_id"))
    for field in ("valid_from", "valid_until", "recorded_at", "retired_at"):
        written = _line(values.get(field))
        if written and times.moment(written) is None:
            r.problems.append(f"{field} {written[:40]!r} is no date: write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ")
        setattr(r, field, written)
    complete(r)
    return r


def complete(r: Record) -> None:
    """Work out what follows from the plain fields: moments, order, names to find it by."""
    r.valid = times.bounds(r.valid_from, r.valid_until)
    known = times.moment(r.recorded_at)
    known = times.moment(r.session) if known is None else known
    known = times.moment(r.date) if known is None else known
    r.known = times.ALWAYS if known is None else known
    retired = times.moment(r.retired_at)
    r.retired = times.NEVER if retired is None else retired
    r.order = (r.date, r.recorded_at or r.session)
    r.flat_title = forms.title(r.title)
    r.names = tuple(
        dict.fromkeys([r.flat_title, *(forms.title(a) for a in r.aliases), forms.title(os.path.basename(r.rel)[:-3])])
    )
    r.project_names = _names(r.projects)
    r.platform_names = _names(r.platforms)
    r.origin_name = name(r.origin) if r.origin and r.origin != "unknown" else ""


def _split(below: str, fallback: str) -> tuple[str, str]:
    """Title and body: the first level-one heading outside a fence, when only blank lines stand before it."""
    lines = below.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for i, line in enumerate(lines):
        if not line.strip():
            continue
        found = _HEADING.match(line)
        if found:
            return " ".join(found.group(1).split()), "\n".join(lines[i + 1 :]).strip("\n")
        break
    return " ".join(fallback.split()), "\n".join(lines).strip("\n")


def _line(value: object) -> str:
    if value is None or isinstance(value, (dict, list)):
        return ""
    return " ".join(str(value).split())


def _word(value: object) -> str:
    return _line(value)


def _list(value: object) -> list[str]:
    from vaultcore.properties import as_list

    if isinstance(value, (dict, bool)) or value is None:
        return []
    return [" ".join(item.split()) for item in as_list(value) if item.strip()]


_NAMES: dict[str, str] = {}
_SETS: dict[frozenset[str], frozenset[str]] = {}


def name(text: str) -> str:
    """The form in which project and platform names are compared (identity.canonical), remembered."""
    found = _NAMES.get(text)
    if found is None:
        from vaultcore.identity import canonical

        found = canonical(text) or ""
        if len(_NAMES) < 10_000:
            _NAMES[text] = found
    return found


def _names(listed: list[str]) -> frozenset[str]:
    """The names of a list in that form; records with the same ones share the set."""
    found = frozenset(name(p) for p in listed)
    return _SETS.setdefault(found, found) if len(_SETS) < 10_000 else found


def core(body: str) -> str:
    """What the memory says, without the sections that say how it is known and what it relates to."""
    found = _OURS.search(body)
    return (body[: found.start()] if found else body).strip()


def one_line(text: str) -> str:
    """`text` as one line: control, separator and text-direction characters become blanks."""
    return " ".join(_BREAKS.sub(" ", text.encode("utf-8", "replace").decode()).split())


def target(entry: str) -> str:
    """The id at the head of a link entry ("m-… the title beside it"), else the whole entry (a title)."""
    found = _ID.match(entry)
    return found.group(1) if found else entry


def new_id() -> str:
    """A new id: 60 random bits, never reused."""
    raw = int.from_bytes(os.urandom(8), "big") >> 4
    digits = "0123456789abcdefghjkmnpqrstvwxyz"
    return "m-" + "".join(digits[(raw >> (5 * i)) & 31] for i in range(12))


_UNSAFE = re.compile(
    r'[<>:"|?*/\\\[\]#^\x00-\x1f\x7f-\x9f]|\.{2,}|[\u2028\u2029\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]'
)
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_DEVICE = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.I)


def slug(title: str, longest: int = 60, bytes_limit: int = 180) -> str:
    """A file name for `title`: composed (NFC), no character a file system or a link gives a meaning to."""
    import unicodedata

    text = unicodedata.normalize("NFC", title.encode("utf-8", "replace").decode())
    text = " ".join(_UNSAFE.sub(" ", text).split())
    if len(text) > longest:
        cut = text[:longest]
        if " " in cut and cut.rfind(" ") > 36:
            cut = cut[: cut.rfind(" ")]
        text = cut
    while len(text.encode()) > bytes_limit:
        text = text[:-1]
    text = text.strip("\u200c\u200d .").rstrip("_-. ")
    if _DEVICE.match(text):
        text = "_" + text
    return text or "memory"


def described(body: str, longest: int = 150) -> str:
    """One line that says what the memory says: its first sentence, or its head."""
    flat = " ".join(body.split())
    end = re.search(r"[.!?\u3002\uff01\uff1f](?:\s|$)", flat[40:]) if len(flat) > 40 else None
    if end and 40 + end.end() <= longest + 1:
        return flat[: 40 + end.end()].strip()
    if len(flat) <= longest:
        return flat
    cut = flat[: longest - 1]
    return (cut[: cut.rfind(" ")] if cut.rfind(" ") > 100 else cut) + "…"


def render(facets: dict[str, object], title: str, body: str, sections: list[tuple[str, str]]) -> bytes:
    """The file of a new memory. `facets` may hold any key of ORDER; empty values are left out."""
    from vaultcore import properties

    kept = {k: facets[k] for k in ORDER if facets.get(k) not in (None, "", [], ())}
    text = properties.dump(kept) + f"\n# {title}\n\n{body.strip()}\n"
    for heading, content in sections:
        if content.strip():
            text += f"\n## {heading}\n\n{content.strip()}\n"
    return text.encode("utf-8", "replace")
