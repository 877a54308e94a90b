"""`om reason`: what the notes say about a question, read by your own agent."""

from __future__ import annotations

import click


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--effort", type=click.Choice(["low", "medium", "high"]), default=None, help="How hard to think.")
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON.")
@click.pass_obj
def command(session, question: tuple[str, ...], effort: str | None, as_json: bool) -> None:  # type: ignore[no-untyped-def]
    """Have your own claude, codex or gemini answer QUESTION from a read-only copy of the notes. Costs what it costs.

    At a terminal, and in the vault, it reads all notes that are not private; elsewhere those that the vault lets other
    repositories read. Interrupting it ends the agent.
    """
    import json
    import math

    from vaultbridge import reasoning
    from vaultbridge.bridge import Bridge
    from vaultbridge.cli import _plain
    from vaultbridge.cli._person import at_terminal, caller
    from vaultcore.errors import Refusal, VaultError

    who = caller(session.root)
    bridge = Bridge(session.root, channel="person" if at_terminal() else "agent", whole=who.vault)
    bridge.check()

    def report(_: float, said: str) -> None:
        click.echo(said, err=True)

    try:
        job = reasoning.ask(bridge, who, " ".join(question), effort or "")
        answer = reasoning.wait(job, math.inf, report, lambda: False)
    except Refusal as refusal:
        bridge.audit.record("refused", who, tool="reason", code=refusal.code, why=str(refusal))
        shown = refusal.details.get("evidence")
        if shown and at_terminal():
            found = refusal.details["found"]
            click.echo("What the search found:" if found.hits else "The search found nothing for this question.")
            for row in (*_plain.hits(found.hits), *found.remarks):
                click.echo(row)
        elif shown:
            click.echo(shown)
        raise VaultError(f"{refusal.code}: {refusal.why.rstrip('. ')}. {refusal.next}".rstrip()) from None
    finally:
        bridge.close()
    found = job.outcome
    if as_json and found is not None:
        data = {
            "answer": found.answer, "confidence": "inferred", "cli": job.program.name, "model": found.model,
            "turns": found.turns, "cost_usd": found.cost, "tokens": found.tokens, "seconds": round(found.seconds, 1),
            "evidence": [hit.rel for hit in job.evidence.hits] if job.evidence else [], "record": job.record,
        }  # fmt: skip
        click.echo(json.dumps(data, ensure_ascii=False))
    elif at_terminal() and found is not None:
        click.echo(click.style("An answer inferred from the notes: check what you rely on.", bold=True))
        for row in (*_plain.text(found.answer.strip()), *reasoning.about(job)):
            click.echo(row)
    else:
        click.echo(answer)
