"""How a run ended. Only an answer that its program calls whole is one; everything else is named and is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from vaultbridge.fence import flat


class Outcome:
    """`answer` is empty unless the run succeeded; then `code` is empty too. Otherwise `code` is a kebab-case id and
    `why` a sentence. `turns`, `cost` (US dollars), `tokens` and `model` are None or "" if not said."""

    __slots__ = ("answer", "code", "cost", "model", "seconds", "tokens", "turns", "why")

    def __init__(self, code: str = "", why: str = "", answer: str = "") -> None:
        self.code, self.why, self.answer = code, why, answer
        self.turns: int | None = None
        self.cost: float | None = None
        self.tokens: int | None = None
        self.model = ""
        self.seconds = 0.0

    def spent(self) -> str:
        """What the run took, on one line."""
        parts = [f"{self.turns} turns" if self.turns is not None else "", f"{self.seconds:.0f} s"]
        parts.append(f"${self.cost:.4f}" if self.cost is not None else "")
        parts.append(f"{self.tokens:,} tokens" if self.tokens is not None else "")
        return ", ".join(part for part in parts if part)


def read(name: str, code: int, out: bytes, err: bytes, last: str = "") -> Outcome:
    """The outcome of a finished run of `name` from its exit code and what it printed. Never raises."""
    printed = out.decode("utf-8", "replace")
    try:
        found = _READERS[name](printed, last)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        found = Outcome("not-understood", f"its output could not be understood ({type(error).__name__})")
    if found.code == "not-understood" or (code != 0 and not found.code):
        said = _said(err) or _said(out)
        hint = f": {said}" if said else ", and it printed nothing"
        if code != 0:
            found = _with(found, Outcome("agent-failed", f"it ended with exit code {code}{hint}"))
        elif not said:
            found = _with(found, Outcome("not-understood", "it printed nothing"))
        else:
            found.why += hint
    elif not found.code and not found.answer.strip():
        found = _with(found, Outcome("blank-answer", "its answer was blank"))
    if found.code:
        found.answer = ""
    return found


def _with(before: Outcome, after: Outcome) -> Outcome:
    for key in ("turns", "cost", "tokens", "model"):
        setattr(after, key, getattr(before, key))
    return after


def _said(raw: bytes) -> str:
    """The last lines that a program printed, as one line."""
    lines = [line.strip() for line in raw[-4_000:].decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return flat(" / ".join((errors or lines)[-2:]), 300)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else None


def _whole(value: object) -> int | None:
    found = _number(value)
    return int(found) if found is not None and found < 1e15 else None


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _json(printed: str) -> Any:
    """The one JSON value a program printed, with or without lines of something else before it."""
    text = printed.strip()
    try:
        return json.loads(text)
    except ValueError:
        lines = text.splitlines()
        for at, line in enumerate(lines):
            if line[:1] in "{[":
                try:
                    return json.loads("\n".join(lines[at:]))
                except ValueError:
                    continue
    raise ValueError("no JSON")


def claude(printed: str, last: str) -> Outcome:
    """`--output-format json`: one object, or all messages with the object last where the user set `verbose`."""
    value = _json(printed)
    if isinstance(value, list):
        results = [item for item in value if isinstance(item, dict) and item.get("type") == "result"]
        value = results[-1] if results else None
    if not isinstance(value, dict):
        return Outcome("not-understood", "its output was no result object")
    ended = _text(value.get("terminal_reason")) or _text(value.get("subtype")) or "no reason given"
    found = Outcome()
    found.turns, found.cost = _whole(value.get("num_turns")), _number(value.get("total_cost_usd"))
    used = value.get("modelUsage")
    found.model = ", ".join(flat(key, 60) for key in list(used)[:4]) if isinstance(used, dict) else ""
    if value.get("stop_reason") == "refusal":
        found.code, found.why = "refused", "the model refused to answer"
    elif value.get("is_error") is not False or value.get("subtype") != "success":
        errors = value.get("errors")
        more = "; ".join(flat(item, 150) for item in errors[:2]) if isinstance(errors, list) else ""
        more = more or flat(_text(value.get("result")), 200)
        turns = ended in ("max_turns", "error_max_turns")
        found.code = "too-many-turns" if turns else "agent-failed"
        found.why = f"it stopped early ({flat(ended, 60)})" + (f": {more}" if more else "")
    elif value.get("stop_reason") not in (None, "end_turn", "stop_sequence"):
        found.code, found.why = "cut-off", f"its answer was cut off ({flat(value.get('stop_reason'), 60)})"
    elif not isinstance(value.get("result"), str):
        found.code, found.why = "not-understood", "its result holds no text"
    else:
        found.answer = value["result"]
    return found


def codex(printed: str, last: str) -> Outcome:
    """`exec --json`: one event a line; the answer is the last message of a turn that was completed."""
    found = Outcome()
    finished, message, trouble, known, steps = False, "", "", 0, 0
    for line in printed.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        kind = event.get("type") if isinstance(event, dict) else None
        if not isinstance(kind, str):
            continue
        known += 1
        item = _dict(event.get("item"))
        if kind == "item.completed" and item.get("type") == "agent_message":
            message = _text(item.get("text"))
            steps += 1
        elif kind == "item.completed" and item.get("type") == "command_execution":
            steps += 1
        elif kind == "turn.completed":
            finished = True
            usage = _dict(event.get("usage"))
            counts = [_whole(usage.get(key)) for key in ("input_tokens", "output_tokens")]
            found.tokens = sum(count for count in counts if count is not None) or None
        elif kind in ("turn.failed", "error"):
            error = _dict(event.get("error")) or event
            trouble = _text(error.get("message")) or trouble or "no reason given"
            finished = finished and kind != "turn.failed"
    if not known:
        return Outcome("not-understood", "its output was no stream of events")
    found.turns = steps or None
    if not finished:
        found.code = "agent-failed"
        found.why = f"its turn was not completed: {flat(trouble, 300)}" if trouble else "its turn was not completed"
    else:
        found.answer = last if last.strip() else message
    return found


def gemini(printed: str, last: str) -> Outcome:
    """`-o json`: one object with `response` or `error`."""
    value = _json(printed)
    if not isinstance(value, dict):
        return Outcome("not-understood", "its output was no object")
    found = Outcome()
    models = _dict(_dict(value.get("stats")).get("models"))
    found.model = ", ".join(flat(key, 60) for key in list(models)[:4])
    rows = [_dict(row) for row in models.values()]
    totals = [_dict(row.get("tokens")).get("total") for row in rows]
    requests = [_dict(row.get("api")).get("totalRequests") for row in rows]
    found.tokens = sum(n for total in totals if (n := _whole(total)) is not None) or None
    found.turns = sum(n for count in requests if (n := _whole(count)) is not None) or None
    error = value.get("error")
    if error:
        kind = _text(error.get("type")) if isinstance(error, dict) else ""
        message = _text(error.get("message")) if isinstance(error, dict) else str(error)
        turns = "turn" in (kind + message).lower()
        found.code = "too-many-turns" if turns else "agent-failed"
        found.why = f"it stopped early: {flat(message or kind or 'no reason given', 300)}"
    elif not isinstance(value.get("response"), str):
        found.code, found.why = "not-understood", "its output holds no response"
    else:
        found.answer = value["response"]
    return found


_READERS: dict[str, Callable[[str, str], Outcome]] = {"claude": claude, "codex": codex, "gemini": gemini}
