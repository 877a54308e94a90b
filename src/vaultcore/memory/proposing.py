"""What a hook may do with memories: propose one. It waits in the inbox, served to nobody, until a person looks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.identity import Caller

    from .recording import Outcome


def propose(root: str, caller: Caller, given: dict[str, object]) -> Outcome:
    """Send `given` (what `remember` takes) through every gate on behalf of a hook that runs for `caller`, and file it
    as a proposal. The channel is stamped here; nothing that is given can name another. Raises Refusal."""
    from vaultcore import manifest

    from .memories import Memories, Settings, Writer
    from .reach import Reader
    from .recording import remember

    held = manifest.load(root)
    memories = Memories(root, Settings(str(held.get("memory_root")), str(held.get("memory.auto_retire"))))
    memories.open()
    # a hook is nobody's session: what it proposes is held against what the project sees, never against more
    reader = Reader(caller.projects, caller.platforms)
    writer = Writer(caller.name, caller.project or "", caller.projects, reader, "hook")
    return remember(memories, given, writer, inbox=True)
