"""What comes out of a note is data: framed so that it cannot pass for the bridge's own words.

A reply draws one random tag and frames every piece of note content with it, so that no content can close
its own frame. Everything that stands outside a frame is flattened to one line first.
"""

from __future__ import annotations

ELLIPSIS = "…"


def tag() -> str:
    """A fresh random suffix for the frames of one reply."""
    import os

    return os.urandom(4).hex()


def flat(value: object, limit: int = 300) -> str:
    """`value` as one harmless line of at most `limit` characters.

    Line breaks, control characters and invisible format characters (which can hide or reorder text) become
    spaces; lone surrogates become U+FFFD.
    """
    text = str(value)[: limit * 4]
    if not (text.isascii() and text.isprintable()):
        text = "".join([_safe(c) for c in text])
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + ELLIPSIS


def _safe(c: str) -> str:
    if " " <= c <= "~":
        return c
    from unicodedata import category

    kind = category(c)
    if kind == "Cs":
        return "\ufffd"
    # U+200C and U+200D shape words in Persian and Indic scripts and join emoji: they stay
    return " " if kind in ("Cc", "Cf", "Zl", "Zp") and c not in "\u200c\u200d" else c


def attribute(value: object, limit: int = 300) -> str:
    """`value` as a quoted attribute of a frame; quotes and backslashes are escaped with a backslash."""
    text = flat(value, limit).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def body(text: str) -> str:
    """`text` as it may stand inside a frame: lone surrogates and NULs replaced, line ends made LF."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text.encode("utf-8", "replace").decode("utf-8")


def frame(kind: str, mark: str, text: str, **attributes: object) -> str:
    """One piece of content: `<kind-mark key="value">`, the text, `</kind-mark>`. Attributes of None are left out."""
    head = "".join(f" {key}={attribute(value)}" for key, value in attributes.items() if value is not None)
    return f"<{kind}-{mark}{head}>\n{body(text)}\n</{kind}-{mark}>"


def cut(text: str, limit: int) -> tuple[str, int]:
    """The head of `text` that fits `limit` characters, cut at a line end where one is near, and how many are left."""
    if len(text) <= limit:
        return text, 0
    edge = text.rfind("\n", limit * 3 // 4, limit)
    edge = limit if edge < 0 else edge + 1
    return text[:edge], len(text) - edge
