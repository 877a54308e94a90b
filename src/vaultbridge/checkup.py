"""The checks themselves, in the order in which a person would ask."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .doctor import FAIL, NOTE, OK, WARN, Finding, check

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge


@check("vault")
def vault(bridge: Bridge) -> Iterator[Finding]:
    if not os.path.isdir(bridge.root):
        yield Finding(FAIL, f"{bridge.root} is not there", "put the folder back, or register its new place")
        return
    writable = os.access(bridge.root, os.W_OK)
    yield Finding(
        OK if writable else WARN, bridge.root + ("" if writable else " is read-only: nothing can be remembered")
    )
    if not os.path.exists(os.path.join(bridge.root, "vault-manifest.json")):
        yield Finding(
            WARN, "there is no vault-manifest.json, so defaults are in force", f"om setup --vault {bridge.root}"
        )


@check("manifest")
def manifest(bridge: Bridge) -> Iterator[Finding]:
    problems = bridge.manifest.problems
    for problem in problems[:20]:
        yield Finding(WARN, problem.sentence(), "mend that line; it is read again at once")
    if not problems:
        yield Finding(OK, "read without complaint")


@check("environment")
def environment(bridge: Bridge) -> Iterator[Finding]:
    from vaultcore import environment as made

    from .bridge import CODE

    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(OK, f"Python {version} in {sys.prefix}")
    held = made.read_mark(sys.prefix)
    lock = held.get("lock")
    if lock and held.get("hash") != made.fingerprint(os.path.join(CODE, lock)):
        yield Finding(WARN, f"the packages are not those of {lock}", "python3 om.py setup")


@check("cache")
def cache(bridge: Bridge) -> Iterator[Finding]:
    from vaultcore import places

    folder = places.cache(bridge.root)
    if not os.access(folder, os.W_OK):
        yield Finding(
            WARN, f"{folder} can't be written: the index is built anew by every process", "set OM_CACHE to a folder"
        )
    else:
        yield Finding(OK, folder)


@check("index")
def index(bridge: Bridge) -> Iterator[Finding]:
    from vaultcore.numerals import counted

    from .memories import of as memories_of

    done = bridge.refresh()
    state = bridge.index.state()
    if not done.ready:
        yield Finding(WARN, f"not complete: {done.reason or 'still being built'}", "om refresh", rebuild(bridge))
    else:
        megabytes = state["bytes"] / 1_000_000
        # memories are counted as they are read: a page beside them is in the index and is none
        kept = len(memories_of(bridge).open().records)
        counts = f"{counted(state['notes'], 'note')} and {counted(kept, 'memory', 'memories')}"
        yield Finding(OK, f"{counts}, {megabytes:.1f} MB, full text {state['full_text']}")
    if state["problem"]:
        yield Finding(NOTE, f"it was mended by itself: {state['problem']}")
    for problem in done.problems[:10]:
        yield Finding(WARN, problem.sentence(), about=(problem.path,) if problem.path else ())


def rebuild(bridge: Bridge) -> Callable[[], str]:
    def mend() -> str:
        bridge.index.rebuild()
        return "the index was built anew"

    return mend


@check("search")
def search(bridge: Bridge) -> Iterator[Finding]:
    from vaultbridge import search as engines
    from vaultcore.identity import ANONYMOUS

    first = bridge.index.listing(bridge.policy.admits, most=1)
    if not first:
        why, step = bridge.policy.why_closed, "mend that file"
        yield Finding(
            FAIL if why else WARN,
            why or "no note is exposed, so nothing can be found",
            step if why else "set mcp_exposed_roots in vault-manifest.json",
        )
        return
    rel, title, _ = first[0]
    answer = engines.search(bridge, ANONYMOUS, title, 5)
    lanes = ", ".join(f"{lane} {state}" for lane, state in answer.lanes.items())
    if any(hit.rel == rel for hit in answer.hits):
        yield Finding(OK, f"a note is found by its title; {lanes}")
    else:
        yield Finding(FAIL, f"{rel} is not found by its title; {lanes}", "om doctor --fix", rebuild(bridge))


from .vectors import checks as _vectors  # noqa: E402, F401, I001  their place in the order is behind search
from .qmd import checks as _qmd  # noqa: E402, F401


@check("exposure")
def exposed(bridge: Bridge) -> Iterator[Finding]:
    from vaultcore import exposure

    policy = bridge.policy
    for problem in exposure.unmatched(bridge.manifest, policy):
        named = problem.message.partition("'")[2].partition("'")[0]
        entry = os.path.join(bridge.root, *named.split("/"))
        if not os.path.isdir(entry) and named != bridge.manifest.get("mcp_inbox"):  # it is made when it is needed
            yield Finding(WARN, problem.sentence(), about=(named,))
    roots = ", ".join(policy.roots) or "none"
    yield Finding(OK if policy.roots else WARN, f"exposed roots ({policy.source}): {roots}")
    private = sum(1 for row in bridge.index.troubled() if row.private and bridge.policy.admits(row.rel))
    if private:
        yield Finding(NOTE, f"private inside them: {private}")


@check("notes")
def notes(bridge: Bridge) -> Iterator[Finding]:
    broken = [row for row in bridge.index.troubled() if row.problem and bridge.policy.admits(row.rel)]
    for row in broken[:10]:
        yield Finding(
            WARN,
            row.problem if row.problem.startswith(row.rel) else f"{row.rel}: {row.problem}",
            "mend its properties; until then it may count as private",
            about=(row.rel,),
        )
    if len(broken) > 10:
        yield Finding(WARN, f"{len(broken) - 10} more notes have properties that can't be read whole", "om check")
    copies = [row.rel for row in bridge.index.troubled() if row.conflict]
    if copies:
        shown = ", ".join(copies[:3])
        text = f"{len(copies)} conflict copies of a sync tool, e.g. {shown}"
        yield Finding(WARN, text, "merge and delete them", about=tuple(copies[:3]))
    if not broken and not copies:
        yield Finding(OK, "the properties of every exposed note can be read")


@check("audit")
def audit(bridge: Bridge) -> Iterator[Finding]:
    bridge.audit.record("health")
    if bridge.audit.problem:
        yield Finding(WARN, bridge.audit.problem, "make the folder writable")
    else:
        yield Finding(OK, "reads and refusals are recorded")


from .reasoning import checks as _reasoning  # noqa: E402, F401


@check("projects")
def projects(bridge: Bridge) -> Iterator[Finding]:
    from vaultcore import projects as known

    held = known.load(bridge.root)
    if held.problem:
        yield Finding(FAIL, held.problem)
    for name, entry in held.entries.items():
        if not entry.contested:
            continue
        yield Finding(
            WARN, f"two repositories call themselves {name}: the second one gets general memories only",
            "om register PATH --as NEWNAME, or om register PATH --same",
        )  # fmt: skip
    yield Finding(OK, f"{len(held.entries)} known")


@check("memories")
def memories(bridge: Bridge) -> Iterator[Finding]:
    from vaultcore.memory import health

    for state, text, run in health.findings(bridge.root, bridge.manifest):
        named = (str(bridge.manifest.get("memory_root")),) if state == WARN else ()  # files, and with them titles
        yield Finding(state, text, run, about=named)
