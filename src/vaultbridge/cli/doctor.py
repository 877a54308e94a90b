"""`om doctor`: everything that can be wrong, told apart, with what to run."""

from __future__ import annotations

import json
import sys

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
@click.option("--fix", is_flag=True, help="Mend what can be mended without asking: derived files only.")
@click.option("--no-round-trip", is_flag=True, help="Leave out starting the bridge as a client would.")
@click.pass_obj
def command(session, as_json: bool, fix: bool, no_round_trip: bool) -> None:  # type: ignore[no-untyped-def]
    """Check the vault, the index, the policy, the clients; end with a real round trip.

    Exit code 1 if something failed.
    """
    from vaultbridge import doctor, roundtrip
    from vaultbridge.bridge import Bridge

    bridge = Bridge(session.root, channel="person")
    findings = doctor.examine(bridge)
    if fix:
        mended = [finding.mend() for finding in findings if finding.mend and finding.state != doctor.OK]
        for line in mended:
            click.echo(f"mended: {line}", err=as_json)
        findings = doctor.examine(bridge) if mended else findings
    if not no_round_trip:
        rows = (row for row in bridge.index.notes() if not row.private and bridge.policy.admits(row.rel))
        row = next(rows, None)
        findings.extend(roundtrip.findings(session.code, session.root, row.title if row else None))
    state = doctor.worst(findings)
    if as_json:
        click.echo(
            json.dumps({"state": state, "findings": [finding.data() for finding in findings]}, ensure_ascii=False)
        )
    else:
        for finding in findings:
            click.echo(finding.line())
        wrong = sum(finding.state in (doctor.WARN, doctor.FAIL) for finding in findings)
        click.echo("all well" if not wrong else f"{wrong} to mend")
    sys.exit(1 if state == doctor.FAIL else 0)
