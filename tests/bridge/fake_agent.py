"""A stand-in for an agent's command line: writes down how it was started, then does as its plan says.

Its folder holds `plan.json` ({"do": ending, ...}) and gets `seen.json`. Standard library only; started by a shim.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

RESULT = {
    "type": "result", "subtype": "success", "is_error": False, "num_turns": 4, "total_cost_usd": 0.0123,
    "modelUsage": {"big-model-1": {}}, "stop_reason": "end_turn", "terminal_reason": "completed",
    "result": "The kettle boils at 96 degrees (work/Kettle.md).",
}  # fmt: skip
SLEEPER = "import os, sys, time; os.setsid(); open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"


def main(folder: Path) -> int:
    arguments = sys.argv[2:]
    plan = json.loads((folder / "plan.json").read_text())
    if arguments[:1] == ["sandbox"]:
        (folder / "sandbox.json").write_text(json.dumps(arguments))
        sys.stderr.write("bwrap: no permission to create a namespace\n")
        return int(plan.get("sandbox", 0))
    with open("/proc/self/cmdline", "rb") if os.path.exists("/proc") else open(os.devnull, "rb") as line:
        raw = line.read().decode(errors="replace").split("\0")
    files = sorted(str(p.relative_to(os.getcwd())) for p in Path(os.getcwd()).rglob("*") if p.is_file())
    seen = {
        "argv": arguments, "env": dict(os.environ), "cwd": os.getcwd(), "files": files, "pid": os.getpid(), "raw": raw,
        "group": os.getpgid(0), "session": os.getsid(0), "stdin": sys.stdin.read(),
        "texts": {name: Path(name).read_text(errors="replace") for name in files},
        "beside": {
            p.name: [oct(p.stat().st_mode & 0o777), p.read_text()] for p in Path("..").iterdir() if p.suffix == ".json"
        },
    }  # fmt: skip
    if os.path.isdir("../home/.gemini"):
        if not plan.get("strays"):
            os.mkdir("../home/.gemini/tmp")
        seen["home"] = {p.name: p.read_text() for p in Path("../home/.gemini").iterdir() if p.is_file()}
    try:
        Path("work/new.md").write_text("x")
        seen["wrote"] = os.getuid() != 0  # root writes anywhere
    except OSError:
        seen["wrote"] = False
    children = []
    if plan.get("children"):
        for at in range(2):
            code = SLEEPER if at else SLEEPER.replace("os.setsid(); ", "")
            children.append(subprocess.Popen([sys.executable, "-c", code, str(folder / f"child{at}")]).pid)
        while not all((folder / f"child{at}").exists() and (folder / f"child{at}").read_text() for at in range(2)):
            time.sleep(0.01)
    draft = folder / "seen.part"
    draft.write_text(json.dumps(seen))
    draft.rename(folder / "seen.json")
    if plan["do"] == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if plan["do"] == "until":
        while not Path(plan["file"]).exists():
            time.sleep(0.02)
    if plan["do"] == "flood":
        while True:
            sys.stdout.write("x" * 65_536)
    sys.stderr.write(plan.get("stderr", ""))
    printed = plan.get("print")
    if printed is None:
        printed = json.dumps(RESULT | plan.get("result", {}))
    sys.stdout.write(printed if isinstance(printed, str) else json.dumps(printed))
    return int(plan.get("exit", 0))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
