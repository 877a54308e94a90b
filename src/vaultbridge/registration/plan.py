"""What a registration, or taking one back, changes: worked out first, shown, then written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from vaultbridge.registration import clients, exclusion, files, hooks, record, section
from vaultbridge.registration.command import VARIABLE, Command
from vaultcore import repository
from vaultcore.errors import VaultError


@dataclass
class Plan:
    """The changes of one scope (a folder, or "user"), sentences for the person, and snippets to put in by hand."""

    scope: str
    changes: dict[str, files.Change] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    snippets: list[tuple[str, str]] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    gone: dict[str, files.Change] = field(default_factory=dict)  # what a record says and the disk no longer has
    needed: dict[str, list[str]] = field(default_factory=dict)  # lines of a file that several folders share

    def text(self, path: str) -> str | None:
        """The file as it will be, "" when there is none; None when it is no UTF-8 text."""
        change = self.changes.get(path)
        data = change.after if change else files.read(path)
        try:
            return (data or b"").decode("utf-8")
        except UnicodeDecodeError:
            return None

    def write(self, path: str, text: str | None, agent: str = "") -> None:
        """Plan `text` for `path`; None removes the file."""
        data = None if text is None else text.encode("utf-8")
        change = self.changes.setdefault(path, files.Change(path, files.read(path), data))
        change.after = data
        if agent and agent not in change.agents:
            change.agents.append(agent)

    def real(self) -> list[files.Change]:
        """The changes that change something."""
        return [change for change in self.changes.values() if change.before != change.after]


def registration(
    folder: str | None,
    agents: list[str],
    command: Command,
    triggers: list[str],
    env: Mapping[str, str],
    hooked: bool = False,
) -> Plan:
    """Plan to register `agents` in `folder`, or with None for the user; `hooked`: with hooks in that folder."""
    plan = Plan(folder or "user")
    for name in agents:
        client = clients.CLIENTS[name]
        path = clients.path(client, folder, env)
        try:
            _contained(path, folder)
            text = plan.text(path)
            if text is None:
                raise clients.Unsuitable("it is not UTF-8 text")
            plan.write(path, clients.put(client, text, command), name)
            plan.agents.append(name)
        except clients.Unsuitable as error:
            plan.notes.append(f"{path} is left alone ({error}): put this into it yourself")
            plan.snippets.append((path, clients.snippet(client, command)))
    if folder:
        if hooked:
            _write_hooks(plan, folder, agents, command)
        _write_section(plan, folder, agents, triggers)
        if not command.portable:
            exclusion.add(plan, folder)
    if command.portable:
        plan.notes.append(f"set {VARIABLE} to the vault's folder where the clients start, in your shell's profile say")
    return plan


def unregistration(root: str, folder: str | None, env: Mapping[str, str]) -> Plan:
    """Plan to take back everything in `folder` (or the user's configuration): byte for byte where nobody wrote to a
    file since, else just our own entries."""
    plan = Plan(folder or "user")
    entries = record.load(root)
    for path, entry in entries.items():
        lines = record.lines(entry)
        if plan.scope not in lines if lines else entry.get("scope") != plan.scope:
            continue
        plan.agents += [agent for agent in record.words(entry, "agents") if agent not in plan.agents]
        if len(lines) > 1:
            exclusion.remove(plan, path, lines)
        else:
            _restore(plan, path, entry)
    for name, client in clients.CLIENTS.items():
        path = clients.path(client, folder, env)
        if path in plan.changes or path in plan.gone or not os.path.exists(path):
            continue
        text = plan.text(path)
        if text is not None and clients.registered(client, text):
            _strip(plan, path, created=False)
            plan.agents += [name] if name not in plan.agents else []
    if folder:
        for path in (one for agent in hooks.AGENTS for one in hooks.paths(agent, folder)):
            if path not in plan.changes and os.path.isfile(path) and hooks.registered(plan.text(path) or ""):
                _strip(plan, path, created=False)
        for name in section.FILES:
            path = os.path.join(folder, name)
            if path not in plan.changes and os.path.isfile(path) and section.START in (plan.text(path) or ""):
                _strip(plan, path, created=False)
    return plan


def apply(root: str, plan: Plan, undo: bool = False) -> None:
    """Write what was planned, and record it (or, with `undo`, forget it). Raises VaultError; what was written before
    the failure is recorded, so that it can be taken back."""
    from vaultcore import write

    with write.lock(root, "registrations"):
        entries = record.load(root)
        record.save(root, entries)  # a record that cannot be kept must be known before anything is written
        folders: list[str] = []
        try:
            for change in plan.real():
                made = files.install(change.path, change.before, change.after)
                if not undo:
                    record.note(entries, plan.scope, change, made)
                    record.save(root, entries)
            for path, lines in plan.needed.items():
                record.share(entries, plan.scope, path, lines, plan.changes.get(path))
            if undo:
                for path in [one for one in (*plan.changes, *plan.gone) if one not in plan.needed]:
                    entry = entries.pop(path, {})
                    folders += record.words(entry, "folders")
        finally:
            record.save(root, entries)
        files.remove_folders(folders)


def _restore(plan: Plan, path: str, entry: record.Entry) -> None:
    current = files.read(path)
    if current is None:
        plan.gone[path] = files.Change(path, None, None)
        return
    created = bool(entry.get("created"))
    before = record.original(entry, current)
    same = before is not None and files.digest(current) == entry.get("after")
    if same and entry.get("before") != "unknown" and (created or files.digest(before) == entry.get("before")):
        plan.changes[path] = files.Change(path, current, None if created else before)
        return
    if before is not None and not _ours(path, before):
        plan.changes[path] = files.Change(path, current, None if created and not before.strip() else before)
        return
    _strip(plan, path, created)


def _strip(plan: Plan, path: str, created: bool) -> None:
    """Plan to remove just our own entries from a file that was edited since, or of which no record is left."""
    text = plan.text(path)
    if text is None:
        plan.notes.append(f"{path} is left alone: it is no longer UTF-8 text")
        return
    rest, empty = section.remove(text), False
    try:
        rest = hooks.remove(rest) if path.endswith(".json") else rest
    except clients.Unsuitable as error:
        plan.notes.append(f"{path} is left alone ({error}): remove the hooks of the vault yourself")
        return
    for client in _readers(path):
        try:
            rest = clients.remove(client, rest)
            empty = clients.empty(client, rest)
        except clients.Unsuitable as error:
            plan.notes.append(f"{path} is left alone ({error}): remove the entry `{'.'.join(client.KEY)}` yourself")
            return
    if rest == text:
        plan.gone[path] = files.Change(path, None, None)
        return
    plan.write(path, None if created and (empty or not rest.strip()) else rest)


def _ours(path: str, data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    if path.endswith(".json") and hooks.registered(text):
        return True
    return section.START in text or any(clients.registered(client, text) for client in _readers(path))


def _readers(path: str) -> list[clients.Client]:
    suffix = {".json": "json", ".toml": "toml"}.get(os.path.splitext(path)[1], "")
    found = {client.KEY: client for client in clients.CLIENTS.values() if client.FORM == suffix}
    return list(found.values())


def _write_hooks(plan: Plan, folder: str, agents: list[str], command: Command) -> None:
    for agent in agents:
        if agent not in hooks.AGENTS:
            plan.notes.append(f"{agent} has no hooks that the vault knows: they are for {', '.join(hooks.AGENTS)}")
            continue
        path = hooks.path(agent, folder, command)
        try:
            _contained(path, folder)
            text = plan.text(path)
            if text is None:
                raise clients.Unsuitable("it is not UTF-8 text")
            plan.write(path, hooks.put(text, agent, command), agent)
            if agent in hooks.REMARKS:
                plan.notes.append(hooks.REMARKS[agent])
        except clients.Unsuitable as error:
            plan.notes.append(f"{path} is left alone ({error}): put these hooks into it yourself")
            plan.snippets.append((path, hooks.snippet(agent, command)))


def _write_section(plan: Plan, folder: str, agents: list[str], triggers: list[str]) -> None:
    for path in section.targets(folder, agents):
        try:
            _contained(path, folder)
            text = plan.text(path)
            if text is None:
                raise clients.Unsuitable("it is not UTF-8 text")
            plan.write(path, section.put(text, folder, triggers))
        except clients.Unsuitable as error:
            plan.notes.append(f"{path} is left alone ({error}): put this into it yourself")
            plan.snippets.append((path, section.put("", folder, triggers)))


def _contained(path: str, folder: str | None) -> None:
    """A project's file must lie in the project: a link in it is somebody else's choice of what we write to."""
    if folder and not repository.inside(os.path.realpath(path), os.path.realpath(folder)):
        raise clients.Unsuitable("it is a link that leaves the repository")


def working_tree(path: str, exact: bool) -> str:
    """Where a client started in `path` looks for project files: the top of its working tree (of a linked one too), or
    with `exact` the very folder. Raises VaultError when there is no such folder."""
    real = os.path.realpath(os.path.expanduser(path))
    if not os.path.isdir(real):
        raise VaultError(f"{path} is not a folder: give the folder of a repository")
    if exact:
        return real
    place = repository.place(real)
    limit = place.chain if place else []
    return next((at for at in exclusion.upwards(real)[: len(limit)] if os.path.lexists(os.path.join(at, ".git"))), real)
