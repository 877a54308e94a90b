"""Files beside the notes: bases and canvases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vaultbridge import bases
from vaultbridge.checks.finding import Finding

if TYPE_CHECKING:
    from vaultbridge.checks.snapshot import Snapshot

NODES = {"text": "text", "file": "file", "link": "url", "group": None}
SIDES = ("top", "right", "bottom", "left")


def check(vault: Snapshot) -> Iterator[Finding]:
    """The faults of every .base and .canvas file."""
    for rel in vault.attachments:
        lower = rel.lower()
        if not lower.endswith((".base", ".canvas")):
            continue
        text = vault.text(rel)
        if text is None:
            yield Finding(rel, 0, "board-size", "too large to be checked, or unreadable", level="note")
        elif lower.endswith(".base"):
            yield from bases.check(rel, text)
        else:
            yield from canvas(vault, rel, text)


def canvas(vault: Snapshot, rel: str, text: str) -> Iterator[Finding]:
    """The faults of a JSON Canvas. An empty file is an empty board."""
    if not text.strip():
        return
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        yield Finding(rel, line, "canvas-form", f"not valid JSON: {getattr(error, 'msg', 'nested too deeply')}")
        return
    if not isinstance(data, dict):
        yield Finding(rel, 1, "canvas-form", "the file must be an object with nodes and edges")
        return
    ids: set[str] = set()
    files = {path.lower() for path in (*vault.attachments, *(row.rel for row in vault.rows), *vault.memory_rels)}
    for node in listed(data, "nodes"):
        yield from node_faults(rel, node, ids, files)
    edges: set[str] = set()
    for edge in listed(data, "edges"):
        if not isinstance(edge, dict) or not isinstance(edge.get("id"), str) or edge["id"] in edges:
            yield Finding(rel, 0, "canvas-form", "an edge without an id of its own")
            continue
        edges.add(edge["id"])
        for end in ("fromNode", "toNode"):
            if edge.get(end) not in ids:
                yield Finding(rel, 0, "canvas-edge", f"the edge {edge['id']!r} names a node that does not exist")
        for side in ("fromSide", "toSide"):
            if edge.get(side, "top") not in SIDES:
                yield Finding(
                    rel, 0, "canvas-edge", f"{side} of the edge {edge['id']!r} is not one of {', '.join(SIDES)}"
                )


def node_faults(rel: str, node: Any, ids: set[str], files: set[str]) -> Iterator[Finding]:
    if not isinstance(node, dict) or not isinstance(node.get("id"), str):
        yield Finding(rel, 0, "canvas-form", "a node without an id")
        return
    name, kind = node["id"], node.get("type")
    if name in ids:
        yield Finding(rel, 0, "canvas-form", f"two nodes have the id {name!r}")
    ids.add(name)
    if kind not in NODES:
        yield Finding(rel, 0, "canvas-node", f"the node {name!r} has the unknown type {kind!r}", level="warning")
        return
    for side in ("x", "y", "width", "height"):
        if isinstance(node.get(side), bool) or not isinstance(node.get(side), (int, float)):
            yield Finding(rel, 0, "canvas-node", f"the node {name!r} has no {side} as a number")
    needs = NODES[kind]
    if needs and not isinstance(node.get(needs), str):
        yield Finding(rel, 0, "canvas-node", f"the node {name!r} of type {kind} has no {needs}")
    elif kind == "file" and node["file"].lower() not in files:
        yield Finding(
            rel, 0, "canvas-file", f"the card {name!r} shows {node['file']!r}, which does not exist", level="warning"
        )


def listed(data: dict[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    return value if isinstance(value, list) else []
