"""`om setup`: everything a vault needs to be served, ending with the proof that it is."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge


@click.command()
@click.option(
    "--profile", metavar="NAME", help="Which folders, templates and commands to keep, e.g. engineer or minimal."
)
@click.option("--semantic", is_flag=True, help="Search by meaning, too: installs a sentence model (70 MB) once.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON.")
@click.pass_obj
def command(session, profile: str | None, semantic: bool, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Complete a vault: manifest, profile, index, self-check. Can be run again at any time.

    With `--vault PATH` it takes in any existing vault, adding its manifest and nothing else.
    """
    from vaultbridge import adoption, doctor, roundtrip
    from vaultbridge.bridge import Bridge
    from vaultcore.numerals import counted

    def say(topic: str, text: str) -> None:
        if not as_json:
            click.echo(f"  {topic:<12} {text}")

    adopted = adoption.adopt(session.root)
    if adopted:
        exposed = ", ".join(map(str, adopted["mcp_exposed_roots"])) or "nothing yet"  # type: ignore[call-overload]
        say("manifest", f"added; agents may read: {exposed}. Narrow it in {adoption.NAME}")
    if profile:
        for line in choose_profile(session.root, profile):
            say("profile", line)
    bridge = Bridge(session.root, channel="person")
    started = time.monotonic()
    done = bridge.refresh()
    while not done.ready:
        say("index", f"{counted(done.scanned, 'file')} so far")
        done = bridge.refresh()
    say("index", f"{counted(done.scanned, 'file')}, ready in {time.monotonic() - started:.1f} s")
    if semantic:
        say("vectors", meaning(bridge))
    findings = doctor.examine(bridge)
    row = next((row for row in bridge.index.notes() if not row.private and bridge.policy.admits(row.rel)), None)
    findings.extend(roundtrip.findings(session.code, session.root, row.title if row else None))
    bridge.close()
    state = doctor.worst(findings)
    if as_json:
        click.echo(
            json.dumps({"state": state, "findings": [finding.data() for finding in findings]}, ensure_ascii=False)
        )
    else:
        for finding in findings:
            if finding.state in (doctor.WARN, doctor.FAIL) or finding.check == "round trip":
                click.echo(f"  {finding.check:<12} {finding.text}" + (f" -> {finding.run}" if finding.run else ""))
        click.echo(closing(session.code, session.root, state))
    sys.exit(1 if state == doctor.FAIL else 0)


def meaning(bridge: Bridge) -> str:
    """Start the work on the vectors; how long it will take."""
    from vaultbridge import vectors
    from vaultbridge.search import followers
    from vaultbridge.vectors import building, shelf

    if not vectors.wanted(bridge):
        return "not used: search.vectors is false, or the packages are missing (run `python3 om.py setup --semantic`)"
    shelf.prepare(bridge.index)
    left, every = shelf.counts(bridge.index)
    followers.written(bridge)
    if not left:
        return f"{every:,} pieces, all there"
    minutes = max(1, round(left / building.SPEED / 60))
    return f"{left:,} pieces to do in the background, about {minutes} minutes; until then search goes by words alone"


def choose_profile(root: str, name: str) -> list[str]:
    """Apply a profile; the lines say what it did."""
    from vaultbridge import profiles

    return [str(line) for line in profiles.apply(root, name)]


def closing(code: str, root: str, state: str) -> str:
    from vaultbridge import doctor

    if state == doctor.FAIL:
        return "\nNot ready yet: mend what is named above and run set-up again."
    door = os.path.join(code, "om.py")
    door = "om.py" if os.path.realpath(os.getcwd()) == os.path.realpath(code) else door
    extra = "" if os.path.realpath(code) == os.path.realpath(root) else f" --vault {root}"
    return f"\nReady. Bring a repository in: python3 {door} register PATH{extra}"
