"""Who is at the keyboard: what only a person may do asks for a terminal and for nobody else's session around it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller
    from vaultcore.memory.memories import Memories, Writer

# variables that agents set for the commands they run
AGENTS = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
)


def at_terminal() -> bool:
    """Whether a person can be asked: input and output are a terminal, and no agent runs this command."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not any(os.environ.get(name) for name in AGENTS)


def require(verb: str) -> None:
    """Refuse `verb` without a person at a terminal."""
    from vaultcore.errors import Refusal

    if not at_terminal():
        raise Refusal(
            "no-person",
            f"`om {verb}` is a person's decision and needs a terminal.",
            "Run it yourself in a terminal; an agent can only ask for it.",
        )


def writer() -> Writer:
    """The person, as logs name one: the channel is stamped here and by no argument."""
    from vaultcore.memory.memories import Writer
    from vaultcore.memory.reach import PERSON

    return Writer("a person", "", (), PERSON, "person")


def author(root: str, dry: bool) -> tuple[Caller, Writer]:
    """Who writes with this command, and as whom: a name is bound at its first write, but not when it is `dry`."""
    from vaultbridge import memories
    from vaultcore import binding, identity

    who = caller(root)
    if who is identity.PERSON:
        return who, writer()
    if not dry:
        who = binding.bind(root, who)
    return who, memories.writer(who)


def given(options: Mapping[str, object]) -> dict[str, object]:
    """The options that were given, as the arguments of the tool of the same name."""
    held = {name: value for name, value in options.items() if value not in (None, False, ())}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in held.items()}


def opened(root: str) -> tuple[Bridge, Memories]:
    """The vault and its memories, brought up to the files."""
    from vaultbridge import memories
    from vaultbridge.bridge import Bridge

    bridge = Bridge(root, channel="person" if at_terminal() else "agent")
    bridge.check()
    held = memories.of(bridge)
    held.open()
    return bridge, held


def at_home(root: str, verb: str, reading: bool = False) -> None:
    """Refuse `verb`, which looks at every note, to an agent that works in another repository.

    What only reads (`reading`) the session of om's own vault may do on another vault too: to move that one in.
    """
    from vaultbridge.bridge import CODE
    from vaultcore.errors import Refusal

    if not caller(root).vault and not (reading and caller(CODE).vault):
        raise Refusal(
            "not-here",
            f"`om {verb}` works on the whole vault, not only on what other repositories may read.",
            "Run it at a terminal, or in the vault's own folder.",
        )


def caller(root: str) -> Caller:
    """Who runs this command: a person at a terminal sees everything; else the project of the working directory."""
    from vaultcore import identity

    if at_terminal():
        return identity.PERSON
    try:
        here: str | None = os.getcwd()
    except OSError:
        here = None
    return identity.resolve(root, None, identity.process_claims([], os.environ, here))
