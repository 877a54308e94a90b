"""What is wrong with a vault, since when, and what to run: one list of checks for `om doctor` and the `health` tool."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge

OK, WARN, FAIL, NOTE = "ok", "warn", "fail", "note"


class Finding:
    """One answer of one check. `state` is ok, note, warn or fail; `run` is the command or step that mends it; `about`
    are the vault's files that `text` names: who may not read one of them is not told."""

    __slots__ = ("check", "state", "text", "run", "since", "mend", "about")

    def __init__(
        self,
        state: str,
        text: str,
        run: str = "",
        mend: Callable[[], str] | None = None,
        about: tuple[str, ...] = (),
    ) -> None:
        self.check = ""
        self.state = state
        self.text = text
        self.run = run
        self.since: str | None = None
        self.mend = mend
        self.about = about

    def data(self) -> dict[str, object]:
        found: dict[str, object] = {"check": self.check, "state": self.state, "text": self.text}
        if self.run:
            found["run"] = self.run
        if self.since:
            found["since"] = self.since
        return found

    def line(self) -> str:
        since = f" (since {self.since})" if self.since else ""
        run = f" -> {self.run}" if self.run else ""
        return f"{self.state:<4} {self.check}: {self.text}{since}{run}"


Check = Callable[["Bridge"], Iterator[Finding]]
CHECKS: list[tuple[str, Check]] = []


def check(name: str) -> Callable[[Check], Check]:
    """Add a function to the list of checks under `name`."""

    def add(function: Check) -> Check:
        CHECKS.append((name, function))
        return function

    return add


def examine(bridge: Bridge) -> list[Finding]:
    """Run every check. A check that itself breaks is a failure with its reason, and the others go on."""
    from vaultbridge import checkup  # noqa: F401  the checks register themselves
    from vaultbridge.fence import flat

    found: list[Finding] = []
    for name, function in CHECKS:
        try:
            findings = list(function(bridge))
        except Exception as error:  # the doctor must not fall ill
            findings = [Finding(FAIL, f"this check itself failed: {flat(error, 200)}", "om doctor --json")]
        for finding in findings:
            finding.check = name
        found.extend(findings)
    remember_since(bridge, found)
    return found


def remember_since(bridge: Bridge, findings: list[Finding]) -> None:
    """Give every trouble the day it was first seen; a store that can't be written only costs the dates."""
    from vaultcore import places

    path = os.path.join(places.cache(bridge.root), "seen.json")
    try:
        with open(path, encoding="utf-8") as stored:
            seen = json.load(stored)
    except (OSError, ValueError):
        seen = {}
    seen = seen if isinstance(seen, dict) else {}
    now = {}
    for finding in findings:
        if finding.state in (WARN, FAIL):
            key = f"{finding.check}: {finding.text}"[:300]
            day = seen.get(key)
            now[key] = finding.since = day if isinstance(day, str) else time.strftime("%Y-%m-%d %H:%M")
    if now != seen:
        try:
            draft = f"{path}.{os.getpid()}"
            with open(draft, "w", encoding="utf-8") as out:
                json.dump(now, out)
            os.replace(draft, path)
        except OSError:
            pass


def worst(findings: list[Finding]) -> str:
    """The state that the whole list amounts to."""
    for state in (FAIL, WARN):
        if any(finding.state == state for finding in findings):
            return state
    return OK
