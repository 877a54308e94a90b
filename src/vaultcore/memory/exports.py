"""Memories as other systems export them: read, never trusted, each with an id of its own to recognise it by."""

from __future__ import annotations

import json
import os
import re

from . import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

KINDS = ("claude", "chatgpt", "memory-json", "basic-memory", "obsidian-mind")
LARGEST = 500_000_000
_BULLET = re.compile(r"^\s*[-*+]\s+(?:\[([^\[\]\n]{1,32})\]\s+)?(.+)$")


class Item:
    """One thing to take over. `data` holds a whole memory file that is taken as it is, else title and body are."""

    __slots__ = ("external_id", "title", "body", "date", "data", "name")

    def __init__(
        self, external_id: str, title: str, body: str, date: str = "", data: bytes = b"", name: str = ""
    ) -> None:
        self.external_id = external_id
        self.title = record.one_line(title)[:200]
        self.body = body.strip()
        self.date = date[:10] if re.match(r"\d{4}-\d{2}-\d{2}", date) else ""
        self.data = data
        self.name = name


def kind_of(path: str) -> str:
    """Which of KINDS lies at `path`; a Refusal that names them when none does."""
    from vaultcore.errors import Refusal

    if os.path.isdir(path):
        if os.path.isfile(os.path.join(path, "conversations.json")) or os.path.isfile(
            os.path.join(path, "memories.json")
        ):
            return _kind_of_json(_load(os.path.join(path, _main(path))))
        for folder, folders, names in os.walk(path):
            folders[:] = [f for f in folders if not f.startswith(".")]
            for name in sorted(names)[:50]:
                if name.endswith(".md"):
                    head = _head(os.path.join(folder, name))
                    if "source: mcp-capture" in head or "source: hand-filed" in head:
                        return "obsidian-mind"
                    if "permalink:" in head:
                        return "basic-memory"
    elif os.path.isfile(path):
        if path.endswith(".zip"):
            raise Refusal("packed", f"{os.path.basename(path)} is an archive.", "Unpack it and name the folder.")
        return _kind_of_json(_load(path))
    raise Refusal(
        "unknown-export",
        f"{os.path.basename(path)!r} is no export that om knows.",
        f"Name its kind: {', '.join(KINDS)}.",
    )


def read(path: str, kind: str) -> Iterator[Item]:
    """Everything in the export at `path`."""
    if kind == "obsidian-mind":
        yield from _files(path)
    elif kind == "basic-memory":
        yield from _basic(path)
    else:
        data = _load(os.path.join(path, _main(path)) if os.path.isdir(path) else path)
        yield from {"claude": _claude, "chatgpt": _chatgpt, "memory-json": _graph}[kind](data)


def _main(folder: str) -> str:
    return "memories.json" if os.path.isfile(os.path.join(folder, "memories.json")) else "conversations.json"


def _head(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(2_000)
    except OSError:
        return ""


def _load(path: str) -> Any:
    """JSON, or JSON lines; a Refusal names the file that is neither."""
    from vaultcore.errors import Refusal

    try:
        if os.path.getsize(path) > LARGEST:
            raise Refusal("large-export", f"{os.path.basename(path)} is larger than 500 MB.", "Split it.")
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal("unreadable", f"{os.path.basename(path)} cannot be read ({error}).", "Check the file.") from error
    try:
        return json.loads(text)
    except ValueError:
        rows = []
        for line in text.splitlines():
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except ValueError:
                    raise Refusal("unreadable", f"{os.path.basename(path)} is no JSON.", "Export it again.") from None
        return rows


def _kind_of_json(data: Any) -> str:
    from vaultcore.errors import Refusal

    rows = data if isinstance(data, list) else [data]
    first = next((r for r in rows if isinstance(r, dict)), {})
    if "entities" in first or first.get("type") in ("entity", "relation"):
        return "memory-json"
    if "mapping" in first:
        return "chatgpt"
    if "conversations_memory" in first or "project_memories" in first or "chat_messages" in first:
        return "claude"
    raise Refusal("unknown-export", "This JSON is no export that om knows.", f"Name its kind: {', '.join(KINDS)}.")


def _mark(*parts: str) -> str:
    import hashlib

    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:20]


def _claude(data: Any) -> Iterator[Item]:
    """Claude's memory export: one text of headings and bullets per account or project."""
    for row in data if isinstance(data, list) else [data]:
        if not isinstance(row, dict):
            continue
        texts = {"": row.get("conversations_memory")}
        projects = row.get("project_memories")
        if isinstance(projects, dict):
            texts.update(projects)
        for name, text in texts.items():
            if isinstance(text, str):
                yield from _bullets(f"claude:{name}", text)


def _bullets(source: str, text: str) -> Iterator[Item]:
    heading = ""
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*+]\s)|\n(?=#)", text):
        block = block.strip()
        found = re.match(r"^(?:#{1,6}\s+|\*\*)(.+?)(?:\*\*)?\s*(?:\n|$)", block)
        if found:
            heading = found.group(1).strip("* ")
            block = block[found.end() :].strip()
        bullet = _BULLET.match(block)
        body = bullet.group(2) + block[bullet.end() :] if bullet else block
        if len(body) > 3:
            yield Item(f"{source}:{_mark(body)}", _titled(body), body + (f"\n\n(Under {heading}.)" if heading else ""))


def _chatgpt(data: Any) -> Iterator[Item]:
    """What ChatGPT wrote into its memory: the messages to its `bio` tool, in any conversation."""
    for conversation in data if isinstance(data, list) else [data]:
        nodes = conversation.get("mapping") if isinstance(conversation, dict) else None
        for key, node in (nodes or {}).items():
            message = node.get("message") if isinstance(node, dict) else None
            if not isinstance(message, dict) or message.get("recipient") != "bio":
                continue
            parts = (message.get("content") or {}).get("parts") or []
            text = "\n".join(p for p in parts if isinstance(p, str)).strip()
            when = message.get("create_time")
            if text:
                yield Item(f"chatgpt:{key}", _titled(text), text, _day(when))


def _graph(data: Any) -> Iterator[Item]:
    """The knowledge-graph memory server: entities with observations, relations between them."""
    rows = data if isinstance(data, list) else [data]
    entities = [
        e
        for r in rows
        if isinstance(r, dict)
        for e in (r.get("entities") or ([r] if r.get("type") == "entity" else []))
    ]
    relations = [
        e
        for r in rows
        if isinstance(r, dict)
        for e in (r.get("relations") or ([r] if r.get("type") == "relation" else []))
    ]
    for entity in entities:
        name = str(entity.get("name") or "")
        seen = [str(o.get("content", "") if isinstance(o, dict) else o) for o in entity.get("observations") or []]
        lines = [f"- {record.one_line(o)}" for o in seen if o.strip()]
        lines += [f"- {r.get('relationType')}: {r.get('to')}" for r in relations if r.get("from") == name]
        if name and lines:
            kind = str(entity.get("entityType") or "")
            yield Item(f"memory-json:{name}", f"{name} ({kind})" if kind else name, "\n".join(lines))


def _basic(path: str) -> Iterator[Item]:
    """A basic-memory folder: one memory per note."""
    from vaultcore import properties

    for rel, data in _markdown(path):
        text, _ = properties.decode(data)
        props = properties.read(text)
        body = text[props.body :].strip()
        title = str(props.values.get("title") or os.path.basename(rel)[:-3])
        if body.startswith("# "):
            body = body.split("\n", 1)[1].strip() if "\n" in body else ""
        if body:
            yield Item(
                f"basic-memory:{props.values.get('permalink') or rel}",
                title,
                body,
                str(props.values.get("created") or ""),
            )


def _files(path: str) -> Iterator[Item]:
    """Another vault's memories, taken over byte for byte but for their external_id."""
    for rel, data in _markdown(path):
        r = record.parse(rel, data)
        if r is not None and r.source in record.SOURCES:
            yield Item(
                f"obsidian-mind:{r.origin}:{r.session or r.date}:{_mark(r.title)}",
                r.title,
                r.body,
                r.date,
                data,
                os.path.basename(rel),
            )


def _markdown(path: str) -> Iterator[tuple[str, bytes]]:
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "node_modules")
        for name in sorted(names):
            full = os.path.join(folder, name)
            if (
                name.lower().endswith(".md")
                and not name.startswith(".")
                and os.path.isfile(full)
                and os.path.getsize(full) < 2_000_000
            ):
                with open(full, "rb") as file:
                    yield os.path.relpath(full, path).replace(os.sep, "/"), file.read()


def _titled(text: str) -> str:
    line = record.one_line(text.split("\n", 1)[0])
    if len(line) <= 90:
        return line.rstrip(".")
    cut = line[:89]
    return (cut[: cut.rfind(" ")] if " " in cut[40:] else cut) + "…"


def _day(seconds: object) -> str:
    import time

    try:
        return time.strftime("%Y-%m-%d", time.gmtime(float(str(seconds))))
    except (ValueError, OverflowError):
        return ""
