"""The agent of another repository as this vault sees it, at one event: who it is and what it may be told."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultcore.agents import Event
    from vaultcore.exposure import Policy
    from vaultcore.identity import Caller
    from vaultcore.manifest import Manifest
    from vaultcore.memory.reach import Reader
    from vaultcore.session.state import Session

    from .shelf import Shelf


class Guest:
    """One visit. What is costly is worked out when it is first asked for: most events end before that."""

    __slots__ = ("_caller", "_manifest", "_reader", "_shelf", "agent", "cwd", "root", "session")

    def __init__(self, root: str, cwd: str, agent: str, session: Session) -> None:
        self.root, self.cwd, self.agent, self.session = root, cwd, agent, session
        self._caller: Caller | None = None
        self._manifest: Manifest | None = None
        self._reader: Reader | None = None
        self._shelf: Shelf | None = None

    @property
    def shelf(self) -> Shelf:
        if self._shelf is None:
            from .shelf import Shelf

            self._shelf = Shelf(self.root)
        return self._shelf

    @property
    def manifest(self) -> Manifest:
        if self._manifest is None:
            from vaultcore import manifest

            self._manifest = manifest.load(self.root)
        return self._manifest

    @property
    def policy(self) -> Policy:
        from vaultcore import exposure

        return exposure.policy(self.manifest)

    @property
    def memory_folder(self) -> str:
        return str(self.manifest.get("memory_root")).strip("/") or "memories"

    @property
    def caller(self) -> Caller:
        """Whose repository it is, by the rules and the evidence that the bridge goes by."""
        if self._caller is None:
            from vaultcore import identity

            claims = identity.process_claims([], os.environ, self.cwd or None)
            self._caller = identity.resolve(self.root, None, claims, self._platforms)
        return self._caller

    @property
    def reader(self) -> Reader:
        """What it may see. A visit is never the vault's own session: nothing is shown to it that others may not see."""
        if self._reader is None:
            from vaultcore.memory.reach import Reader

            self._reader = Reader(self.caller.projects, self.caller.platforms)
        return self._reader

    def _platforms(self, name: str) -> list[str]:
        from vaultcore import platforms
        from vaultcore.errors import VaultError

        try:
            return platforms.of(self.root, self.shelf.notes_of(name), name, self.memory_folder)
        except VaultError:
            return []

    def audit(self, action: str, **fields: Any) -> None:
        """Leave a line about what was put before a model unasked."""
        from vaultcore.audit import Audit

        Audit(self.root, "hook").record(action, self.caller, agent=self.agent, session=self.session_name, **fields)

    @property
    def session_name(self) -> str:
        return os.path.basename(self.session.path)[:80]


def arrive(event: Event) -> Guest | None:
    """The visit that `event` belongs to; None in the vault itself, whose own hooks act there, and without a vault."""
    from vaultcore import hookio
    from vaultcore.session import state

    root = os.path.realpath(hookio.option("--vault") or event.code)
    if not os.path.isfile(os.path.join(root, hookio.MARK)):
        return None
    if event.cwd and hookio.find_root(event.cwd) == root:
        return None
    return Guest(root, event.cwd, event.agent_name, state.Session(root, f"visit-{event.agent_name}", event.session))


def real(path: str) -> str:
    """`path` with the links of its folder resolved: the file itself may be a link, and is what it is called."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def repository_path(guest: Guest, path: str) -> str:
    """`path` (absolute) relative to the caller's repository, also in another working tree of it; "" outside."""
    real_path = real(path)
    root = guest.caller.root or ""
    if root and real_path.startswith(root.rstrip(os.sep) + os.sep):
        return os.path.relpath(real_path, root).replace(os.sep, "/")
    from vaultcore import repository

    top = os.path.dirname(real_path)
    while not os.path.lexists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return ""
        top = above
    tree = repository.main_worktree(top)
    if root and tree and os.path.realpath(tree[0]) == os.path.realpath(root):
        return os.path.relpath(real_path, top).replace(os.sep, "/")
    return ""
