"""Runs of an agent: each in a thread of its own, on a leash, bounded in time and output, audited, cleaned up after."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Any

from vaultbridge.fence import flat
from vaultbridge.qmd.program import leash
from vaultcore.errors import Refusal, VaultError

from . import commands, copy, outcome, programs, records

if TYPE_CHECKING:
    from vaultbridge.bridge import Bridge
    from vaultcore.identity import Caller

    from .evidence import Evidence

RUNNING = 2  # at once in one bridge: each takes a worker of the server while its caller waits
KEPT = 20  # finished jobs whose answer can still be picked up
OUTPUT = 16_000_000
ERRORS = 16_000
GRACE = 10.0  # seconds for a killed run to be gone
GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")


class Job:
    """One question on its way. `ended` is set when `outcome` holds what came of it."""

    def __init__(self, bridge: Bridge, caller: Caller, program: programs.Program, question: str, effort: str) -> None:
        self.name = secrets.token_hex(6)
        self.bridge, self.caller, self.program = bridge, caller, program
        self.question, self.effort = question, effort
        self.model = str(bridge.manifest.get("reason.model")).strip()
        self.limit = float(bridge.manifest.get("reason.limit_seconds"))
        self.evidence: Evidence | None = None
        self.outcome: outcome.Outcome | None = None
        self.ended = threading.Event()
        self.remarks: list[str] = []
        self.record = ""
        self.events = 0
        self.stage = "is being prepared"
        self._began = time.monotonic()
        self._stop = ""
        self._lifeline: IO[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def belongs_to(self, caller: Caller) -> bool:
        """Whether `caller` is the one who asked: what was read for one repository is not handed to another."""
        return owner(self.caller) == owner(caller)

    def start(self, prompt: str) -> None:
        threading.Thread(target=self._work, args=(prompt,), name=f"reason-{self.name}", daemon=True).start()

    def stop(self, why: str) -> None:
        """Kill the run, for a reason that its outcome will name. Returns at once."""
        with self._lock:
            self._stop = self._stop or why
            self._cut()

    def _cut(self) -> None:
        if self._lifeline is not None:
            try:
                self._lifeline.close()
            except OSError:
                pass

    def _work(self, prompt: str) -> None:
        evidence = self.evidence
        hits = len(evidence.hits) if evidence else 0
        self._audit("started", evidence=hits, question=self.question[:200])
        try:
            found = self._run(prompt)
        except (VaultError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            code = error.code if isinstance(error, Refusal) else "not-started"
            found = outcome.Outcome(code, flat(reason, 400))
        except Exception as error:  # a thread has nobody to raise to
            found = outcome.Outcome("internal", f"an unexpected {type(error).__name__}: {flat(error, 200)}")
        found.seconds = self.seconds
        if not found.code:
            self._keep(found)
        self._audit(
            "ended", outcome=found.code or "answered", why=found.why, ms=round(found.seconds * 1000), turns=found.turns,
            cost_usd=found.cost, tokens=found.tokens, answered_by=found.model, record=os.path.basename(self.record),
        )  # fmt: skip
        self.outcome = found
        self.ended.set()

    def _run(self, prompt: str) -> outcome.Outcome:
        if self.model and not commands.MODEL.fullmatch(self.model):
            raise Refusal("bad-model", f"reason.model is {flat(self.model, 60)!r}, which is no model's name")
        copy.sweep()
        run = copy.Run()
        try:
            first = [hit.rel for hit in self.evidence.hits] if self.evidence else []
            copied = copy.fill(run, self.bridge, self.caller, first)
            if not copied.notes and not copied.memories:
                raise Refusal("nothing-to-read", "there is no note or memory that you may read")
            self.remarks += [copied.left_out] if copied.left_out else []
            command = commands.build(self.program, run, self.bridge.root, prompt, self.model, self.effort)
            self.remarks += command.remarks
            self._prove(run, command)
            self.stage = "is reading"
            code, out, err = self._process(run, command.argv, command.env, self.limit - self.seconds, True)
            if code is None:
                return self._ended_by_us()
            if code == 0 and command.proof and not os.path.exists(command.proof):
                name = self.program.name
                raise Refusal("not-apart", f"this {name} did not keep to the home it was given: update it")
            return outcome.read(self.program.name, code, out, err, _last(command.last))
        finally:
            run.remove()

    def _prove(self, run: copy.Run, command: commands.Command) -> None:
        """Try the agent's own sandbox before it is trusted with the vault's neighbourhood."""
        if not command.probe:
            return
        code, _, err = self._process(run, command.probe, command.env, min(60.0, self.limit - self.seconds), False)
        if code == 0 or code is None:  # None: ended by us, which the run itself will say
            return
        name = self.program.name
        if code == commands.LEAKS:
            raise Refusal("no-sandbox", f"{name}'s sandbox does not keep it away from other files here")
        said = flat(err.decode("utf-8", "replace").strip().rpartition("\n")[2], 200) or "no reason given"
        raise Refusal("no-sandbox", f"{name}'s sandbox does not work here ({said})")

    def _ended_by_us(self) -> outcome.Outcome:
        if self._stop == "cancelled":
            return outcome.Outcome("cancelled", "the client gave the call up")
        if self._stop == "closed":
            return outcome.Outcome("closed", "the bridge was shut down")
        if self._stop == "output":
            return outcome.Outcome("too-much-output", f"it printed more than {OUTPUT // 1_000_000} MB")
        return outcome.Outcome("timeout", f"it had not answered after {self.limit:.0f} s (reason.limit_seconds)")

    def _process(
        self, run: copy.Run, words: list[str], env: dict[str, str], seconds: float, count: bool
    ) -> tuple[int | None, bytes, bytes]:
        """Run a command in the notes' copy: (its exit code, or None when we ended it; stdout; the end of stderr)."""
        with self._lock:
            if self._stop:
                return None, b"", b""
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", GUARD, run.folder, *leash(), *words], cwd=run.notes, env=env,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            self._lifeline = child.stdin
        out, err = bytearray(), bytearray()
        readers = [
            threading.Thread(target=self._collect, args=(child.stdout, out, OUTPUT, count), daemon=True),
            threading.Thread(target=self._collect, args=(child.stderr, err, ERRORS, False), daemon=True),
        ]
        for reader in readers:
            reader.start()
        until = time.monotonic() + max(0.0, seconds)
        try:
            child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.stop("timeout")
        try:
            child.wait(GRACE)
        except subprocess.TimeoutExpired:  # the guard itself hangs: nothing below it gets in the way of the end
            child.kill()
            child.wait()
        for reader in readers:
            reader.join(GRACE)
        with self._lock:
            self._cut()
            self._lifeline = None
            stopped = bool(self._stop)
        for pipe in (child.stdout, child.stderr):
            if pipe is not None and not any(reader.is_alive() for reader in readers):
                pipe.close()
        return (None if stopped else child.returncode), bytes(out), bytes(err)

    def _collect(self, pipe: IO[bytes], kept: bytearray, most: int, count: bool) -> None:
        """Read a pipe to its end; of stderr the end is kept, of stdout too much is the end of the run."""
        while data := os.read(pipe.fileno(), 65_536):
            kept += data
            if count:
                self.events += data.count(b'"item.completed"')
            if len(kept) > most:
                if most == OUTPUT:
                    self.stop("output")
                    return
                del kept[:-most]

    def _keep(self, found: outcome.Outcome) -> None:
        evidence = self.evidence
        record = {
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "source": "reason", "confidence": "inferred",
            "caller": self.caller.name, "cli": self.program.name, "model": found.model, "asked_model": self.model,
            "effort": self.effort, "turns": found.turns, "cost_usd": found.cost, "tokens": found.tokens,
            "seconds": round(found.seconds, 1), "question": self.question, "answer": found.answer,
            "evidence": [hit.rel for hit in evidence.hits] if evidence else [],
        }  # fmt: skip
        try:
            self.record = records.keep(self.bridge.root, record)
        except OSError as error:
            self.remarks.append(f"The answer could not be recorded: {error.strerror or error}.")

    def _audit(self, event: str, **fields: Any) -> None:
        self.bridge.audit.record("reasoning", self.caller, event=event, job=self.name, cli=self.program.name, **fields)


class Jobs:
    """The jobs of one bridge process."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def add(self, job: Job) -> None:
        """Take a job in. Refusal when enough are running."""
        with self._lock:
            running = [held.name for held in self._jobs.values() if not held.ended.is_set()]
            if len(running) >= RUNNING:
                why = f"{len(running)} questions are being reasoned about already"
                raise Refusal("busy", why, "wait for one of them, or pick it up with its job")
            done = [name for name, held in self._jobs.items() if held.ended.is_set()]
            for name in done[: max(0, len(done) - KEPT + 1)]:
                del self._jobs[name]
            self._jobs[job.name] = job

    def find(self, name: str, caller: Caller) -> Job:
        """The job that `caller` started under that name. Refusal when there is none."""
        with self._lock:
            job = self._jobs.get(name.strip())
        if job is None or not job.belongs_to(caller):
            why = f"there is no job {flat(name, 30)!r} of yours here; a bridge forgets its jobs when its session ends"
            raise Refusal("no-such-job", why, "ask the question again")
        return job

    def close(self) -> None:
        """End what is running and wait for it."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.stop("closed")
        for job in jobs:
            job.ended.wait(GRACE)


def owner(caller: Caller) -> tuple[object, ...]:
    """Who somebody is, as far as reach goes."""
    return caller.vault, tuple(sorted(caller.projects)), tuple(sorted(caller.platforms))


def _last(path: str) -> str:
    if not path:
        return ""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(OUTPUT)
    except OSError:
        return ""
