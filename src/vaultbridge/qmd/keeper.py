"""The one qmd process of a bridge: when it is started, how long it is waited for, when it is given up and replaced."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from vaultbridge.search.engine import NotAsked
from vaultcore import qmd
from vaultcore.errors import VaultError

from . import models, program, queries
from .client import Client, Late, Lost, Wrong

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.qmd import Index

START = 10.0  # seconds a child may take to say hello
FIRST = 15.0  # seconds a search waits for the first answer of a child, which may be loading models
LATER = 2.0
COLD = 600.0  # seconds the first answer may take while searches go on without it
COOL_DOWN = (5.0, 30.0, 300.0)  # seconds before a child that was lost is replaced: once, again, and from then on
MISSES = 2  # late answers in a row after which a warm child is given up
FRESH = 30.0  # seconds for which what was seen of index, models and vectors holds

UNSTRUCTURED = "qmd answered without structured results, and its text cannot be held against the policy"
COLD_SAYS = "this says nothing about the notes"


class Setting:
    """What a search by qmd needs: the program, this vault's index, the models that are here."""

    __slots__ = ("index", "models", "program")

    def __init__(self, found: program.Program, index: Index, held: frozenset[str]) -> None:
        self.program, self.index, self.models = found, index, held


class Keeper:
    """Keeps the child. Safe to use from several threads; no call waits for another one's start."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.client: Client | None = None
        self._starting = threading.Lock()
        self._seen: tuple[float, str, Setting | str | None] = (-FRESH, "", None)
        self._vectors: tuple[float, bool] = (-FRESH, False)
        self._lost = ""
        self._until = 0.0
        self._falls = self._missed = 0

    @property
    def demanded(self) -> bool:
        """Whether the manifest asks for qmd by name, whatever it can or cannot add."""
        return bool(self.bridge.manifest.get("search.backend") == "qmd")

    def setting(self) -> Setting | str | None:
        """What there is to ask; a sentence when qmd cannot be used for this vault; None when it is not installed or
        (unless demanded) has no index of this vault. Looks at files only, and seldom."""
        manifest = self.bridge.manifest
        at, version, held = self._seen
        if version == manifest.fingerprint and time.monotonic() - at < FRESH:
            return held
        answer = self._look()
        self._seen = (time.monotonic(), manifest.fingerprint, answer)
        return answer

    def _look(self) -> Setting | str | None:
        manifest = self.bridge.manifest
        found = program.find(str(manifest.get("qmd_min_version")))
        if found is None:
            return None
        try:
            index = qmd.resolve(self.bridge.root, manifest)
            if not index.registered:
                return "this vault has no qmd index: run `om qmd setup`" if self.demanded else None
            return found if isinstance(found, str) else Setting(found, index, models.present(index))
        except VaultError as error:
            return str(error)

    def state(self) -> str:
        """ "ok", or why qmd is not asked now. Starts nothing."""
        setting = self.setting()
        if setting is None:
            return "off: qmd is not installed"
        if isinstance(setting, str):
            return f"off: {setting}"
        if not self.demanded and "embed" not in setting.models:
            return "not asked: its models are not here (search.backend qmd asks it all the same)"
        if not self.demanded and self.client is not None and self._no_vectors():
            return "not asked: it has no vectors yet (`om qmd refresh` makes them)"
        if time.monotonic() < self._until:
            return f"off for a moment: {self._lost}"
        client = self.client
        if client is not None and not client.gone and not client.warm and client.owed > 0:
            if client.owed < COLD:
                return f"still loading its models after {client.owed:.0f} s: {COLD_SAYS}"
            self._fall(client, "its first answer never came")
            return f"off for a moment: {self._lost}"
        return "ok"

    def ask(self, query: str, first: float | None = None, later: float | None = None) -> list[Any]:
        """The raw results of one query, best first; `first` and `later` are the seconds a cold and a warm child gets.
        Raises RuntimeError with the reason."""
        setting = self.setting()
        if not isinstance(setting, Setting):
            raise Lost(self.state())
        client = self._running(setting)
        vectors = "embed" in setting.models and self._has_vectors(client, setting)
        if not vectors and not self.demanded:
            raise NotAsked("not asked: it has no vectors yet (`om qmd refresh` makes them)")
        arguments = queries.arguments(query, setting.index.collection, vectors)
        if not arguments["searches"]:
            return []
        warm = client.warm
        patience = (later or LATER) if warm else (first or FIRST)
        try:
            results = client.tool("query", arguments, patience).get("results")
        except Late:
            if not warm:
                raise NotAsked(f"still loading its models after {patience:.0f} s: {COLD_SAYS}") from None
            self._missed += 1
            if self._missed >= MISSES:
                self._fall(client, f"it was slower than {patience:.0f} s twice")
            raise
        except Lost as error:
            self._fall(client, str(error))
            raise
        if not isinstance(results, list):
            raise Wrong(UNSTRUCTURED)
        self._missed = self._falls = 0
        return results[:1000]

    def _running(self, setting: Setting) -> Client:
        """The child, started if there is none and none was lost a moment ago. Raises Lost or NotAsked."""
        if not self._starting.acquire(blocking=False):
            raise NotAsked(f"it is being started: {COLD_SAYS}")
        try:
            client = self.client
            if client is not None and (client.gone or client.index.name != setting.index.name):
                self._fall(client, client.gone or "its index has another name now")
                client = None
            if client is not None:
                return client
            if time.monotonic() < self._until:
                raise Lost(self._lost)
            client = Client(setting.program, setting.index, self.bridge.root)
            try:
                client.start(START)
                self._inspect(client, setting)
            except (Lost, Late, Wrong) as error:
                self._fall(client, str(error))
                raise Lost(self._lost) from None
            self.client = client
            return client
        finally:
            self._starting.release()

    def _no_vectors(self) -> bool:
        at, held = self._vectors
        return not held and time.monotonic() - at < FRESH

    def _has_vectors(self, client: Client, setting: Setting) -> bool:
        at, held = self._vectors
        if not held and time.monotonic() - at >= FRESH:
            self._inspect(client, setting)
        return self._vectors[1]

    def _inspect(self, client: Client, setting: Setting) -> None:
        """Make sure that the index served is this vault's, and see whether it has vectors. Raises Wrong."""
        told = client.tool("status", {}, START)
        held = told.get("collections")
        for entry in held if isinstance(held, list) else ():
            if isinstance(entry, dict) and entry.get("name") == setting.index.collection:
                if qmd.same(str(entry.get("path") or ""), self.bridge.root):
                    self._vectors = (time.monotonic(), told.get("hasVectorIndex") is True)
                    return
                raise Wrong(f"the collection {setting.index.collection} is another folder's: run `om qmd setup`")
        raise Wrong(f"the index {setting.index.name} holds nothing of this vault yet: run `om qmd setup`")

    def _fall(self, client: Client, why: str) -> None:
        """Give a child up; the next one may come after a while that grows with every fall."""
        client.close(why)
        if self.client is client:
            self.client = None
        self._lost, self._missed = why, 0
        self._until = time.monotonic() + COOL_DOWN[min(self._falls, len(COOL_DOWN) - 1)]
        self._falls += 1

    def look_again(self) -> None:
        """Forget what was seen of index, models and vectors."""
        self._seen, self._vectors = (-FRESH, "", None), (-FRESH, False)

    def close(self) -> None:
        """End the child, if there is one."""
        client, self.client = self.client, None
        if client is not None:
            client.close()
