"""`health`: who the bridge thinks is asking, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import READ, schema

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultbridge.doctor import Finding
    from vaultcore.identity import Caller

TOOL: dict[str, Any] = {
    "name": "health",
    "title": "Health of the vault",
    "description": (
        "Which project the vault takes you for and why, which notes and engines answer, what is wrong and what to do."
    ),
    "inputSchema": schema([]),
    "annotations": READ,
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import doctor
    from vaultbridge.fence import flat

    findings = doctor.examine(bridge)
    told = [finding for finding in findings if caller.vault or not hidden(bridge, finding)]
    lines = [*who(caller), *(flat(finding.line(), 500) for finding in told)]
    if len(told) < len(findings):
        lines.append(f"warn vault: {len(findings) - len(told)} about files that you may not read -> om doctor")
    wrong = [finding for finding in findings if finding.state in (doctor.WARN, doctor.FAIL)]
    lines.append(f"{len(wrong)} to mend." if wrong else "Nothing to mend.")
    return "\n".join(lines)


def hidden(bridge: Bridge, finding: Finding) -> bool:
    """Whether a finding names a file that other repositories may not read."""
    from vaultcore import exposure

    return not all(exposure.readable(bridge.manifest, bridge.policy, rel).ok for rel in finding.about)


def who(caller: Caller) -> list[str]:
    """The caller as the vault sees it, with everything that speaks against it."""
    from vaultbridge.fence import flat

    if caller.vault:
        lines = ["caller: the vault itself"]
    elif caller.anonymous:
        lines = [
            "caller: nobody known, so only general memories reach you -> start in a project, or `om register PATH`"
        ]
    else:
        platforms = f", platforms {', '.join(map(flat, caller.platforms))}" if caller.platforms else ""
        lines = [f"caller: {flat(caller.name)} (from {flat(caller.source)}{platforms})"]
    if caller.contested:
        lines.append("caller: another repository has this name: general memories only -> om register PATH --as NEWNAME")
    if caller.provisional:
        lines.append("caller: the client has not said yet which folders are open")
    lines.extend(f"caller: {flat(conflict, 600)}" for conflict in caller.conflicts)
    return lines
