"""A memory that a person corrected in a note: the note's block or section is served in its place."""

from __future__ import annotations

import re

from vaultcore import fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultcore.exposure import Policy
    from vaultcore.manifest import Manifest

    from .tombstones import Tombstones

LINES = 40
CHARACTERS = 8_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Served:
    """`text` is what to serve instead of the capture, None when the capture stays; `state` is "served", "unanchored",
    "stale", "withheld", "missing", "rejected" or "ruled-out"; `label` is one line for the reader."""

    __slots__ = ("text", "state", "label")

    def __init__(self, text: str | None, state: str, label: str) -> None:
        self.text, self.state, self.label = text, state, label


def split(marker: object) -> tuple[str, str, str] | None:
    """(note, kind, anchor) of a marker, kind "block", "heading" or ""; None when it is no marker at all.

    Split at the last `#^`, else at the last `#`: a note may be called "C# notes".
    """
    if not isinstance(marker, str) or not marker.strip() or _CONTROL.search(marker):
        return None
    text = marker.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].split("|")[0]
    note, mark, anchor = text.rpartition("#^")
    kind = "block"
    if not mark:
        note, mark, anchor = text.rpartition("#")
        kind = "heading"
    if not mark:
        note, anchor = text, ""
    note, anchor = note.strip(), anchor.strip()
    if not note:
        return None
    return note, kind if anchor else "", anchor


def serve(
    marker: object,
    manifest: Manifest,
    policy: Policy,
    find: Callable[[str], str | None] | None = None,
    stones: Tombstones | None = None,
    cache: dict[str, str] | None = None,
) -> Served:
    """What a `promoted` property brings: through the one exposure predicate, bounded, every failure named alike
    whether or not a withheld note exists. `find` resolves a note's name to its path."""
    from vaultcore import exposure, markdown, notes
    from vaultcore.errors import VaultError

    parts = split(marker)
    if parts is None:
        return Served(None, "rejected", "its promoted property is no note#^block")
    name, kind, anchor = parts
    if not kind:
        return Served(None, "unanchored", f"promoted into {name[:120]!r} without a block or heading")
    rel = name if name.lower().endswith(".md") else name + ".md"
    decision = exposure.readable(manifest, policy, rel)
    if not decision.ok and find is not None:
        found = find(name)
        decision = exposure.readable(manifest, policy, found) if found else decision
    if not decision.ok or decision.rel is None:
        # one label for both: whoever reads it must not learn that a note it may not see is there
        label = f"STALE: promoted into {name[:120]!r}, which is not there or not exposed"
        return Served(None, "missing" if decision.reason == "missing" and policy.admits(rel) else "withheld", label)
    held = cache if cache is not None else {}
    if decision.rel not in held:
        try:
            held[decision.rel] = notes.read(manifest.root, decision.rel).text
        except VaultError:
            return Served(None, "withheld", f"promoted into {name[:120]!r}, which cannot be read")
    text = held[decision.rel]
    if kind == "block":
        piece = markdown.block(text, anchor)
        body = piece.text if piece else ""
        place = f"{decision.rel}#^{anchor}"
    else:
        document = markdown.parse(text)
        piece = markdown.section(document, anchor)
        body = piece.text.split("\n", 1)[1] if piece and "\n" in piece.text else ""
        if piece and any(h.line == piece.line0 and h.level == 1 for h in document.headings):
            piece = None  # the heading of level one is the whole note
        place = f"{decision.rel}#{anchor}"
    if piece is None or not body.strip():
        return Served(None, "stale", f"STALE: promoted into {place[:160]!r}, which has no such {kind}")
    if stones is not None and stones.match_text(body) is not None:
        return Served(None, "ruled-out", f"promoted into {place[:160]!r}, whose text a person ruled out")
    shown, cut = bounded(body)
    return Served(shown, "served", f"promoted: {place[:160]}" + (" (cut)" if cut else ""))


def aim(root: str, folder: str, marker: str, find: Callable[[str], str | None] | None = None) -> tuple[str, str]:
    """(the marker with the note's path, that path) for what a person wants served; a Refusal that names what there is
    when the note, heading or block is not there. `folder` is the memories' own, which holds no notes."""
    from vaultcore import markdown, notes
    from vaultcore.errors import VaultError

    from .declarations import refuse

    parts = split(marker)
    shown = fence.flat(marker, 80)
    if parts is None or not parts[1]:
        raise refuse("bad-marker", f"{shown!r} names no block or heading.", 'Give "note#^block" or "note#Heading".')
    name, kind, anchor = parts
    note = None
    for rel in (name if name.lower().endswith(".md") else name + ".md", find(name) if find else None):
        try:
            note = note or (notes.read(root, rel) if rel else None)
        except VaultError:
            continue
    if note is None:
        raise refuse(
            "no-such-note", f"{fence.flat(name, 80)!r} is no note of the vault.", "`om search` finds its path."
        )
    if note.rel.startswith(folder + "/"):
        raise refuse("bad-marker", f"{fence.flat(note.rel, 160)} is itself a memory.", "Name a note that corrects it.")
    document = markdown.parse(note.text)
    held = [f"#{h.text}" for h in document.headings if h.level > 1] + [f"#^{b.id}" for b in document.blocks]
    following = "It holds " + ", ".join(fence.flat(h, 60) for h in held[:20]) + "." if held else "It holds none."
    place = f"{fence.flat(note.rel, 160)}"
    if kind == "block":
        piece = markdown.block(note.text, anchor)
        body = piece.text if piece else ""
    else:
        piece = markdown.section(document, anchor)
        body = piece.text.partition("\n")[2] if piece else ""
    sign = f"^{fence.flat(anchor, 60)}" if kind == "block" else repr(fence.flat(anchor, 60))
    if piece is None:
        raise refuse(f"no-such-{kind}", f"{place} has no {kind} {sign}.", following)
    if kind == "heading" and any(h.line == piece.line0 and h.level == 1 for h in document.headings):
        raise refuse("whole-note", f"In {place} {sign} is the heading of the whole note, not of a part.", following)
    if not body.strip():
        raise refuse("empty-part", f"In {place} {sign} holds no text.", following)
    return f"{note.rel.removesuffix('.md')}#{'^' if kind == 'block' else ''}{anchor}", note.rel


def bounded(text: str) -> tuple[str, bool]:
    """At most LINES lines and CHARACTERS characters, blank edges removed first."""
    lines = text.strip("\n").split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    cut = len(lines) > LINES
    shown = "\n".join(lines[:LINES]).rstrip()
    if len(shown) > CHARACTERS:
        shown, cut = shown[: CHARACTERS - 1] + "…", True
    return shown, cut
