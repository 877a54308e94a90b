"""Make one note from its template, in its folder, listed where such notes are listed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import datetime

from vaultbridge.templates.kinds import Kind, settings
from vaultbridge.templates.placeholders import fill
from vaultcore import markdown, notes, properties, walk
from vaultcore import write as writer
from vaultcore.errors import Refusal, VaultError

UNFIT = re.compile(r"[\\/:*?\"<>|#^\[\]\x00-\x1f\x7f]+|%%+")
LONGEST = 120
LIST_ITEM = re.compile(r"\s*[-*+] ")


@dataclass
class Plan:
    """What will be written: the note at `rel`, and `listing`, the index note with its new text (None: nowhere)."""

    rel: str
    title: str
    text: str
    listing: tuple[str, bytes, str] | None = None  # rel, new bytes, revision it was read at
    remarks: list[str] = field(default_factory=list)


def plan(
    root: str,
    kind: Kind,
    title: str,
    *,
    when: datetime,
    folder: str | None = None,
    values: dict[str, object] | None = None,
    link: str | None = None,
) -> Plan:
    """What `write` would do. Raises VaultError where the title, the folder, the template or the index doesn't work."""
    name = file_name(title)
    stem = f"{when:%Y-%m-%d} {name}" if kind.dated and not name.startswith(f"{when:%Y-%m-%d}") else name
    place = (folder if folder is not None else kind.folder).strip("/")
    place = place.replace("{year}", f"{when:%Y}").replace("{month}", f"{when:%m}")
    rel = f"{place}/{stem}.md" if place else f"{stem}.md"
    if walk.contained(root, rel) is None:
        raise VaultError(f"{rel} is no place for a note: choose a folder inside the vault")
    if os.path.lexists(os.path.join(root, rel)):
        raise Refusal("exists", f"{rel} exists already.", "Extend that note, or choose another title.")
    template = notes.read(root, kind.template)
    text = fill(template.text.replace("\r\n", "\n"), name, when, settings(root)[1])
    changes = dict(values or {})
    for key, value in properties.read(text).values.items():
        if key not in ("title", "description") and value == name and named(root, name):
            changes.setdefault(key, f"[[{name}]]")  # a 1-1 with somebody who has a note links to it
    if stem != title and not kind.dated:
        known = properties.as_list(properties.read(text).values.get("aliases"))
        changes.setdefault("aliases", [*known, " ".join(title.split())])
    if changes:
        text = properties.edit(text.encode(), changes).decode()
    made = Plan(rel, stem, text)
    made.remarks.extend(twins(root, rel, stem))
    target = link if link is not None else kind.index
    if target:
        try:
            made.listing = listed(root, target, stem, rel)
        except VaultError as error:
            if link is not None:
                raise
            made.remarks.append(f"not listed anywhere: {error}")
    return made


def write(root: str, made: Plan) -> None:
    """Write the note, then its line in the index. The note is never overwritten; an index that changed is left alone
    and said so in `remarks`.
    """
    writer.create(root, made.rel, made.text.encode())
    if made.listing is None:
        return
    rel, data, revision = made.listing
    try:
        writer.replace(root, rel, data, revision)
    except VaultError as error:
        made.remarks.append(f"the note is there, but not listed in {rel}: {error}")
        made.listing = None


def file_name(title: str) -> str:
    """The title as a file name that every system and every link can carry. Raises VaultError when nothing is left."""
    name = " ".join(UNFIT.sub(" ", title).split()).strip(". ")
    if not name:
        raise VaultError(f"{title!r} gives no file name: use letters or digits")
    if len(name) > LONGEST:
        raise VaultError(
            f"the title is longer than {LONGEST} characters: shorten it and put the rest into the description"
        )
    return name


def named(root: str, stem: str) -> list[str]:
    """The notes whose file name is `stem`, in any case."""
    wanted = f"{stem.lower()}.md"
    return [entry.rel for entry in walk.walk(root) if entry.rel.rsplit("/", 1)[-1].lower() == wanted]


def twins(root: str, rel: str, stem: str) -> list[str]:
    """A remark when notes of the same name exist elsewhere, since links by name could mean either."""
    same = [other for other in named(root, stem) if other != rel]
    return [f"another note has this name: {', '.join(same[:3])}; link with the folder"] if same else []


def listed(root: str, target: str, stem: str, rel: str) -> tuple[str, bytes, str]:
    """The index note with one more line, `- [[stem]]`, at the end of the list below its heading."""
    index, _, heading = target.partition("#")
    index = index if index.lower().endswith(".md") else index + ".md"
    if walk.contained(root, index) is None or not os.path.isfile(os.path.join(root, index)):
        raise VaultError(f"there is no note {index} to list it in")
    with open(os.path.join(root, index), "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise VaultError(f"{index} is not UTF-8 and is left alone: save it as UTF-8") from error
    document = markdown.parse(text)
    first, last = document.body_line, len(document.lines)
    if heading:
        found = markdown.section(document, heading)
        if found is None:
            raise VaultError(f"{index} has no heading {heading!r}: add it, or list the note by hand")
        below = next((h.line for h in document.headings if h.line > found.line0), last + 1)
        first, last = found.line0 + 1, min(found.line1, below - 1)
    newline = "\r\n" if "\r\n" in text else "\n"
    line = f"- [[{link_to(root, stem, rel)}]]"
    lines = text.split("\n")
    items = [number for number in range(first, last + 1) if LIST_ITEM.match(document.lines[number - 1] + " ")]
    empty = next((number for number in items if document.lines[number - 1].strip() in ("-", "*", "+")), None)
    if empty is not None:
        ending = "\r" if lines[empty - 1].endswith("\r") else ""
        lines[empty - 1] = line + ending
        return index, "\n".join(lines).encode(), writer.revision(data)
    at = items[-1] if items else last
    while not items and at > first and not document.lines[at - 1].strip():
        at -= 1
    before, after = lines[:at], lines[at:]
    ending = "\r" if newline == "\r\n" else ""
    if not after:  # the file's last line has no line end
        before[-1] += ending
        return index, "\n".join([*before, line]).encode(), writer.revision(data)
    gap = [] if items else [ending]
    return index, "\n".join([*before, *gap, line + ending, *after]).encode(), writer.revision(data)


def link_to(root: str, stem: str, rel: str) -> str:
    """The shortest link that means the new note."""
    return f"{rel[:-3]}|{stem}" if twins(root, rel, stem) else stem


def choose_values(root: str, pairs: tuple[str, ...]) -> dict[str, object]:
    """`key=value` from the command line, each value by the property's type in Obsidian (a list: commas)."""
    types = obsidian_types(root)
    chosen: dict[str, object] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        name = name.strip()
        if not mark or not name:
            raise VaultError(f"{pair!r} is not NAME=VALUE")
        kind = types.get(name.lower(), "")
        if kind in ("multitext", "tags", "aliases"):
            chosen[name] = [item.strip() for item in value.split(",") if item.strip()]
        elif kind == "checkbox" and value.strip().lower() in ("true", "false"):
            chosen[name] = value.strip().lower() == "true"
        elif kind == "number":
            try:
                chosen[name] = float(value) if "." in value else int(value)
            except ValueError:
                raise VaultError(f"{name} must be a number, and {value!r} is none") from None
        else:
            chosen[name] = value
    return chosen


def obsidian_types(root: str) -> dict[str, str]:
    import json

    try:
        with open(os.path.join(root, ".obsidian", "types.json"), encoding="utf-8-sig") as file:
            declared = json.load(file).get("types")
    except (OSError, ValueError, AttributeError):
        return {}
    return {str(k).lower(): str(v) for k, v in declared.items()} if isinstance(declared, dict) else {}
