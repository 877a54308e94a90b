"""The bridge as a client sees it: start, tools, writes, memory, at several sizes of vault, in one run.

Times are milliseconds as medians; `first_answer_ratio` is spawn to the tool list over `python -c "import mcp.server"`
in the same environment and run. The design's bounds are in `BOUNDS`.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from bench import vaults
from vaultbridge.roundtrip import Conversation
from vaultcore import exposure, manifest

SIZES = ((1_000, 500), (10_000, 5_000))
BOUNDS = {
    "first_answer_ratio": 0.15, "first_index_s": {1_000: 3.0, 10_000: 15.0}, "recheck_s": 0.2,
    "search_p50": 30.0, "expand_p50": 15.0, "recall_p50": 40.0, "remember_p50": 50.0, "rss_mb": 70.0,
}  # fmt: skip
QUESTIONS = (
    "why did we choose the retry queue", "rollback of the payment migration", "who owns the incident runbook",
    "rate limit", "cache invalidation after deploy", "\"token bucket\"", "onboarding checklist", "flaky test in CI",
)  # fmt: skip


def run(options: dict[str, Any]) -> dict[str, Any]:
    """Measure every size; `notes` in the options ("1000,10000") chooses them, `runs` how often."""
    runs = int(options.get("runs", 15))
    chosen = [int(n) for n in str(options["notes"]).split(",")] if options.get("notes") else None
    sizes = [(n, n // 2) for n in chosen] if chosen else list(SIZES)
    folder = tempfile.mkdtemp(prefix="om-bench-")
    try:
        return {"sizes": {str(n): measure(folder, options["code"], n, m, runs) for n, m in sizes}}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(folder: str, code: str, notes: int, memories: int, runs: int) -> dict[str, Any]:
    vault = os.path.join(folder, f"v{notes}")
    repo = os.path.join(folder, "atlas")
    os.makedirs(repo, exist_ok=True)
    vaults.make(vault, notes=notes, memories=memories)
    os.environ["OM_CACHE"] = os.path.join(folder, f"cache{notes}")
    call = [sys.executable, os.path.join(code, "om.py"), "serve", "--vault", vault, "--root", repo]
    os.environ["OM_PYTHON"] = sys.executable
    result: dict[str, Any] = {"notes": notes, "memories": memories, "first_index_s": first_index(code, vault)}
    result["recheck_s"] = first_index(code, vault)
    floors, firsts = [], []
    for _ in range(min(runs, 9)):
        floors.append(timed(lambda: subprocess.run([sys.executable, "-c", "import mcp.server"], check=True)))
        firsts.append(timed(lambda: first_answer(call, repo)))
    result["import_ms"] = statistics.median(floors)
    result["first_answer_ms"] = statistics.median(firsts)
    result["first_answer_ratio"] = round(result["first_answer_ms"] / result["import_ms"], 3)
    talk = Conversation(call, cwd=repo)
    try:
        greet(talk)
        use(talk, "search", query="warm up")
        use(talk, "recall")
        held = manifest.load(vault)
        served = [entry.rel for entry in exposure.visible(held, exposure.policy(held))][:40]
        result |= series("search", runs, lambda i: use(talk, "search", query=QUESTIONS[i % len(QUESTIONS)]))
        result |= series("expand", runs, lambda i: use(talk, "expand", note=served[i % len(served)]))
        result |= series("recall", runs, lambda i: use(talk, "recall", query=QUESTIONS[i % len(QUESTIONS)]))
        result |= series("remember", runs, lambda i: use(talk, "remember", **lesson(i)))
        result["rss_mb"] = resident(talk.process.pid)
    finally:
        talk.end()
    result["eight_writers"] = writers(call, repo, vault)
    return result


def first_index(code: str, vault: str) -> float:
    entry = os.path.join(code, "src", "vaultbridge", "cli", "__main__.py")
    call = [sys.executable, "-I", entry, "--vault", vault, "refresh", "--quiet"]
    return round(timed(lambda: subprocess.run(call, check=True)) / 1000, 2)


def first_answer(call: list[str], repo: str) -> None:
    talk = Conversation(call, cwd=repo)
    greet(talk)
    talk.ask("tools/list")
    talk.process.kill()
    talk.process.wait()


def greet(talk: Conversation) -> None:
    talk.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "bench", "version": "1"})
    talk.tell("notifications/initialized")


def use(talk: Conversation, name: str, **arguments: Any) -> str:
    reply = talk.ask("tools/call", name=name, arguments=arguments)
    text = "\n".join(part.get("text", "") for part in reply.get("content", []))
    if reply.get("isError"):
        raise RuntimeError(f"{name} was refused: {text[:300]}")
    return text


def lesson(i: int, who: int = 0) -> dict[str, Any]:
    """One memory that resembles no other: its words are made from its number."""
    words = vaults.words(f"{who}-{i}", 24).split()
    return {
        "title": f"{words[0]} {words[1]} {words[2]} needs {words[3]}",
        "body": " ".join(words) + ".",
        "confidence": "inferred",
        "scope": "project",
    }


def series(name: str, runs: int, call: Callable[[int], object]) -> dict[str, float]:
    taken = sorted(timed(lambda i=i: call(i)) for i in range(runs))  # type: ignore[misc]
    return {
        f"{name}_p50": round(statistics.median(taken), 2),
        f"{name}_p95": round(taken[int(len(taken) * 0.95) - 1], 2),
    }


def timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def resident(pid: int) -> float | None:
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return round(int(line.split()[1]) / 1000, 1)
    except OSError:
        pass
    return None


def writers(call: list[str], repo: str, vault: str, processes: int = 8, each: int = 25) -> dict[str, Any]:
    """Eight bridges writing at once: how many successes were reported and how many files there are."""
    before = memory_files(vault)
    reported = [0] * processes

    def write(who: int) -> None:
        talk = Conversation(call, cwd=repo)
        try:
            greet(talk)
            for i in range(each):
                use(talk, "remember", **lesson(i, who + 1))
                reported[who] += 1
        finally:
            talk.end()

    threads = [threading.Thread(target=write, args=(who,)) for who in range(processes)]
    seconds = timed(lambda: ([t.start() for t in threads], [t.join() for t in threads])) / 1000
    return {"reported": sum(reported), "files": memory_files(vault) - before, "seconds": round(seconds, 1)}


def memory_files(vault: str) -> int:
    return sum(name.endswith(".md") for _, _, names in os.walk(os.path.join(vault, "memories")) for name in names)


def table(result: dict[str, Any]) -> str:
    """The figures side by side, a row a measure."""
    sizes = list(result["sizes"])
    rows = [["measure", *(f"{n} notes" for n in sizes)]]
    keys = [key for key in next(iter(result["sizes"].values())) if key not in ("notes", "memories")]
    rows += [[key, *(str(result["sizes"][n].get(key)) for n in sizes)] for key in keys]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
