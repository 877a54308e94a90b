"""The hooks as whole processes, beside an interpreter that does nothing, in the same rounds.

`ratios[script][notes]` is a hook's time over `python3 -I -S -c pass`: of each the median of the fastest third, so that
what else the machine does hits both alike. `cpu_ratios` is the same for user plus system time. The vaults are warm: a
worker has been through each. `visit_*` run in another repository, against a vault with half as many memories as
notes; the edit is of a file that nothing is known about, and the stop has nothing to offer, as nearly always. `cold` is
a session start in a vault that no hook has seen.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import vaults

SIZES = (100, 1_000, 10_000)
BOUNDS = {
    "session_start": 6,
    "prompt": 3,
    "before_write": 3,
    "after_write": 6,
    "before_compact": 3,
    "stop": 3,
    "session_end": 6,
    "visit_start": 6,
    "visit_edit": 6,
    "visit_stop": 3,
}
GROWTH = 2.0
PROMPT = (
    "We decided to go with the token bucket after the outage last night. Can you write that up, and what did we say in"
    " spring?"
)
NOTE = """---
date: 2026-11-20
description: "A note the agent has just written: what the rollout changed and who owns the follow-up."
tags:
  - reference
---

# {title}

The rollout changed the order of the retry queue. See [[atlas]] and [[North Star]].

{body}
"""


def run(options: dict[str, Any]) -> dict[str, Any]:
    """Measure every script at every size; `notes` ("100,1000") and `runs` in the options change that."""
    sizes = [int(n) for n in str(options.get("notes") or ",".join(map(str, SIZES))).split(",")]
    runs = int(options.get("runs", 25))
    python = sys.executable
    folder = Path(tempfile.mkdtemp(prefix="om-bench-"))
    try:
        code = Path(options["code"])
        worlds = {size: World(folder / f"v{size}", size, code, python) for size in sizes}
        visits = {size: Visits(folder / f"w{size}", size, code, python) for size in sizes}
        times: dict[tuple[str, int], list[tuple[float, float]]] = {}
        floor: list[tuple[float, float]] = []
        for round_ in range(runs + 1):
            for script in BOUNDS:
                for size in sizes:
                    world = visits[size] if script.startswith("visit_") else worlds[size]
                    sample = world.time(script, round_)
                    idle = measured([python, "-I", "-S", "-c", "pass"], b"", worlds[size].environment, str(folder))
                    if round_:  # the first round fills caches
                        times.setdefault((script, size), []).append(sample)
                        floor.append(idle)
        cold = {size: world.cold() for size, world in worlds.items()}
        return report(times, floor, cold, sizes, runs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class World:
    """One vault of a size, with the hooks of this repository and a home of its own."""

    def __init__(self, root: Path, notes: int, code: Path, python: str) -> None:
        self.root = vaults.make(root, notes=notes, git=True)
        self.code, self.python, self.written = code, python, 0
        home = root.parent / "home"
        home.mkdir(exist_ok=True)
        path = os.environ.get("PATH", os.defpath)
        self.environment = {"PATH": path, "HOME": str(home), "OM_WORKER": "off", "LANG": "C.UTF-8"}
        self.transcript = root.parent / f"{root.name}.jsonl"
        line = json.dumps(
            {"type": "user", "message": {"role": "user", "content": "read the file and change the handler " * 20}}
        )
        self.transcript.write_text((line + "\n") * 5_000, encoding="utf-8")
        self.warm()

    def warm(self) -> None:
        worker = self.code / "src/vaultcore/session/worker.py"
        call = [self.python, "-I", "-S", str(worker), str(self.root), str(self.root), "now"]
        subprocess.run(call, check=True, env={**self.environment, "OM_WORKER": "on"}, timeout=600)

    def payload(self, event: str, session: str, **more: Any) -> bytes:
        common = {"session_id": session, "transcript_path": str(self.transcript), "cwd": str(self.root)}
        return json.dumps({**common, "hook_event_name": event, **more}).encode()

    def time(self, script: str, round_: int) -> tuple[float, float]:
        session = f"bench-{round_}"
        note = self.root / "reference" / f"Bench rollout {self.written}.md"
        given = {
            "session_start": lambda: self.payload("SessionStart", session, source="startup"),
            "prompt": lambda: self.payload("UserPromptSubmit", session, prompt=PROMPT),
            "before_write": lambda: self.payload(
                "PreToolUse", session, tool_name="Write", tool_input={"file_path": str(note), "content": "x"}
            ),
            "after_write": lambda: self.write(note, session),
            "before_compact": lambda: self.payload("PreCompact", session, trigger="auto"),
            "stop": lambda: self.payload("Stop", session, stop_hook_active=False),
            "session_end": lambda: self.payload("SessionEnd", session, reason="other"),
        }[script]()
        call = [self.python, "-I", "-S", str(self.code / "hooks" / f"{script}.py"), "--agent", "claude"]
        return measured(call, given, self.environment, str(self.root))

    def write(self, note: Path, session: str) -> bytes:
        self.written += 1
        note.parent.mkdir(exist_ok=True)
        text = NOTE.format(title=note.stem, body="The queue drains before the cutover. " * 40)
        note.write_text(text, encoding="utf-8")
        return self.payload(
            "PostToolUse", session, tool_name="Write", tool_input={"file_path": str(note), "content": text}
        )

    def cold(self) -> float:
        shutil.rmtree(self.root / ".cache", ignore_errors=True)
        return self.time("session_start", -1)[0] * 1000


class Visits:
    """A vault with an index, seen from another repository whose project some of its memories name."""

    def __init__(self, root: Path, notes: int, code: Path, python: str) -> None:
        self.root = vaults.make(root, notes=notes, memories=notes // 2)
        self.code, self.python = code, python
        self.environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(root.parent / "home")}
        self.environment |= {"OM_WORKER": "off", "LANG": "C.UTF-8"}
        self.repository = root.parent / "elsewhere" / "atlas"
        (self.repository / ".git").mkdir(parents=True, exist_ok=True)
        build = "import sys; sys.path.insert(0, sys.argv[1]); from vaultcore.index import open_index; "
        build += "open_index(sys.argv[2]).refresh(budget=None)"
        call = [python, "-c", build, str(code / "src"), str(root)]
        subprocess.run(call, check=True, env=self.environment, timeout=600)

    def time(self, script: str, round_: int) -> tuple[float, float]:
        tool = {"file_path": str(self.repository / "src/other.py"), "old_string": "a", "new_string": "b"}
        session = "bench" if script == "visit_stop" else f"bench-{round_}"
        given = {"session_id": session, "cwd": str(self.repository), "tool_name": "Edit", "tool_input": tool}
        call = [self.python, "-I", "-S", str(self.code / "hooks" / f"{script}.py"), "--agent", "claude"]
        call += ["--vault", str(self.root)]
        return measured(call, json.dumps(given).encode(), self.environment, str(self.repository))


def measured(call: list[str], stdin: bytes, environment: dict[str, str], folder: str) -> tuple[float, float]:
    """(wall, cpu) seconds of one process from spawn to end."""
    reading, writing = os.pipe()
    os.write(writing, stdin)  # payloads are smaller than a pipe holds
    os.close(writing)
    actions = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    began = time.perf_counter()
    child = os.posix_spawn(call[0], call, environment, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    took = time.perf_counter() - began
    os.close(reading)
    if status:
        raise RuntimeError(f"{' '.join(call)} ended with status {status}")
    return took, used.ru_utime + used.ru_stime


def fast(values: list[float]) -> float:
    """The median of the fastest third."""
    ordered = sorted(values)
    return statistics.median(ordered[: max(1, len(ordered) // 3)])


def report(
    times: dict[tuple[str, int], list[tuple[float, float]]],
    floor: list[tuple[float, float]],
    cold: dict[int, float],
    sizes: list[int],
    runs: int,
) -> dict[str, Any]:
    wall, cpu = fast([each[0] for each in floor]), statistics.median(each[1] for each in floor)
    result: dict[str, Any] = {"runs": runs, "floor_ms": wall * 1000, "ratios": {}, "cpu_ratios": {}, "ms": {}}
    for script in BOUNDS:
        samples = {size: times[script, size] for size in sizes}
        result["ms"][script] = {str(size): fast([s[0] for s in samples[size]]) * 1000 for size in sizes}
        result["ratios"][script] = {str(size): fast([s[0] for s in samples[size]]) / wall for size in sizes}
        result["cpu_ratios"][script] = {
            str(size): statistics.median(s[1] for s in samples[size]) / cpu for size in sizes
        }
    result["cold_session_start_ms"] = {str(size): value for size, value in cold.items()}
    result["bounds"], result["growth_bound"] = BOUNDS, GROWTH
    return result


def table(result: dict[str, Any]) -> str:
    """The ratios as a table, with what the design allows."""
    sizes = list(next(iter(result["ratios"].values())))
    lines = [
        f"times `python3 -I -S -c pass` ({result['floor_ms']:.1f} ms), {result['runs']} runs",
        "",
        "| hook | " + " | ".join(f"{int(size):,} notes" for size in sizes) + " | allowed | growth |",
        "| --- |" + " ---: |" * (len(sizes) + 2),
    ]
    for script, by_size in result["ratios"].items():
        growth = by_size[sizes[-1]] / by_size[sizes[0]]
        lines.append(
            f"| {script} | "
            + " | ".join(f"{by_size[size]:.1f}" for size in sizes)
            + f" | {result['bounds'][script]} | {growth:.2f} |"
        )
    cold = ", ".join(f"{int(size):,} notes {value:.0f} ms" for size, value in result["cold_session_start_ms"].items())
    return "\n".join([*lines, "", f"first session start in a vault that no hook has seen: {cold}"])
