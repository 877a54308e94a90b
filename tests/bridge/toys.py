"""Tools that do nothing but what a test of the bridge needs; run as a script, a whole bridge process with them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

READ = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
WRITE = {**READ, "readOnlyHint": False, "idempotentHint": False}

released = threading.Event()
entered: list[str] = []


def tool(name: str, run: Any, annotations: dict[str, bool] = READ, **properties: Any) -> SimpleNamespace:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return SimpleNamespace(
        TOOL={"name": name, "title": name, "description": name, "inputSchema": schema, "annotations": annotations},
        run=run,
    )


def whoami(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    return f"{caller.name} by {caller.source}{' provisionally' if caller.provisional else ''}"


def echo(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    return str(arguments["text"])


def long(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    return "x" * int(arguments["size"])


def crash(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    raise {"key": KeyError, "disk": OSError}[arguments["how"]](28, "No space left on device", "/secret/path")


def refuse(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    from vaultcore.errors import Refusal

    raise Refusal("too-vague", "the title says nothing", "name the subject")


def hold(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    """Stay in the call until the file `until` exists, or for ever."""
    from vaultbridge import progress

    entered.append("hold")
    step = 0
    while not os.path.exists(arguments["until"]):
        step += 1
        progress.report(step, message=f"step {step}")
        released.wait(0.01)
        if progress.cancelled():
            return "cancelled"
    return "released"


def write(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    with open(os.path.join(bridge.root, arguments["path"]), "w", encoding="utf-8") as out:
        out.write("# written\n")
    bridge.announce([arguments["path"]])
    return "written"


def shout(bridge: Any, caller: Any, arguments: dict[str, Any]) -> str:
    print("STRAY")  # noqa: T201
    sys.stdout.flush()
    subprocess.run(["echo", "CHILD"], check=True)
    os.write(1, b"RAW\n")
    return "said"


TEXT = {"type": "string"}
TOYS = {
    module.TOOL["name"]: module
    for module in (
        tool("whoami", whoami),
        tool("read", whoami),
        tool("echo", echo, text=TEXT),
        tool("long", long, size={"type": "integer", "maximum": 1_000_000}),
        tool("crash", crash, how=TEXT),
        tool("refuse", refuse),
        tool("hold", hold, until=TEXT),
        tool("write", write, WRITE, path=TEXT),
        tool("shout", shout),
    )
}


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src"))
    from vaultbridge import boot, surface

    surface._modules.update(TOYS)
    boot.serve(sys.argv[1:])
