"""What is wrong with one note that has just been written. Nothing here judges its content."""

from __future__ import annotations

import os

from vaultcore.regular import opener
from vaultcore.session.plain import flat, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.markdown import Document, Link
    from vaultcore.properties import Properties
    from vaultcore.session.census import Names
    from vaultcore.session.settings import Settings

MANUALS = ("readme", "changelog", "contributing", "architecture", "claude", "agents", "gemini", "license", "security")
LARGEST = 500_000  # bytes of a note that are read
LOOKED_AT = 1_500  # links of a note that are resolved
TARGETS = 6  # linked notes that are read to look for a heading or block
LINKS = 4  # broken links of one note that are named
TEXT = 120  # characters of a body from which a note should have a link


class Finding:
    """One fault: `code` for counting, `line` (from 1; 0: the whole note), `text` a clause."""

    __slots__ = ("code", "line", "text")

    def __init__(self, code: str, text: str, line: int = 0) -> None:
        self.code = code
        self.text = text
        self.line = line

    def sentence(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


def applies(rel: str, settings: Settings) -> bool:
    """True for what is somebody's note: Markdown, no dot folder, no part of the template, no generated page."""
    parts = rel.split("/")
    if rel[-3:].lower() != ".md" or any(part.startswith(".") or part == "node_modules" for part in parts):
        return False
    if len(parts) == 1 and parts[0].lower().partition(".")[0] in MANUALS:
        return False  # a repository's own pages at the root, whatever their language
    if parts[0] in ("templates", "thinking") or rel.lower() == f"{settings.get('memory_root')}/review.md".lower():
        return False
    return not any(covers(pattern, rel) for pattern in settings.words("infrastructure"))


def covers(pattern: str, rel: str) -> bool:
    """True if an infrastructure glob names this file: `*` within a name, `**` or a trailing slash for all below."""
    if pattern.endswith("/**"):
        pattern = pattern[:-2]
    if pattern.endswith("/"):
        return rel.startswith(pattern)
    if "*" not in pattern:
        return rel == pattern
    from fnmatch import fnmatchcase

    return fnmatchcase(rel, pattern) and (pattern.count("/") == rel.count("/") or "**" in pattern)


def check(root: str, rel: str, settings: Settings, names: Names) -> list[Finding]:
    """Read the note as it is on disk and say what is wrong; empty when it is gone or all is well."""
    from vaultcore import markdown, properties

    try:
        with open(os.path.join(root, rel), "rb", opener=opener) as file:
            data = whole(file.read(LARGEST), LARGEST)
        size = os.stat(os.path.join(root, rel)).st_size
    except OSError:
        return []
    text, remark = properties.decode(data)
    props = properties.read(text)
    if not props.checked and find_yaml():
        props = properties.read(text)
    found = [Finding("encoding", remark)] if remark else []
    found += of_properties(props, settings, rel)
    found += merge_marks(text)
    document = markdown.parse(text, props.body)
    found += of_privacy(document, props)
    found += of_links(document, root, rel, names)
    if not document.links and len(text) - props.body > TEXT:
        found.append(Finding("no-link", "no link to any other note: connect it to its project, person or index"))
    limit = settings.limit("split_bytes")
    if size >= limit and "archive" not in rel.lower():
        found.append(
            Finding(
                "oversized", f"{size // 1000} kB; from {limit // 1000} kB on, split a note by subject (cut nothing)"
            )
        )
    return found + of_place(rel, props, settings)


def of_place(rel: str, props: Properties, settings: Settings) -> list[Finding]:
    """Where a note must not stay; for the end of a turn, not for the moment it is written."""
    from vaultcore.session.hygiene import done, is_index

    status = props.get("status")
    if rel.startswith("work/active/") and isinstance(status, str) and status.strip().lower() in done(settings):
        return [Finding("place", f"status {flat(status, 20)}, but still in work/active (`python3 om.py tidy`)")]
    if rel.startswith(f"{settings.get('mcp_inbox')}/") and not is_index(rel):
        return [Finding("place", "still in the inbox: file it where its kind lives")]
    return []


def find_yaml() -> bool:
    """Make PyYAML importable from the environment that set-up made; hooks start without any site-packages."""
    import sys

    from vaultcore import environment

    code = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    base = environment.folder(code)
    try:
        versions = sorted(os.listdir(os.path.join(base, "lib")), reverse=True)
    except OSError:
        versions = []
    for part in (
        os.path.join("Lib", "site-packages"),
        *(os.path.join("lib", each, "site-packages") for each in versions),
    ):
        path = os.path.join(base, part)
        if os.path.isfile(os.path.join(path, "yaml", "__init__.py")):
            sys.path.append(path)
            return True
    return False


def of_properties(props: Properties, settings: Settings, rel: str) -> list[Finding]:
    from vaultcore import requirements

    rules = settings.get("frontmatter_required")
    if not props.checked:
        return [Finding("unchecked", "properties not checked: they need PyYAML (`python3 om.py setup`)", 1)]
    found = [
        Finding("properties", f"properties: {flat(problem.message, 160)}", problem.line or 0)
        for problem in props.problems[:3]
    ]
    if props.state == "absent":
        wanted = ", ".join(requirements.required(rules, [], rel)) or "date, description, tags"
        return [*found, Finding("properties", f"no properties: the note must start with --- and say {wanted}", 1)]
    if props.state == "unreadable":
        return found or [Finding("properties", "properties: the block is never closed with ---", 1)]
    return found + [
        Finding("properties", f"property {flat(name, 40)} {flat(wrong, 90)}", 1)
        for name, wrong in requirements.faults(props, rules, rel)
    ]


def merge_marks(text: str) -> list[Finding]:
    """A conflict that git left in the note: all three marks, each at the start of a line."""
    if "\n<<<<<<< " not in "\n" + text or "\n>>>>>>> " not in text or "\n=======" not in text:
        return []
    line = ("\n" + text).split("\n<<<<<<< ", 1)[0].count("\n") + 1
    return [Finding("merge", "a merge conflict is not resolved (<<<<<<<)", line)]


def of_privacy(document: Document, props: Properties) -> list[Finding]:
    """A tag in the text that looks as if it kept the note from other repositories."""
    from vaultcore import private

    line = 0 if private.why_private(props) else private.line_in_body(document)
    return [Finding("private", f"{private.IN_BODY}: {private.MEND}", line)] if line else []


def of_links(document: Document, root: str, rel: str, names: Names) -> list[Finding]:
    """Links to no file, and to a heading or block that the file does not have. An alias counts as a name."""
    from vaultcore import links

    resolver = links.Resolver(files_named=names.named, notes_called=names.called, stems=lambda: [])
    parts = _Parts(root, rel, document)
    found = []
    broken = 0
    for link in document.links[:LOOKED_AT]:
        resolved = resolver.resolve(link.raw, rel)
        if resolved.rel is None and names.look_again():
            resolved = resolver.resolve(link.raw, rel)
        if resolved.rel is not None and resolved.kind != "alias":
            missing = parts.missing(resolved.rel, link, resolved.subpath)
            if missing:
                found.append(Finding("broken-link", missing, link.line))
            continue
        if resolved.rel is not None or not link.target:
            continue
        broken += 1
        if broken > LINKS:
            continue
        shown = flat(link.target, 80)
        if is_ticket(link.target):
            text = f"[[{shown}]] is a ticket id, not a note: write it as plain text or a URL"
            found.append(Finding("ticket", text, link.line))
        else:
            found.append(Finding("broken-link", f"[[{shown}]] leads to no file{_instead(link, names)}", link.line))
    if broken > LINKS:
        found.append(Finding("broken-link", f"{broken - LINKS} more links lead to no file"))
    return found


class _Parts:
    """Whether a note has the heading or block that a link names; each note is read once, a few in all."""

    __slots__ = ("_left", "_read", "root")

    def __init__(self, root: str, rel: str, document: Document) -> None:
        self.root = root
        self._read: dict[str, Document | None] = {rel: document}
        self._left = TARGETS

    def missing(self, rel: str, link: Link, subpath: str) -> str:
        """What the link names and the note does not have, as a clause; "" if all is there or nobody can tell."""
        from vaultcore import markdown

        if not subpath or rel[-3:].lower() != ".md":
            return ""
        if rel not in self._read and self._left > 0:
            self._left -= 1
            self._read[rel] = self._document(rel)
        document = self._read.get(rel)
        if document is None:
            return ""
        name = flat(rel.rpartition("/")[2][:-3], 60)
        if subpath.startswith("^"):
            there = markdown.block(document, subpath[1:]) is not None
            return "" if there else f"[[{name}#{flat(subpath, 60)}]]: {name} has no block {flat(subpath, 60)}"
        there = markdown.section(document, subpath) is not None
        return "" if there or "^" in subpath else f"[[{name}#{flat(subpath, 60)}]]: {name} has no such heading"

    def _document(self, rel: str) -> Document | None:
        from vaultcore import markdown, properties

        try:
            with open(os.path.join(self.root, rel), "rb", opener=opener) as file:
                text = properties.decode(whole(file.read(LARGEST), LARGEST))[0]
        except OSError:
            return None
        return markdown.parse(text, properties.read(text).body)


def _instead(link: Link, names: Names) -> str:
    from vaultcore import links

    key = links.file_key(link.target)
    near = links.Resolver(stems=lambda: names.like(key)).nearest(link.target, 2)
    if not near:
        return " (create the note, or write plain text)"
    return "; nearest: " + ", ".join(f"[[{flat(rel.rsplit('/', 1)[-1][:-3], 60)}]]" for rel in near)


def is_ticket(target: str) -> bool:
    """Two to ten capitals, a hyphen, digits: OPS-123."""
    letters, hyphen, digits = target.strip().partition("-")
    return (
        bool(hyphen)
        and 2 <= len(letters) <= 10
        and letters.isascii()
        and letters.isalpha()
        and letters.isupper()
        and (digits.isdigit() and digits.isascii())
    )


def cluster(root: str, rel: str, settings: Settings) -> tuple[str, list[str]] | None:
    """(shared word, notes) when a note directly in work/active has company of the same subject there."""
    from vaultcore.session import hygiene

    folder, _, name = rel.rpartition("/")
    if folder.lower() != "work/active":
        return None
    try:
        loose = [each for each in os.listdir(os.path.join(root, folder)) if each[-3:].lower() == ".md"]
    except OSError:
        return None
    for word, members in hygiene.clusters(loose, settings.limit("cluster_notes")):
        if name in members:
            return word, members
    return None
