"""A vault with real bridge processes and a real command line around it, for tests about memories."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.bridge.wire import INITIALIZED, Wire, call, initialize
from tests.conftest import ROOT

FRAME = re.compile(r"<(?:memory|about)-([0-9a-f]+)([^>]*)>\n(.*?)\n?</(?:memory|about)-\1>", re.S)


class Bridge:
    """A bridge process for one caller. Calls return (text, is_error)."""

    def __init__(self, vault: Path, project: str | None, folder: Path, **env: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        named = {"OM_PROJECT": project} if project else {}
        self.wire = Wire(vault, cwd=folder, **named, **env)
        self.number = 1
        self.wire.send(initialize())
        self.wire.answer(1)
        self.wire.send(INITIALIZED)

    def __enter__(self) -> Bridge:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.__exit__()
        if "failed: " in self.wire.stderr.decode("utf-8", "replace"):
            raise AssertionError(self.wire.stderr.decode("utf-8", "replace"))

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        self.number += 1
        self.wire.send(call(self.number, tool, **arguments))
        answer = self.wire.answer(self.number)
        result = answer.get("result") or {}
        text = "".join(item.get("text", "") for item in result.get("content", [])) or str(answer.get("error"))
        return text, bool(result.get("isError") or "error" in answer)

    def ask(self, method: str, **params: Any) -> Any:
        self.number += 1
        self.wire.send({"id": self.number, "method": method, "params": params})
        return self.wire.answer(self.number)

    def remember(self, title: str, body: str = "", **more: Any) -> tuple[str, bool]:
        given = {"confidence": "verified", "verification": "seen in a test", **more}
        return self.call("remember", title=title, body=body or title + ", as it was seen in this test.", **given)

    def recall(self, query: str = "", **more: Any) -> str:
        return self.call("recall", query=query, limit=50, **more)[0]


def ident(reply: str) -> str:
    """The id that a reply of remember names."""
    found = re.search(r"m-[0-9a-z]{12}", reply)
    assert found, reply
    return found.group()


def titles(reply: str) -> list[str]:
    """The titles of the memories in a recall, in order."""
    return [re.search(r'title="([^"]*)"', attributes).group(1) for _, attributes, _ in FRAME.findall(reply)]  # type: ignore[union-attr]


def om(
    vault: Path, *words: str, cwd: Path | None = None, given: str | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """`om` as an agent or a script runs it: without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "vaultbridge.cli", "--vault", str(vault), *words],
        capture_output=True, text=True, input=given or "", cwd=cwd or vault, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **env},
    )  # fmt: skip


def person(vault: Path, *words: str, answers: tuple[str, ...] = (), **env: str) -> tuple[int, str]:
    """`om` with a person at a terminal who types `answers` when asked; exit code and all that was shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(vault)
        os.environ.update(env, PYTHONPATH=str(ROOT / "src"), TERM="dumb")
        os.execv(sys.executable, [sys.executable, "-m", "vaultbridge.cli", "--vault", str(vault), *words])
    shown = b""
    left = list(answers)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            data = os.read(terminal, 65_536)
        except OSError:
            break
        if not data:
            break
        shown += data
        if (
            left
            and shown.rstrip().endswith((b"]:", b":"))
            and (b"decide" in shown.splitlines()[-1] or b"[y/N]" in shown.splitlines()[-1])
        ):
            os.write(terminal, (left.pop(0) + "\n").encode())
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), shown.decode("utf-8", "replace").replace("\r\n", "\n")


def memory(
    vault: Path,
    name: str,
    body: str,
    *,
    title: str = "",
    scope: str = "project",
    projects: tuple[str, ...] = ("alpha",),
    **more: Any,
) -> Path:
    """Write one memory file by hand, as an older tool or a person would."""
    lines = [
        "---",
        f"date: {more.pop('date', '2026-03-01')}",
        "tags:",
        "  - memory",
        f"source: {more.pop('source', 'mcp-capture')}",
        f"scope: {scope}",
    ]
    if projects and scope != "general":
        lines += ["projects:", *(f"  - {p}" for p in projects)]
    for key, value in more.items():
        if isinstance(value, (list, tuple)):
            lines += [f"{key}:", *(f"  - {v}" for v in value)]
        else:
            lines.append(f"{key}: {value}")
    path = vault / "memories" / "2026" / "03" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "---", "", f"# {title or name}", "", body, ""]), encoding="utf-8")
    return path
