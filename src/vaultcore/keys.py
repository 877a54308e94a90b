"""Every key of the manifest: what it is for, its type and its default. Dotted names are keys of nested objects."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEGMENT = r"""[^\\/:*?"<>|\x00-\x1f.][^\\/:*?"<>|\x00-\x1f]*"""
"""One folder name that is safe on every system and never . or .."""


class Key:
    """One key: its type, its default, and what it is for.

    `type` is one of string, strings, segment (one safe path segment), integer (above 0), object, choice, boolean.
    """

    __slots__ = ("choices", "default", "doc", "type")

    def __init__(self, type: str, default: Any, doc: str, choices: tuple[str, ...] = ()) -> None:
        self.type = type
        self.default = default
        self.doc = doc
        self.choices = choices


KEYS: dict[str, Key] = {
    "template": Key("string", "", "The template this vault was made from."),
    "version": Key("string", "", "The template's version."),
    "released": Key("string", "", "The day that version was released."),
    "qmd_index": Key("string", "", "Name of the qmd index; empty: derived from the folder's name."),
    "qmd_context": Key("string", "", "One text about the vault, given to qmd."),
    "qmd_min_version": Key("string", "2.0.0", "The oldest qmd that is used."),
    "infrastructure": Key("strings", [], "Globs of files that belong to the template, not to the user."),
    "user_content_roots": Key("strings", [], "Folders or globs of the user's notes; exposed if nothing else is named."),
    "scaffold": Key("object", {}, "Files an update writes only when they are missing: path to text."),
    "frontmatter_required": Key(
        "object", {},
        "Kind of note to the properties it must have, as {name: type} or as a list of names. The kind is a tag, a"
        " folder ending with /, or * (also: global) for every note. Types: date, datetime, text, list, number,"
        " checkbox.",
    ),
    "note_types": Key(
        "object", {},
        "Note type for `om new` to {template, folder, dated, index}: the template's name, where such notes go,"
        " whether names start with the date, and the note (with #Heading) that lists them. Other templates work"
        " without an entry.",
    ),
    "done_statuses": Key(
        "strings", ["done", "completed", "cancelled", "closed", "archived"],
        "Values of `status` that mean the work is over.",
    ),
    "profile": Key("string", "", "The profile this vault was set up with."),
    "version_fingerprints": Key("object", {}, "Version to the files that exist or are missing in it."),
    "mcp_exposed_roots": Key("strings", [], "Folders or globs of notes that other repositories may read."),
    "mcp_never_expose": Key("strings", [], "File names, paths, folders or globs that are never exposed."),
    "memory_root": Key("segment", "memories", "The folder that holds memories."),
    "mcp_inbox": Key("segment", "inbox", "The folder where records go that name no other."),
    "eager_layer_budget_bytes": Key(
        "integer", 9_000, "Bytes that may be loaded into a session unasked, up to the agent's cap."
    ),
    "listing_collapse_threshold": Key("integer", 12, "Notes in a folder beyond which a listing shows a count."),
    "open_loop_dirs": Key(
        "strings", ["work/1-1", "work/meetings", "work/incidents"], "Folders searched for open loops."
    ),
    "open_loop_sections": Key("strings", ["action items", "what to watch"], "Headings whose open items are loops."),
    "signals": Key(
        "object", {}, "Kind of message to more phrases that mark it; `never` for phrases that mean nothing."
    ),
    "transcripts_kept": Key("integer", 30, "Copies of transcripts kept in thinking/session-logs."),
    "hygiene.cap": Key("integer", 5, "Findings of one kind that are named; the rest is counted."),
    "hygiene.cluster_notes": Key("integer", 3, "Loose notes in work/active with a word in common that make a cluster."),
    "hygiene.inbox_days": Key("integer", 3, "Days after which a note in an inbox is mentioned."),
    "hygiene.meeting_days": Key("integer", 7, "Days after which a note in work/meetings is mentioned."),
    "hygiene.open_loop_days": Key("integer", 14, "Days after which an open item is mentioned."),
    "hygiene.split_bytes": Key("integer", 25_000, "Size from which a note should be split."),
    "reason.cli": Key(
        "choice", "auto", "The agent that the reason tool asks; auto: the first of them that is installed.",
        ("auto", "claude", "codex", "gemini"),
    ),
    "reason.model": Key("string", "", "The model that the reason tool asks; empty: the agent's own default."),
    "reason.wait_seconds": Key("integer", 240, "Seconds after which an unfinished answer becomes a job to pick up."),
    "reason.limit_seconds": Key("integer", 900, "Seconds after which an unfinished answer is given up."),
    "memory.auto_retire": Key(
        "choice", "key", "What retires an older memory by itself: the same `about` key, a sentence, or nothing.",
        ("key", "sentence", "off"),
    ),
    "search.backend": Key("choice", "auto", "The search engine.", ("auto", "embedded", "qmd")),
    "update.source": Key(
        "string", "", "The repository that `om update` takes releases from; empty: the remote with release tags."
    ),
    "search.vectors": Key(
        "boolean", True, "Search by meaning too, where `om setup --semantic` has installed the model."
    ),
}  # fmt: skip


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the manifest; `vault-manifest.schema.json` is this, written out."""
    groups: dict[str, dict[str, Any]] = {}
    found: dict[str, Any] = {}
    for name, key in KEYS.items():
        found[name] = _described(key)
        group, dot, inner = name.partition(".")
        if dot:
            groups.setdefault(group, {})[inner] = found[name]
    for group, inner_keys in groups.items():
        nested = {"type": "object", "properties": inner_keys, "additionalProperties": False}
        found[group] = {**found.get(group, {}), **nested}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Manifest of an om-vault",
        "description": "vault-manifest.json, and vault-manifest.local.json which is read over it.",
        "type": "object",
        "properties": {"$schema": {"type": "string"}, **found},
        "additionalProperties": False,
    }


def _described(key: Key) -> dict[str, Any]:
    about: dict[str, Any] = {"description": key.doc, "default": key.default}
    if key.type == "strings":
        return {"type": "array", "items": {"type": "string"}, **about}
    if key.type == "segment":
        return {"type": "string", "pattern": f"^{SEGMENT}$", **about}
    if key.type == "integer":
        return {"type": "integer", "minimum": 1, **about}
    if key.type == "choice":
        return {"enum": list(key.choices), **about}
    return {"type": key.type, **about}
