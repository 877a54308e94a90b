"""`reason`: a question that takes reading, answered by the user's own agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import schema, text

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller

TOOL: dict[str, Any] = {
    "name": "reason",
    "title": "Reason over the vault",
    "description": (
        "Have the user's own agent read the notes and answer a question that no single note does. Costs money and "
        "takes minutes: search first. Gives an answer marked inferred, with paths, or the evidence and why there is "
        "none. A long one returns a job: call again with it."
    ),
    "inputSchema": schema(
        [],
        question=text("One self-contained question", 4_000),
        effort={"type": "string", "enum": ["low", "medium", "high"], "description": "How hard to think"},
        job=text("Instead of a question: a job to pick up", 40),
    ),
    # it writes no note, but it starts a program and spends the user's money: a client should ask first
    "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True},
}


def run(bridge: Bridge, caller: Caller, arguments: dict[str, Any]) -> str:
    from vaultbridge import progress, reasoning
    from vaultcore.errors import Refusal

    asked, name = arguments.get("question"), arguments.get("job")
    if (asked is None) == (name is None):
        raise Refusal("one-of", "give either a question or a job", "ask a question; a job is what a long one returns")
    if name is not None:
        job = reasoning.jobs_of(bridge).find(name, caller)
    else:
        job = reasoning.ask(bridge, caller, str(asked), arguments.get("effort", ""))
    seconds = float(bridge.manifest.get("reason.wait_seconds"))
    answer = reasoning.wait(job, seconds, lambda done, said: progress.report(done, None, said), progress.cancelled)
    if answer is not None:
        return answer
    return (
        f"No answer yet: {job.program.name} still runs after {job.seconds:.0f} s of at most {job.limit:.0f} s. "
        f'Other calls are answered meanwhile. Call reason again with job "{job.name}" and no question.'
    )
