"""Properties: readable, complete for the kind of note, of the right type, in the form Obsidian wants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vaultbridge.checks.finding import Finding
from vaultcore import notes, private, requirements
from vaultcore.errors import VaultError
from vaultcore.properties import as_list

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot
    from vaultcore.index.rows import Row

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
            yield from unheeded(vault, row)
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
        level = "warning" if note.properties.state in ("absent", "whole") else "error"
        yield Finding(rel, problem.line, "property-form", problem.message, problem.fix, level, problem.column)


def required(vault: Snapshot, row: Row) -> dict[str, str]:
    """Property -> type that this note must have."""
    rules: Any = vault.manifest.get("frontmatter_required")
    return requirements.required(rules, as_list(row.properties.get("tags")), row.rel)


def incomplete(vault: Snapshot, row: Row) -> Iterator[Finding]:
    wanted = required(vault, row)
    missing = [name for name in wanted if empty(row.properties.get(name))]
    if missing:
        text = "no properties at all; it needs " if row.state == "absent" else "missing or empty: "
        yield Finding(row.rel, 1, "property-missing", text + ", ".join(missing), level="warning")
    for name, kind in wanted.items():
        wrong = "" if name in missing else unfit(row.properties.get(name), kind)
        if wrong:
            yield Finding(row.rel, line_of(vault, row.rel, name), "property-type", f"{name} {wrong}")
    description = row.properties.get("description")
    if "description" in wanted and isinstance(description, str) and len(description) > DESCRIPTION:
        message = f"the description has {len(description)} characters; lists show {DESCRIPTION}"
        yield Finding(row.rel, line_of(vault, row.rel, "description"), "description-long", message, level="note")


def untyped(vault: Snapshot, row: Row) -> Iterator[Finding]:
    """Values that don't fit the type Obsidian has for their property, and names Obsidian no longer knows."""
    wanted = required(vault, row)
    for name, value in row.properties.items():
        kind = OBSIDIAN.get(vault.types.get(name.lower(), ""), "")
        wrong = unfit(value, kind) if kind and name not in wanted and not empty(value) else ""
        if wrong:
            message = f"{name} {wrong} (as everywhere in this vault)"
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


def unheeded(vault: Snapshot, row: Row) -> Iterator[Finding]:
    """A tag in the text that looks as if it kept the note from other repositories."""
    if row.private or not any(private.is_tag(tag) for tag in row.tags):
        return
    document = vault.document(row.rel)
    line = private.line_in_body(document) if document else 0
    if line:
        yield Finding(row.rel, line, "private-in-text", private.IN_BODY, private.MEND, "warning")


def empty(value: object) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def unfit(value: object, kind: str) -> str:
    """Why the value is not of that type, "" if it is. Template code is reported as what it is, not as a wrong type."""
    if isinstance(value, str) and PLACEHOLDER.search(value):
        return ""
    if kind == "list":
        return "must be a list, not an object" if isinstance(value, dict) else ""  # one value is a list of one
    return requirements.fault(value, kind)


def line_of(vault: Snapshot, rel: str, name: str) -> int:
    """The line of a property in its note; 1 where it cannot be found."""
    document = vault.document(rel)
    if document is not None:
        start = re.compile(rf"[\"']?{re.escape(name)}[\"']?\s*:", re.IGNORECASE)
        for number, line in enumerate(document.lines[: document.body_line], 1):
            if start.match(line):
                return number
    return 1
