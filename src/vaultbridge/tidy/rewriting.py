"""Change the links of the vault so that they mean, after a move, the files they meant before."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from vaultcore import markdown, properties
from vaultcore.links import Resolver
from vaultcore.text import fold

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot


def edits(vault: Snapshot, moved: dict[str, str]) -> tuple[dict[str, tuple[bytes, bytes]], list[str]]:
    """For `moved` (old path -> new path): file (old path) -> (bytes now, bytes wanted), and remarks about files that
    name a moved path and cannot be changed safely.
    """
    everything = [*(row.rel for row in vault.rows), *vault.memory_rels, *vault.attachments]
    after = Resolver([moved.get(rel, rel) for rel in everything], renamed(vault.aliases, moved))
    concerned: set[str] = set()
    for link in vault.links:
        before = vault.resolve(link)
        if before.rel is None:
            continue
        source = moved.get(link.source, link.source)
        if after.resolve(link.raw, source).rel != moved.get(before.rel, before.rel):
            concerned.add(link.source)
    changed: dict[str, tuple[bytes, bytes]] = {}
    remarks: list[str] = []
    for rel in sorted(concerned):
        pair = note(vault, rel, moved, after)
        if pair is None:
            remarks.append(f"{rel} is not UTF-8 and keeps its links: mend them by hand")
        elif pair[0] != pair[1]:
            changed[rel] = pair
    boards, said = canvases(vault, moved)
    changed.update(boards)
    return changed, [*remarks, *said, *bases(vault, moved)]


def renamed(aliases: dict[str, list[str]], moved: dict[str, str]) -> dict[str, list[str]]:
    return {alias: [moved.get(rel, rel) for rel in rels] for alias, rels in aliases.items()}


def note(vault: Snapshot, rel: str, moved: dict[str, str], after: Resolver) -> tuple[bytes, bytes] | None:
    """The bytes of one note and what they should be; None when it is not UTF-8."""
    with open(os.path.join(vault.root, rel), "rb") as file:
        data = file.read()
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        text = data[len(bom) :].decode("utf-8")
    except UnicodeDecodeError:
        return None
    document = markdown.parse(text, properties.read(text).body)
    source, parts, at = moved.get(rel, rel), [], 0
    for link in document.links:
        before = vault.resolver.resolve(link.raw, rel)
        if before.rel is None:
            continue
        goal = moved.get(before.rel, before.rel)
        if after.resolve(link.raw, source).rel == goal:
            continue
        written = text[link.start : link.end]
        wanted = rewrite(written, link, target(goal, source, after, link))
        parts += [text[at : link.start], wanted]
        at = link.end
    return data, bom + ("".join(parts) + text[at:]).encode()


def target(goal: str, source: str, after: Resolver, link: markdown.Link) -> str:
    """How to write the path of `goal` in `source`: a Markdown link relative, a wikilink as short as it stays true."""
    name = goal.rsplit("/", 1)[-1]
    if link.kind == "markdown":
        relative = os.path.relpath(goal, os.path.dirname(source) or ".").replace(os.sep, "/")
        tries = [relative, goal] if "/" in link.raw else [name, relative, goal]
    else:
        tries = [name.removesuffix(".md"), goal.removesuffix(".md"), goal]
    for path in tries:
        found = after.resolve(path, source)
        # a bare name that several files have would be right today and wrong after the next move
        if found.rel == goal and ("/" in path or len(found.candidates) == 1):
            return path
    return goal


def rewrite(written: str, link: markdown.Link, path: str) -> str:
    """The link as written, with another path; subpath, alias, embed mark and escapes stay."""
    if link.kind == "markdown":
        opening = written.rindex("](") + 2
        inside = written[opening:-1]
        old = re.match(r"\s*<[^>]*>|\s*[^\s]*", inside)
        rest = inside[old.end() :] if old else ""
        subpath = (re.search(r"#[^>]*", old.group()) if old else None) or None
        tail = subpath.group() if subpath else ""
        if old and old.group().strip().startswith("<"):
            return f"{written[:opening]}<{path}{tail}>{rest})"
        return f"{written[:opening]}{quote(path, safe='/()&,;=+@!$~')}{tail}{rest})"
    start = written.index("[[") + 2
    cut = re.search(r"[#|\\]|\]\]", written[start:])
    end = start + (cut.start() if cut else len(written) - start - 2)
    return written[:start] + path + written[end:]


def canvases(vault: Snapshot, moved: dict[str, str]) -> tuple[dict[str, tuple[bytes, bytes]], list[str]]:
    """Cards that show a moved file: only the text of that path changes."""
    changed: dict[str, tuple[bytes, bytes]] = {}
    remarks: list[str] = []
    folded = {fold(old): new for old, new in moved.items()}
    for rel in vault.attachments:
        if not rel.lower().endswith(".canvas"):
            continue
        with open(os.path.join(vault.root, rel), "rb") as file:
            data = file.read()
        try:
            nodes = json.loads(data.decode("utf-8")).get("nodes", [])
            files = {node["file"] for node in nodes if isinstance(node, dict) and isinstance(node.get("file"), str)}
        except (ValueError, AttributeError, RecursionError):
            if any(json.dumps(old)[1:-1].encode() in data for old in moved):
                remarks.append(f"{rel} cannot be read and may show a moved note: mend it by hand")
            continue
        wanted = data
        for shown in files:
            new = folded.get(fold(shown))
            if new is None:
                continue
            for ascii_only in (True, False):
                old_text = json.dumps(shown, ensure_ascii=ascii_only).encode()
                new_text = json.dumps(new, ensure_ascii=ascii_only).encode()
                pattern = rb'("file"\s*:\s*)' + re.escape(old_text)
                wanted = re.sub(pattern, rb"\g<1>" + new_text.replace(b"\\", rb"\\"), wanted)
        if wanted != data:
            changed[rel] = (data, wanted)
    return changed, remarks


def bases(vault: Snapshot, moved: dict[str, str]) -> list[str]:
    """Bases that name a moved path in an expression; these are a person's to change."""
    remarks = []
    for rel in vault.attachments:
        if rel.lower().endswith(".base"):
            text = vault.text(rel) or ""
            named = [old for old in moved if old in text or old.removesuffix(".md") + '"' in text]
            remarks += [f"{rel} names {old}: change it by hand" for old in named]
    return remarks
