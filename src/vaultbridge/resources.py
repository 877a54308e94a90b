"""Notes as MCP resources: `vault://note/{path}`, listed in pages, read in pages, completed by path.

Lists are the same for every caller. A note that may not be read and one that does not exist get the same answer.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bridge import Bridge

SCHEME = "vault://note/"
TEMPLATES: list[dict[str, Any]] = [
    {
        "uriTemplate": SCHEME + "{+path}",
        "name": "note",
        "title": "A note of the vault",
        "description": "One note by its path in the vault. A long one comes in pages; each names the URI of the next.",
        "mimeType": "text/markdown",
    }
]

PAGE = 100  # notes in one page of the list
TEXT = 36_000  # characters of one page of a note; with its frame below every client's limit
URI = 2_048


class UnknownResource(Exception):
    """There is no such resource for anyone who asks: outside, hidden, private, missing or malformed."""


class BadCursor(Exception):
    """A list cursor that this server did not issue."""


def uri(rel: str, cursor: int = 0) -> str:
    """The URI of a note; `cursor` is the character at which a later page starts."""
    from urllib.parse import quote

    return SCHEME + quote(rel, safe="/") + (f"?cursor={cursor}" if cursor else "")


def parse(text: str) -> tuple[str, int]:
    """The vault-relative path and the cursor of a note's URI, decoded once. Raises UnknownResource.

    A `?` or `#` that does not introduce a cursor belongs to the name: clients expand the template without escaping.
    """
    import re
    from urllib.parse import unquote

    found = re.fullmatch(re.escape(SCHEME) + r"(.+?)(?:[?#]cursor=([0-9]{1,9}))?", text, re.DOTALL)
    if found is None or len(text) > URI:
        raise UnknownResource
    try:
        rel = unquote(found[1], errors="strict")
    except UnicodeDecodeError:
        raise UnknownResource from None
    parts = rel.split("/")
    if (
        any(c in rel for c in "\0\\\n\r")
        or any("\ud800" <= c <= "\udfff" for c in rel)
        or any(part == "" or part.startswith(".") for part in parts)
        or not rel.lower().endswith(".md")
    ):
        raise UnknownResource
    return rel, int(found[2] or 0)


def visible(bridge: Bridge, after: str = "", most: int = 1_000_000) -> list[tuple[str, str, int]]:
    """Path, title and size of the notes that exist for a caller, sorted by path: at most `most`, from behind `after`.

    The index is brought up to date first.
    """
    bridge.refresh()
    return bridge.index.listing(bridge.policy.admits, after, most)


def page(bridge: Bridge, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
    """One page of the list and the cursor of the next. A cursor names the last path, so changes do not shift pages."""
    from .fence import flat

    found = visible(bridge, _last(cursor) if cursor else "", PAGE + 1)
    shown = found[:PAGE]
    listed = [
        {
            "uri": uri(rel),
            "name": rel,
            "title": flat(title or rel, 200),
            "mimeType": "text/markdown",
            "size": size,
        }
        for rel, title, size in shown
    ]
    return listed, _cursor(shown[-1][0]) if len(found) > PAGE else None


def _cursor(rel: str) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(rel.encode()).decode("ascii")


def _last(cursor: str) -> str:
    from base64 import b64decode
    from binascii import Error

    try:
        return b64decode(cursor.encode("ascii"), b"-_", validate=True).decode()
    except (Error, ValueError):
        raise BadCursor from None


def read(bridge: Bridge, text: str) -> list[dict[str, Any]]:
    """The contents of the resource `text` names: the note, framed as data, and where it goes on when it is long.

    Raises UnknownResource.
    """
    from vaultcore import exposure, notes
    from vaultcore.errors import VaultError

    from . import fence

    rel, start = parse(text)
    bridge.check()
    decision = exposure.readable(bridge.manifest, bridge.policy, rel)
    if not decision.ok or decision.rel is None:
        raise UnknownResource
    try:
        note = notes.read(bridge.root, decision.rel)
    except VaultError:
        raise UnknownResource from None
    if note.private or start > len(note.text):
        raise UnknownResource
    shown, left = fence.cut(note.text[start:], TEXT)
    framed = fence.frame(
        "note", fence.tag(), shown, path=decision.rel, part=f"from character {start}" if start else None
    )
    contents: list[dict[str, Any]] = [{"uri": text, "mimeType": "text/markdown", "text": framed}]
    if left:
        following = uri(decision.rel, start + len(shown))
        contents.append(
            {"uri": following, "mimeType": "text/plain", "text": f"{left} more characters: read {following}"}
        )
    return contents


def known(bridge: Bridge, text: str) -> str:
    """The path of the readable note that `text` names, for a subscription. Raises UnknownResource."""
    from vaultcore import exposure

    rel, _ = parse(text)
    bridge.check()
    decision = exposure.readable(bridge.manifest, bridge.policy, rel)
    if not decision.ok or decision.rel is None:
        raise UnknownResource
    return str(decision.rel)


def paths(bridge: Bridge, typed: str) -> list[str]:
    """Completions for the template's `path`, best first."""
    from .prompts import matches

    return matches((rel for rel, _, _ in visible(bridge)), typed)
