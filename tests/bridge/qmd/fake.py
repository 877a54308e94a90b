"""A stand-in for qmd: the same commands and the same MCP tools, every way to fail on demand, no Node.

`Fake(folder)` lays out a package as npm would; `plan` says how it behaves and may be changed at any time; `calls` is
what it was asked.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

NODE = """#!/bin/sh
[ "$1" = --version ] && { echo v24.0.0; exit 0; }
exec "%s" -I -S "$@"
"""


class Fake:
    """The package on disk, its plan and its log."""

    def __init__(self, folder: Path, version: str = "2.8.3") -> None:
        self.package = folder / "node_modules" / "@tobilu" / "qmd"
        self.entry = self.package / "dist" / "cli" / "qmd.js"
        self.entry.parent.mkdir(parents=True)
        self.entry.write_text(Path(__file__).read_text().replace("\nimport pytest\n", "\n"))
        (self.package / "package.json").write_text(json.dumps({"name": "@tobilu/qmd", "version": version}))
        self.node = folder / "node"
        self.node.write_text(NODE % sys.executable)
        self.node.chmod(0o755)
        self.file = self.package / "plan.json"
        self.log = self.package / "log.jsonl"
        self.plan: dict[str, Any] = {}
        self.set()

    def set(self, **plan: Any) -> None:
        """How it behaves from now on: `results` [(path, line)], `folder`, `vectors`, `mode`, `update_fails`, …"""
        self.plan.update(plan)
        draft = self.file.with_suffix(".draft")
        draft.write_text(json.dumps(self.plan))
        draft.replace(self.file)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        patch.setenv("OM_QMD", str(self.entry))
        patch.setenv("OM_NODE", str(self.node))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Everything it was asked, in order: {"argv": …} for a start, {"tool": …, "arguments": …} for a call."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def queries(self) -> list[dict[str, Any]]:
        return [call["arguments"] for call in self.calls if call.get("tool") == "query"]

    def starts(self, word: str = "mcp") -> list[list[str]]:
        return [call["argv"] for call in self.calls if "argv" in call and word in call["argv"]]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Server:
    """What runs in the child."""

    def __init__(self, package: Path) -> None:
        self.package = package

    @property
    def plan(self) -> dict[str, Any]:
        held: dict[str, Any] = json.loads((self.package / "plan.json").read_text())
        return held

    def note(self, **what: Any) -> None:
        with open(self.package / "log.jsonl", "a") as file:
            file.write(json.dumps(what) + "\n")

    def command(self, words: list[str]) -> int:
        import os

        environment = {name: os.environ.get(name) for name in ("INDEX_PATH", "GGML_BACKEND_SILENT")}
        self.note(argv=words, cwd=os.getcwd(), pid=os.getpid(), group=os.getpgid(0), env=environment)
        name = words[2] if words[:1] == ["--index"] else words[0]
        if name == "mcp":
            return self.serve()
        if name in self.plan.get("hang", ()):
            time.sleep(600)
        fails = self.plan.get(f"{name}_fails", 0)
        if fails:
            held = self.plan
            held[f"{name}_fails"] = fails - 1
            (self.package / "plan.json").write_text(json.dumps(held))
            say("SqliteError: constraint failed")
            return 1
        if name == "update":
            store = os.environ["INDEX_PATH"]
            open(store, "ab").close()
            say("Indexed: 1 new, 0 updated, 0 unchanged, 0 removed")
        elif name == "collection":
            say(f"Collection: {words[-1]}\n  Path:     {self.plan.get('folder', '')}")
        elif name == "status":
            say(f"  Pending:  {self.plan.get('pending', 0)} need embedding")
        elif name == "embed":
            held = self.plan
            held["pending"] = max(0, held.get("pending", 0) - held.get("embeds", 1_000))
            (self.package / "plan.json").write_text(json.dumps(held))
        return 0

    def serve(self) -> int:
        mode = self.plan.get("mode", "")
        if mode == "dies at once":
            return 3
        if mode == "floods":
            while True:
                say("x" * 1_000)
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message:
                continue
            answer = self.answer(message["method"], message.get("params", {}))
            if answer is not None:
                say(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}))
        return 0

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        plan = self.plan
        mode = plan.get("mode", "")
        if method == "initialize":
            if mode == "never greets":
                time.sleep(600)
            name = "other" if mode == "is something else" else "qmd"
            return {"result": {"protocolVersion": "2025-06-18", "serverInfo": {"name": name, "version": "2.8.3"}}}
        name, arguments = params["name"], params["arguments"]
        self.note(tool=name, arguments=arguments)
        if name == "status":
            return {"result": {"content": [], "structuredContent": {
                "hasVectorIndex": plan.get("vectors", True),
                "collections": [{"name": plan.get("name", "vault"), "path": plan.get("folder", "")}],
            }}}  # fmt: skip
        if mode == "dies in a call":
            sys.exit(4)
        if mode == "hangs":
            time.sleep(600)
        if mode == "never answers queries":
            return None
        if mode == "waits":
            while not (self.package / "go").exists():
                time.sleep(0.01)
        if mode == "chatters":
            say("Loading model...\n[1, 2]\n{}")
        if mode == "is an error":
            return {"result": {"isError": True, "content": [{"type": "text", "text": "database is locked"}]}}
        if mode == "is a protocol error":
            return {"error": {"code": -32602, "message": "Tool query not found"}}
        if mode == "answers in text only":
            return {"result": {"content": [{"type": "text", "text": "#1 vault/brain/Hidden.md"}]}}
        if mode == "answers nonsense":
            return {"result": {"structuredContent": {"results": "all of them"}}}
        results = [
            {
                "file": path if "://" in path or path.startswith("/") else f"{plan.get('name', 'vault')}/{path}",
                "line": line,
            }
            for path, line in plan.get("results", [])
        ]
        return {"result": {"content": [], "structuredContent": {"results": results}}}


if __name__ == "__main__":
    here = Path(sys.argv[0]).resolve()
    sys.exit(Server(here.parents[2]).command(sys.argv[1:]))
