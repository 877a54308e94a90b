"""Writes that an agent must not make: knowledge into its own private memory, and rulings that only a person makes."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.agents import Event
    from vaultcore.session.settings import Settings

HOMES = (
    ".claude",
    ".codex",
    ".gemini",
    ".agents",
    ".copilot",
    ".cursor",
)  # an agent's own folder, at home or in a project
STORES = ("memory", "memories", "agent-memory", "agent-memory-local")  # below it: where the agent keeps what it learns
SETUP = (
    "skills",
    "agents",
    "commands",
    "hooks",
    "plugins",
    "rules",
    "output-styles",
)  # configuration, whatever its name
INDEX = "memory.md"  # the index that Claude loads by itself; it only points to notes
UNSEEN = dict.fromkeys([0x00AD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF])

PRIVATE = (
    "om: this is {agent}'s private memory ({path}): nobody else can read, search or correct what lies there. Put "
    "lasting knowledge into the vault: a decision into brain/Key Decisions.md, a trap into brain/Gotchas.md, a way of "
    "working into brain/Patterns.md, a goal into brain/North Star.md, a lesson for other repositories "
    "through the `remember` tool."
)
RULINGS = (
    "om: {rel} is where a person rules on memories. Don't edit it: file a better memory with `remember` (naming in "
    "`supersedes` what it replaces) and tell the person that `python3 om.py review` waits for them."
)
LOG = (
    "om: {rel} is the vault's own log, which only the om tools write. To change a memory or bind a name use "
    "`remember`, `python3 om.py review` or `python3 om.py projects`."
)


def refusal(event: Event, settings: Settings) -> str:
    """Why one of the writes of this call must not happen, and what to do instead; "" when all may."""
    agent = event.agent_name.capitalize()
    for write in event.writes():
        for form in forms(write.path):
            real = os.path.realpath(form).replace("\\", "/")
            inside = below(event.root, real)
            if inside is None:
                # where the bytes go, and where it says they go
                for path in (real, os.path.normpath(form).replace("\\", "/")):
                    if is_private(path):
                        return PRIVATE.format(agent=agent, path=_shown(path))
                continue
            parts = plain(inside)
            if is_private(inside):
                return PRIVATE.format(agent=agent, path=_shown(inside))
            if parts[0] == ".om":
                return LOG.format(rel=_shown(inside))
            if parts == plain(f"{settings.get('memory_root')}/Review.md"):
                return RULINGS.format(rel=_shown(inside))
    return ""


def forms(path: str) -> list[str]:
    """The ways to read a path: as it is, and with backslashes as separators."""
    path = path.translate(UNSEEN)
    return list(dict.fromkeys([path, path.replace("\\", "/")]))


def is_private(path: str) -> bool:
    """True for a file in a memory folder below an agent's own folder, in any case."""
    parts = plain(path)
    if parts[-1] == INDEX and ".claude" in parts and parts[-2:-1] == ["memory"]:
        return False
    for home in HOMES:
        if home in parts:
            rest = parts[parts.index(home) + 1 : -1]
            if rest[:1] and rest[0] not in SETUP and any(store in rest for store in STORES):
                return True
    return False


def plain(path: str) -> list[str]:
    """The parts of a path, without what some file systems drop: case, and blanks and dots at the end of a name."""
    return [part.rstrip(" .").casefold() or part for part in path.split("/")]


def below(root: str, path: str) -> str | None:
    """`path` relative to the vault, with slashes; None outside."""
    base = root.replace("\\", "/").rstrip("/") + "/"
    if path.startswith(base):
        return path[len(base) :]
    if path.casefold().startswith(base.casefold()) and os.path.isdir(path[: len(base)]):
        same = os.path.samefile(path[: len(base)], root)  # a file system that ignores case
        return path[len(base) :] if same else None
    return None


def _shown(path: str) -> str:
    from vaultcore.session.plain import flat

    return flat(path, 160)
