"""The two prompts a user can pick: what do we know about a topic, and has this been done before."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultcore.identity import Caller

    from .bridge import Bridge

PROMPTS: list[dict[str, Any]] = [
    {
        "name": "recall_topic",
        "title": "What do we know about this?",
        "description": "Gather what the vault and its memories say about a topic, before work on it starts.",
        "arguments": [{"name": "topic", "description": "a project, system, person or subject", "required": True}],
    },
    {
        "name": "prior_art",
        "title": "Has this been solved before?",
        "description": "Find earlier decisions, attempts and lessons that bear on a question.",
        "arguments": [{"name": "question", "description": "what is to be decided or built", "required": True}],
    },
]

LIMIT = 500  # characters of an argument

TASKS = {
    "recall_topic": (
        "Tell me what the vault knows about the topic below. Call `recall` with it, then `search`; read the notes "
        "that bear on it and follow their links with `expand`. Report what holds now, what was replaced and by what, "
        "what is only inferred, and what is open. Cite every note by path and date. Where nothing was found, say so."
    ),
    "prior_art": (
        "Before anything is designed, find out what was already decided, tried or learned about the question below. "
        "Call `search` with it and with its key terms, and `recall` for lessons; read what comes back. Report each "
        "earlier decision or attempt with its path, its date and how it ended, then what of it applies here and what "
        "does not. If there is no prior art, say so plainly."
    ),
}


def message(name: str, arguments: dict[str, str], gathered: str) -> str:
    """The user message of prompt `name`: the task, the argument, and what a first look has `gathered` (may be empty).

    Raises KeyError for an unknown prompt and ValueError with a sentence for a missing or unknown argument.
    """
    from .fence import flat

    task = TASKS[name]
    argument = argument_of(name)
    unknown = sorted(set(arguments) - {argument})
    if unknown:
        raise ValueError(f"the prompt {name} takes `{argument}` only, not {flat(unknown[0], 40)!r}")
    value = flat(arguments.get(argument) or "", LIMIT)
    if not value:
        raise ValueError(f"the prompt {name} needs its argument `{argument}`")
    parts = [task, f"{argument.capitalize()}: {value}"]
    if gathered:
        parts.append(f"A first look at the vault:\n\n{gathered}")
    return "\n\n".join(parts)


def argument_of(name: str) -> str:
    """The one argument of prompt `name`. KeyError for an unknown prompt."""
    return str({prompt["name"]: prompt["arguments"][0]["name"] for prompt in PROMPTS}[name])


def gather(bridge: Bridge, caller: Caller, name: str, value: str) -> str:
    """A first look for prompt `name`: what `recall` and `search` answer for `value`, or why they do not."""
    import logging

    from vaultcore.errors import VaultError

    from . import surface

    order = ("recall", "search") if name == "recall_topic" else ("search", "recall")
    found = []
    for tool in order:
        module = surface.modules().get(tool)
        if module is None:
            continue
        try:
            # recall tells of the memories: the search beside it is for the notes
            only = {"notes_only": True} if tool == "search" else {}
            found.append(module.run(bridge, caller, {"query": value, "limit": 5, **only}))
        except VaultError as error:
            found.append(f"({tool}: {error})")
        except Exception as error:  # the first look is a courtesy: the task stands without it
            logging.getLogger("om").error("%s for a prompt: %s: %s", tool, type(error).__name__, error)
            found.append(f"({tool} could not be used for a first look: call it)")
    return "\n\n".join(found)


def topics(bridge: Bridge, argument: str, typed: str) -> list[str]:
    """Completions for a prompt's argument, best first: titles of visible notes, for a topic also their tags."""
    from .resources import visible

    entries = visible(bridge)
    words = {title for _, title, _ in entries if title}
    if argument == "topic":
        seen = {rel for rel, _, _ in entries}
        words.update(tag for tag, rels in bridge.index.tags().items() if not seen.isdisjoint(rels))
    return matches(words, typed)


def matches(words: Any, typed: str) -> list[str]:
    """The `words` that hold what was typed, those that begin with it first, without regard to case."""
    sought = typed.strip().casefold()
    ranked = []
    for word in words:
        at = word.casefold().find(sought)
        if at >= 0:
            ranked.append((at > 0, word.casefold(), word))
    return [word for _, _, word in sorted(ranked)]
