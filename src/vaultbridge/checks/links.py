"""Links: where each leads, which lead nowhere, which notes nobody reaches, which names stand for several notes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultbridge.checks.finding import Finding
from vaultcore import markdown
from vaultcore.text import fold

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot
    from vaultcore.index.rows import LinkRow
    from vaultcore.links import Resolution

EVERYWHERE = frozenset(("readme", "index", "_index", "changelog", "license", "contributing"))
SLUG = re.compile(r"[^\w\- ]")
EXTENSION = re.compile(r"\.[A-Za-z0-9]{2,6}$")
GENERATED = re.compile(
    r"^::: ?\S", re.MULTILINE
)  # a page that a documentation tool fills in has more anchors than text


def check(vault: Snapshot) -> Iterator[Finding]:
    """Broken links, orphans, and names that mean more than one note."""
    reached: set[str] = set()
    reaching: set[str] = set()
    unclear: dict[str, set[str]] = {}
    for link in vault.links:
        place = vault.resolve(link)
        if place.rel is not None and place.rel != link.source:
            reached.add(place.rel)
            reaching.add(link.source)
        if vault.is_manual(link.source):
            continue
        if place.ambiguous and link.kind == "wiki":
            unclear.setdefault(stem(place.candidates[0]), set()).add(link.source)
        yield from broken(vault, link, place)
    for row in vault.rows:
        if row.conflict:
            yield Finding(
                row.rel, 0, "conflict-copy", "a sync tool kept this second version", "merge it by hand", "warning"
            )
        elif vault.is_note(row.rel) and row.rel not in reached | reaching and stem(row.rel) not in EVERYWHERE:
            message = "nothing links here, and it links to nothing"
            yield Finding(row.rel, 0, "orphan", message, "link it from where a reader would come", "note")
    yield from duplicates(vault, unclear)


def broken(vault: Snapshot, link: LinkRow, place: Resolution) -> Iterator[Finding]:
    """What is wrong with one link; nothing when it leads where it says."""
    written = f"[[{link.raw}]]" if link.kind == "wiki" else f"({link.raw})"
    if place.kind == "alias" and place.rel is not None:
        message = f"{written} names an alias, and Obsidian does not resolve those"
        fix = f"write [[{short(place.rel)}|{link.raw}]]"
        yield Finding(link.source, link.line, "link-alias", message, fix, "warning")
        return
    if place.rel is None:
        if link.kind == "markdown" and on_disk(vault, link):
            return
        near = vault.nearness.near(link.target or link.raw)
        fix = "did you mean " + " or ".join(f"[[{short(rel)}]]" for rel in near) + "?" if near else ""
        if (
            link.kind == "wiki"
            and not link.embed
            and not near
            and "/" not in link.raw
            and not EXTENSION.search(link.target)
        ):
            yield Finding(
                link.source, link.line, "link-unwritten", f"{written} is a note nobody has written", "", "note"
            )
            return
        what = "embeds a file that does not exist" if link.embed else "leads to no file"
        yield Finding(link.source, link.line, "link-broken", f"{written} {what}", fix, "warning")
        return
    yield from subpath(vault, link, place.rel, written)


def subpath(vault: Snapshot, link: LinkRow, rel: str, written: str) -> Iterator[Finding]:
    """A heading, block or view that the target does not have."""
    if not link.heading and not link.block:
        return
    lower = rel.lower()
    if lower.endswith(".base") and link.heading:
        from vaultbridge.bases.checker import view_names

        views = view_names(vault.text(rel) or "")
        if link.heading not in views:
            fix = "it has " + ", ".join(views[:8]) if views else ""
            yield Finding(link.source, link.line, "link-view", f"{written} names a view that does not exist", fix)
    elif lower.endswith(".md"):
        document = vault.document(rel)
        if document is None:
            return
        if link.block and markdown.block(document, link.block) is None:
            message = f"{written} names a block that does not exist in {short(rel)}"
            yield Finding(link.source, link.line, "link-block", message, level="warning")
        elif link.heading and not link.block and not has_heading(document, link):
            message = f"{written} names a heading that does not exist in {short(rel)}"
            yield Finding(link.source, link.line, "link-heading", message, level="warning")


def has_heading(document: markdown.Document, link: LinkRow) -> bool:
    heading = link.heading or ""
    if markdown.section(document, heading) is not None:
        return True
    if link.kind != "markdown":
        return False
    # Elsewhere anchors are made from headings: `#my-heading`, with a number where one heading occurs twice.
    wanted = heading.lower()
    slugs = {SLUG.sub("", item.text.lower()).strip().replace(" ", "-") for item in document.headings}
    if wanted in slugs or re.sub(r"-\d+$", "", wanted) in slugs or GENERATED.search(document.text):
        return True
    return bool(
        re.search(rf"[{{ ]#{re.escape(heading)}[ }}]|(?:id|name)=[\"']{re.escape(heading)}[\"']", document.text)
    )


def on_disk(vault: Snapshot, link: LinkRow) -> bool:
    """Whether a Markdown link leads to something that is no note or attachment: a folder, a dot file."""
    path = link.raw.partition("#")[0].partition("?")[0]
    if not path or "\0" in path:
        return False
    for base in (os.path.dirname(link.source), ""):
        full = os.path.normpath(os.path.join(vault.root, base, path.lstrip("/")))
        if full.startswith(vault.root) and os.path.lexists(full):
            return True
    return False


def duplicates(vault: Snapshot, unclear: dict[str, set[str]]) -> Iterator[Finding]:
    """Names that several notes answer to: file names and aliases, compared as Obsidian compares them."""
    names: dict[str, dict[str, str]] = {}
    for row in vault.rows:
        if row.conflict or vault.is_manual(row.rel):
            continue
        names.setdefault(stem(row.rel), {})[row.rel] = "name"
        for alias in row.aliases:
            names.setdefault(fold(alias), {}).setdefault(row.rel, "alias")
    for name, holders in sorted(names.items()):
        if len(holders) < 2:
            continue
        rels = sorted(holders, key=lambda rel: (holders[rel] != "name", len(rel), rel))
        others = ", ".join(rels[1:6]) + (" …" if len(rels) > 6 else "")
        linked = sorted(unclear.get(name, ()))
        if linked:
            message = f"links to this name, as in {linked[0]}, could also mean {others}"
            yield Finding(rels[0], 0, "name-unclear", message, "link with the folder, or rename", "warning")
        elif name not in EVERYWHERE:
            what = "has the same name" if all(holders[rel] == "name" for rel in rels) else "answers to the same name"
            yield Finding(rels[0], 0, "name-twice", f"{what} as {others}", level="note")


def stem(rel: str) -> str:
    """A note's name as links compare it."""
    name = fold(rel.rsplit("/", 1)[-1])
    return name[:-3] if name.endswith(".md") else name


def short(rel: str) -> str:
    """How one would write a link to the file: the name, without `.md`."""
    name = rel.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name
