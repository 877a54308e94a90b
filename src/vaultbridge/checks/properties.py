"""Properties: readable, complete for the kind of note, of the right type, in the form Obsidian wants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vaultbridge.checks.finding import Finding
from vaultcore import notes
from vaultcore.errors import VaultError
from vaultcore.properties import as_list

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot
    from vaultcore.index.rows import Row

DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
MOMENT = re.compile(DATE.pattern + r"[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?")
PLACEHOLDER = re.compile(r"\{\{|<%")
BARE = re.compile(r"^(?:[^\n\"']*[:-][ \t]+)(\{\{[^\n]*\}\})", re.MULTILINE)
RENAMED = {"tag": "tags", "alias": "aliases", "cssclass": "cssclasses"}
DESCRIPTION = 150
OBSIDIAN = {
    "date": "date", "datetime": "datetime", "number": "number", "checkbox": "checkbox",
    "multitext": "list", "tags": "list", "aliases": "list", "text": "text",
}  # fmt: skip


def check(vault: Snapshot) -> Iterator[Finding]:
    """The faults of all properties. Manuals have none; templates are only read."""
    for row in vault.rows:
        if vault.is_manual(row.rel):
            continue
        if row.problem:
            yield from unreadable(vault, row.rel)
        if vault.is_template(row.rel) or row.conflict:
            continue
        if row.state in ("absent", "whole"):
            yield from incomplete(vault, row)
            yield from untyped(vault, row)
            yield from tags(row)
    for rel, problem in vault.memory_rels.items():
        if problem:
            yield from unreadable(vault, rel)


def unreadable(vault: Snapshot, rel: str) -> Iterator[Finding]:
    """What the one reader of properties found wrong, with its lines. A template is not valid until it is filled in:
    there only a bare placeholder is worth a word.
    """
    try:
        note = notes.read(vault.root, rel)
    except VaultError:
        return  # gone since the index looked
    if vault.is_template(rel):
        bare = BARE.search(note.text, 0, note.properties.end)
        if bare:
            line = note.text.count("\n", 0, bare.start(1)) + 1
            message = "a placeholder without quotes is not valid in a property, and Obsidian may change it"
            yield Finding(rel, line, "template-quotes", message, f'write "{bare.group(1)}"', "note")
        return
    for problem in note.problems:
        level = "warning" if "read" not in problem.message and not problem.fix else "error"
        yield Finding(rel, problem.line, "property-form", problem.message, problem.fix, level, problem.column)


def required(vault: Snapshot, row: Row) -> dict[str, str]:
    """Property -> type (or "" for any) that this note must have, by `frontmatter_required`: for every note ("*"), for
    its tags, for the folders it lies in (keys ending with "/").
    """
    wanted: dict[str, str] = {}
    kinds = {tag.lower() for tag in as_list(row.properties.get("tags"))}
    declared: Any = vault.manifest.get("frontmatter_required")
    for kind, fields in declared.items() if isinstance(declared, dict) else ():
        fits = kind in ("*", "global") or kind.lower() in kinds
        if fits or (kind.endswith("/") and row.rel.lower().startswith(kind.lower())):
            wanted.update(fields if isinstance(fields, dict) else dict.fromkeys(map(str, fields), ""))
    return wanted


def incomplete(vault: Snapshot, row: Row) -> Iterator[Finding]:
    wanted = required(vault, row)
    missing = [name for name in wanted if empty(row.properties.get(name))]
    if missing:
        text = "no properties at all; it needs " if row.state == "absent" else "missing or empty: "
        yield Finding(row.rel, 1, "property-missing", text + ", ".join(missing), level="warning")
    for name, kind in wanted.items():
        value = row.properties.get(name)
        if name not in missing and kind and not fits(value, kind):
            message = f"{name} must be {article(kind)}, and is {shown(value)}"
            yield Finding(row.rel, line_of(vault, row.rel, name), "property-type", message)
    description = row.properties.get("description")
    if "description" in wanted and isinstance(description, str) and len(description) > DESCRIPTION:
        message = f"the description has {len(description)} characters; lists show {DESCRIPTION}"
        yield Finding(row.rel, line_of(vault, row.rel, "description"), "description-long", message, level="note")


def untyped(vault: Snapshot, row: Row) -> Iterator[Finding]:
    """Values that don't fit the type Obsidian has for their property, and names Obsidian no longer knows."""
    wanted = required(vault, row)
    for name, value in row.properties.items():
        kind = OBSIDIAN.get(vault.types.get(name.lower(), ""), "")
        if kind and name not in wanted and not empty(value) and not fits(value, kind):
            message = f"{name} is {article(kind)} in this vault, and here {shown(value)}"
            yield Finding(row.rel, line_of(vault, row.rel, name), "property-type", message, level="warning")
        new = RENAMED.get(name.lower())
        if new and not empty(value):
            message = f"Obsidian no longer reads {name}"
            yield Finding(row.rel, line_of(vault, row.rel, name), "property-old", message, f"write {new}", "warning")
        if isinstance(value, dict):
            message = f"{name} holds properties of its own, which Obsidian can neither show nor edit"
            yield Finding(row.rel, line_of(vault, row.rel, name), "property-nested", message, level="note")


def tags(row: Row) -> Iterator[Finding]:
    value = row.properties.get("tags")
    if isinstance(value, str) and "," in value:
        yield Finding(row.rel, 1, "tag-form", "tags is one text with commas", "write a list", "warning")
        return
    for tag in value if isinstance(value, list) else [value] if isinstance(value, str) else []:
        bare = str(tag).lstrip("#")
        if bare and (re.search(r"\s", bare) or not re.search(r"[^\d/]", bare)):
            fix = "no spaces, and at least one character that is no digit"
            yield Finding(row.rel, 1, "tag-form", f"{bare[:80]!r} is not a tag for Obsidian", fix, "warning")


def empty(value: object) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def fits(value: object, kind: str) -> bool:
    """Whether a value read from a note is of the type: date, datetime, text, list, number or checkbox."""
    if isinstance(value, str) and PLACEHOLDER.search(value):
        return True  # reported as what it is: template code left in a note
    if kind == "date":
        return isinstance(value, str) and bool(DATE.fullmatch(value) or MOMENT.fullmatch(value))
    if kind == "datetime":
        return isinstance(value, str) and bool(MOMENT.fullmatch(value) or DATE.fullmatch(value))
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "checkbox":
        return isinstance(value, bool)
    if kind == "list":
        return not isinstance(value, dict)  # one value is a list of one
    if kind == "text":
        return not isinstance(value, (dict, list))
    return True


def article(kind: str) -> str:
    return {"checkbox": "true or false", "date": "a date (YYYY-MM-DD)", "datetime": "a date with time"}.get(
        kind, f"a {kind}" if kind != "text" else "text"
    )


def shown(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a block of properties"
    return f"{' '.join(str(value).split())[:60]!r}"


def line_of(vault: Snapshot, rel: str, name: str) -> int:
    """The line of a property in its note; 1 where it cannot be found."""
    document = vault.document(rel)
    if document is not None:
        start = re.compile(rf"[\"']?{re.escape(name)}[\"']?\s*:", re.IGNORECASE)
        for number, line in enumerate(document.lines[: document.body_line], 1):
            if start.match(line):
                return number
    return 1
