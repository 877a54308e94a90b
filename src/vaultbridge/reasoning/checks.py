"""What `om doctor` and `health` say about reasoning: which agent would be asked, without starting it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultbridge.doctor import NOTE, OK, WARN, Finding, check

from . import commands, programs, records

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge


@check("reason")
def reason(bridge: Bridge) -> Iterator[Finding]:
    choice, model = str(bridge.manifest.get("reason.cli")), str(bridge.manifest.get("reason.model")).strip()
    found = programs.choose(choice)
    if isinstance(found, str):
        state = NOTE if choice == "auto" else WARN
        yield Finding(state, f"{found}: `reason` can't answer", "install claude, codex or gemini, or set reason.cli")
    else:
        asked = f"model {model}" if model else "its default model"
        how = "the first found" if choice == "auto" else "reason.cli"
        yield Finding(OK, f"{found.name} at {found.path} would be asked ({how}; {asked})")
    if model and not commands.MODEL.fullmatch(model):
        yield Finding(
            WARN, f"reason.model is {model[:60]!r}, which is no model's name", "mend it in vault-manifest.json"
        )
    for folder in records.folders(bridge.root):
        count = len(records.names(folder))
        if count:
            inside = folder.startswith(bridge.root + os.sep)
            yield Finding(
                OK, f"{count} answers are kept in {os.path.relpath(folder, bridge.root) if inside else folder}"
            )
