"""Declared paths and keys of a memory, in their one form."""

from __future__ import annotations

import re

from . import record


def refuse(code: str, why: str, next: str = "", **details: object) -> Exception:
    from vaultcore.errors import Refusal

    return Refusal(code, why, next, dict(details))


_PATH_MOST, _PATH_BYTES, _PATHS_BYTES = 16, 1_024, 8_192


_DRIVE = re.compile(r"^[A-Za-z]:")


def paths(items: object) -> list[str]:
    """Repository-relative paths or globs, validated; a Refusal names the one that cannot be one."""
    import unicodedata

    kept: dict[str, str] = {}
    for item in items if isinstance(items, list) else []:
        text = unicodedata.normalize("NFC", str(item)).strip()
        text = text[2:] if text.startswith("./") else text
        text = text.rstrip("/") or text
        parts = text.split("/")
        if (
            not text
            or text.startswith(("/", "~"))
            or "\\" in text
            or _DRIVE.match(text)
            or any(p in ("", "..") for p in parts)
            or (len(parts) > 1 and "." in parts)
            or text != record.one_line(text)
            or len(text.encode("utf-8", "replace")) > _PATH_BYTES
        ):
            raise refuse(
                "bad-path",
                f"paths: {record.one_line(text)[:80]!r} is no path inside the repository.",
                "Give it relative to the repository's root with forward slashes: "
                '"src/api/auth.py", "src/api" or "src/**/*.sql".',
            )
        kept.setdefault(text.casefold(), text)
    if len(kept) > _PATH_MOST or sum(len(p.encode()) for p in kept.values()) > _PATHS_BYTES:
        raise refuse(
            "many-paths",
            f"paths holds {len(kept)}, at most {_PATH_MOST} (8 KiB together) are kept.",
            "Name their common folder.",
        )
    return list(kept.values())


def subject(text: str) -> str:
    """The normal form of a declared key `subject/property`; a Refusal when it is none."""
    from . import forms

    text = record.one_line(text)
    if not text:
        return ""
    parts = [forms.value(p) for p in text.split("/")]
    if len(parts) < 2 or not all(parts) or len(text) > 200:
        raise refuse(
            "bad-about", f"about {text[:60]!r} must be subject/property.", 'For example "billing service/retry limit".'
        )
    return "/".join(parts)
