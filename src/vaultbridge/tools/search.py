"""`search`: which notes are about this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import READ, REPLY, schema, text, whole

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultbridge.search.engine import Answer
    from vaultcore.identity import Caller

TOOL: dict[str, Any] = {
    "name": "search",
    "title": "Search the vault",
    "description": (
        "Find notes by words, a question, a title, alias, path or id. Call it before answering about past decisions, "
        'prior art, people or reasons. Keep a phrase together with "quotes". Returns paths, lines, snippets and '
        "why each note matched; then `read` or `expand` a path."
    ),
    "inputSchema": schema(
        ["query"],
        query=text("Words, a question, a title or a path", 10_000),
        limit=whole("How many notes at most", 1, 50, 8),
        folder=text("Only below this folder, e.g. work/incidents"),
        tag=text("Only notes with this tag or one nested in it"),
        include={
            "type": "array",
            "items": {"type": "string", "enum": ["conflicts", "history"]},
            "maxItems": 2,
            "description": "Also conflict copies of sync tools, or memories that are no longer current",
        },
    ),
    "annotations": READ,
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import memories, search
    from vaultcore.errors import Refusal

    query = arguments["query"].strip()
    if not query:
        raise Refusal("empty-query", "the query holds no words", "say what to look for, e.g. a title or a question")
    folder, tag = arguments.get("folder"), arguments.get("tag")
    include = tuple(arguments.get("include", ()))
    # memories lie in no folder; the prompts, which recall them beside it, ask for notes only
    apart = folder or tag or arguments.get("notes_only")
    answer = search.search(
        bridge,
        caller,
        query,
        arguments.get("limit", 8),
        folder=folder,
        tag=tag,
        include=include,
        memories=lambda words, limit: [] if apart else memories.hits(bridge, caller, words, include),
    )
    return word(answer, query) + nowhere(bridge, folder) + unsearched(tag)


def unsearched(tag: str | None) -> str:
    """A sentence on the one tag that finds nothing on purpose."""
    from vaultcore.private import is_tag

    return "\nThe tag private withholds notes: no search finds one by it." if tag and is_tag(tag) else ""


def nowhere(bridge: Bridge, folder: str | None) -> str:
    """A sentence when no note that may be served lies in `folder`, so that a slip of the pen is no empty answer."""
    from vaultbridge.fence import flat
    from vaultcore.text import fold

    if not folder:
        return ""
    start = fold(folder.strip("/").removeprefix("./")) + "/"
    policy = bridge.policy
    if bridge.index.listing(lambda rel: fold(rel).startswith(start) and policy.admits(rel), most=1):
        return ""
    return f"\nNo exposed folder {flat(folder, 120)!r} holds a note: leave `folder` out, or name one of " + (
        ", ".join(flat(root, 60) for root in policy.roots[:12]) + "."
    )


def word(answer: Answer, query: str) -> str:
    """The reply: counts first, then each hit framed as data, then what is not shown and why."""
    from vaultbridge.fence import flat, frame, tag

    mark = tag()
    notes = sum(hit.kind == "note" for hit in answer.hits)
    memories = len(answer.hits) - notes
    found = f"{notes} note{'s' * (notes != 1)}"
    if memories:
        found += f" and {memories} memor{'ies' if memories > 1 else 'y'}"
    lines = [f"{found} for {flat(query, 120)!r}, {answer.searched} notes searched."]
    size = len(lines[0])
    shown = 0
    for number, hit in enumerate(answer.hits, 1):
        if hit.kind == "memory":
            lines.append(
                frame("memory", mark, flat(hit.snippet, 300), title=hit.title, id=hit.id, path=hit.rel, facets=hit.why)
            )
            shown += 1
            continue
        inner = [f"title: {flat(hit.title, 200)}"]
        if hit.heading:
            inner.append(f"heading: {flat(hit.heading, 200)}")
        inner.append(f"why: {flat(hit.why, 200)}")
        inner.append(hit.snippet)
        piece = frame(
            "hit", mark, "\n".join(inner), n=number, path=hit.rel, lines=f"{hit.line0}-{hit.line1}",
        )  # fmt: skip
        if size + len(piece) > REPLY - 1_000:
            break
        lines.append(piece)
        size += len(piece)
        shown += 1
    lines.extend(remarks(answer, len(answer.hits) - shown))
    return "\n".join(lines)


def remarks(answer: Answer, unshown: int) -> list[str]:
    """One sentence for each thing a reader must know about what is missing."""
    found = []
    if not answer.hits and answer.searched:
        found.append("Nothing matched: try other words, or fewer.")
    if not answer.searched and not answer.incomplete:
        found.append("The vault exposes no notes: `health` says why.")
    if answer.withheld:
        found.append(f"{answer.withheld} withheld by the vault's policy.")
    if answer.copies:
        found.append(f"{answer.copies} conflict copies left out: include conflicts to see them.")
    if answer.dropped:
        found.append(f"{answer.dropped} dropped: the file is gone or changed.")
    if answer.more + unshown:
        found.append(f"{answer.more + unshown} more: raise `limit` or narrow the query.")
    if answer.incomplete:
        found.append(f"Incomplete: {answer.incomplete}")
    lanes = ", ".join(f"{name} {state}" for name, state in answer.lanes.items())
    found.append(f"Lanes: {lanes}.")
    return found
