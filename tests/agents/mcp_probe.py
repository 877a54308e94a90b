"""A tiny MCP server on stdio that records its start and each call; standard library only.

python mcp_probe.py LABEL        one tool, ``echo_note(text)``; records to PROBE_DIR
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

TOOL = {
    "name": "echo_note",
    "description": "Echo a note.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "annotations": {"readOnlyHint": True},
}


def send(message: dict) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    label = sys.argv[1] if len(sys.argv) > 1 else "mcp"
    out = Path(os.environ.get("PROBE_DIR") or Path(__file__).parent / "probe")
    out.mkdir(parents=True, exist_ok=True)
    env = {
        k: v
        for k, v in os.environ.items()
        if k.startswith(("CLAUDE", "CODEX", "GEMINI", "PROBE", "VAULT", "PATH", "HOME"))
    }

    def record(kind: str, **data) -> None:
        path = out / f"{time.time_ns()}-{os.getpid()}-{label}-{kind}.json"
        path.write_text(
            json.dumps(
                {"label": label, "kind": kind, "cwd": os.getcwd(), "argv": sys.argv[1:], "env": env, **data}, indent=1
            )
        )

    record("start")
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        method, ident = message.get("method"), message.get("id")
        if ident is None:
            continue
        if method == "initialize":
            record("initialize", message=message)
            version = message["params"].get("protocolVersion", "2025-06-18")
            result = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": label, "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": [TOOL]}
        elif method == "tools/call":
            record("call", message=message)
            text = message["params"].get("arguments", {}).get("text", "")
            result = {"content": [{"type": "text", "text": f"echo: {text}"}], "isError": False}
        elif method == "ping":
            result = {}
        else:
            reply = {"jsonrpc": "2.0", "id": ident, "error": {"code": -32601, "message": f"no method {method}"}}
            send(reply)
            continue
        send({"jsonrpc": "2.0", "id": ident, "result": result})


if __name__ == "__main__":
    main()
