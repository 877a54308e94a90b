"""The vault as the checks see it: every note and link once, from the index, with what is a note and what is not."""

from __future__ import annotations

import json
import os
import re
from fnmatch import translate
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vaultbridge.checks.nearness import Nearness
from vaultcore import manifest as manifests
from vaultcore import notes, walk
from vaultcore.links import Resolution, Resolver
from vaultcore.markdown import Document, parse

if TYPE_CHECKING:
    from vaultcore.index import Index
    from vaultcore.index.rows import LinkRow, Row


class Snapshot:
    """One look at the vault at `root`. Raises VaultError when the index cannot be brought up to the files."""

    def __init__(self, root: str) -> None:
        from vaultcore.errors import VaultError
        from vaultcore.index import open_index

        self.root = os.path.realpath(root)
        self.manifest = manifests.load(self.root)
        self.index: Index = open_index(self.root)
        done = self.index.refresh(budget=None)
        if not done.ready:
            raise VaultError(f"the notes cannot be read whole: {done.reason or 'the index is not ready'}; try again")
        self.problems = done.problems
        self._documents: dict[str, Document | None] = {}

    def close(self) -> None:
        self.index.close()

    @cached_property
    def rows(self) -> list[Row]:
        """Every note outside the memory root, templates and manuals included."""
        return self.index.notes()

    @cached_property
    def memory_rels(self) -> dict[str, str | None]:
        """The files under the memory root, each with its problem, if it has one."""
        return {row.rel: row.problem for row in self.index.memories()}

    @cached_property
    def links(self) -> list[LinkRow]:
        return self.index.links()

    @cached_property
    def attachments(self) -> list[str]:
        return self.index.attachments()

    @cached_property
    def aliases(self) -> dict[str, list[str]]:
        """Alias as written -> the notes that have it; conflict copies left out."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            for alias in row.aliases if not row.conflict else ():
                found.setdefault(alias, []).append(row.rel)
        return found

    @cached_property
    def resolver(self) -> Resolver:
        return Resolver([*(row.rel for row in self.rows), *self.memory_rels, *self.attachments], self.aliases)

    @cached_property
    def nearness(self) -> Nearness:
        return Nearness([*(row.rel for row in self.rows), *self.memory_rels, *self.attachments])

    def resolve(self, link: LinkRow) -> Resolution:
        """Where the link leads, as Obsidian decides it."""
        return self.resolver.resolve(link.raw, link.source)

    @cached_property
    def templates(self) -> str:
        """The folder of the note templates, as Obsidian is told; `templates` where it is not."""
        try:
            with open(os.path.join(self.root, ".obsidian", "templates.json"), encoding="utf-8-sig") as file:
                folder = json.load(file).get("folder")
        except (OSError, ValueError, AttributeError):
            folder = None
        return folder.strip("/") if isinstance(folder, str) and folder.strip("/") else "templates"

    def is_template(self, rel: str) -> bool:
        return rel.lower().startswith(self.templates.lower() + "/")

    @cached_property
    def _manuals(self) -> list[re.Pattern[str]]:
        patterns = self.manifest.get("infrastructure")
        names = [str(p) for p in patterns if "/" not in str(p)] if isinstance(patterns, list) else []
        return [re.compile(translate(name.lower())) for name in names]

    def is_manual(self, rel: str) -> bool:
        """Whether the file is a page of the project (README, AGENTS, …) and no note."""
        return "/" not in rel and any(pattern.match(rel.lower()) for pattern in self._manuals)

    def is_note(self, rel: str) -> bool:
        """Whether the file is somebody's note: no template, no manual, nothing below the memory root."""
        return not self.is_manual(rel) and not self.is_template(rel) and rel not in self.memory_rels

    @cached_property
    def types(self) -> dict[str, str]:
        """Property name (lower case) -> its type in Obsidian; empty where Obsidian was never told."""
        try:
            with open(os.path.join(self.root, ".obsidian", "types.json"), encoding="utf-8-sig") as file:
                declared: Any = json.load(file).get("types")
        except (OSError, ValueError, AttributeError):
            return {}
        return {str(k).lower(): str(v) for k, v in declared.items()} if isinstance(declared, dict) else {}

    def document(self, rel: str) -> Document | None:
        """The parsed text of a note; None when it cannot be read. The last few are kept."""
        if rel not in self._documents:
            from vaultcore.errors import VaultError

            if len(self._documents) > 200:
                self._documents.clear()
            try:
                note = notes.read(self.root, rel)
                self._documents[rel] = parse(note.text, note.properties.body)
            except VaultError:
                self._documents[rel] = None
        return self._documents[rel]

    def text(self, rel: str, limit: int = 2_000_000) -> str | None:
        """The text of any file of the vault; None when it cannot be read or is larger than `limit` bytes."""
        path = walk.contained(self.root, rel)
        try:
            if path is None or os.path.getsize(path) > limit:
                return None
            with open(path, encoding="utf-8-sig", errors="replace") as file:
                return file.read()
        except OSError:
            return None
