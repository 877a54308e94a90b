"""What `om doctor` and `health` say about qmd, ending with a real query."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultbridge.doctor import NOTE, OK, WARN, Finding, check
from vaultcore import qmd
from vaultcore.errors import VaultError

from . import models, program

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge

COLD = 60.0  # seconds the probe waits for a child that has not answered yet
WARM = 5.0


@check("qmd")
def state(bridge: Bridge) -> Iterator[Finding]:
    backend = bridge.manifest.get("search.backend")
    if backend == "embedded":
        yield Finding(OK, "not used: search.backend is embedded")
        return
    found = program.find(str(bridge.manifest.get("qmd_min_version")))
    if found is None:
        if backend == "qmd":
            text = "search.backend is qmd, which is not installed: the embedded engine answers"
            yield Finding(WARN, text, program.INSTALL)
        else:
            yield Finding(OK, "not installed; search does without it")
        return
    try:
        index = qmd.resolve(bridge.root, bridge.manifest)
        held = models.present(index)
    except VaultError as error:
        yield Finding(WARN, str(error))
        return
    if index.problem:
        yield Finding(WARN, index.problem, "set qmd_index in vault-manifest.local.json")
    if not index.registered:
        if index.taken:
            text = f"the index {index.name} is in use for {index.taken}"
            yield Finding(WARN, text, "set another qmd_index in vault-manifest.local.json")
        elif backend == "qmd":
            yield Finding(WARN, "search.backend is qmd, and this vault has no index in it", "om qmd setup")
        else:
            yield Finding(OK, "installed, but without an index of this vault; `om qmd setup` makes one")
        return
    if isinstance(found, str):
        yield Finding(WARN, found, program.INSTALL)
        return
    if not os.path.exists(index.store):
        yield Finding(WARN, f"qmd's store {index.store} is missing", "om qmd refresh")
        return
    missing = models.missing(held)
    if "embed" in missing and backend == "auto":
        text = f"qmd {found.version}, index {index.name}; models missing: {', '.join(missing)}"
        yield Finding(NOTE, text + ", so searches do not ask it", f"qmd --index {index.name} pull, then om qmd refresh")
        return
    yield from probe(bridge)


def probe(bridge: Bridge) -> Iterator[Finding]:
    """Ask what a search would ask, with the time a cold start needs."""
    from . import keeper_of

    kept = keeper_of(bridge)
    state = kept.state()
    if state != "ok":
        yield Finding(NOTE if state.startswith(("not asked", "still")) else WARN, state, "om qmd status")
        return
    row = next((row for row in bridge.index.notes() if not row.private and bridge.policy.admits(row.rel)), None)
    try:
        results = kept.ask(row.title if row is not None else "vault", first=COLD, later=WARM)
    except RuntimeError as error:
        yield Finding(WARN, f"a query failed: {error}", "om qmd refresh, then om doctor")
        return
    client = kept.client
    name = client.index.name if client is not None else "?"
    yield Finding(OK, f"index {name} answers: {len(results)} results for the title of a note")
