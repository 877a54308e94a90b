"""What `om doctor` and `health` say about search by meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultbridge.doctor import NOTE, OK, WARN, Finding, check

from . import engine, model

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge


@check("vectors")
def vectors(bridge: Bridge) -> Iterator[Finding]:
    if not bridge.manifest.get("search.vectors"):
        yield Finding(OK, "not used: search.vectors is false")
        return
    if not model.installed():
        yield Finding(OK, "search goes by words alone; `om setup --semantic` adds search by meaning")
        return
    lane = engine(bridge)
    assert lane is not None
    state = lane.state()
    if state == "ok":
        state = probe(bridge)
    if state == "ok":
        yield Finding(OK, "notes are found by meaning, too")
    elif state.startswith("off"):
        yield Finding(WARN, state, "python3 om.py setup --semantic")
    else:
        yield Finding(NOTE, state, "om refresh")


def probe(bridge: Bridge) -> str:
    """The lane's state after a real query."""
    from vaultbridge.search.engine import NotAsked

    lane = engine(bridge)
    assert lane is not None
    try:
        lane.search("what is this vault about", 1)
    except NotAsked as reason:
        return str(reason)
    return lane.state()
