"""A hook that records what it was given and answers as told; standard library only.

    python hook_probe.py LABEL

Environment: PROBE_DIR is where records go (one JSON file per run, numbered in order of
start); PROBE_DIR/answers.json may map LABEL to what to do:

    {"stdout": "text" or an object printed as JSON, "stderr": "text", "exit": 0,
     "sleep": seconds, "signal": number, "times": only for the first so many runs}
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def main() -> int:
    label = sys.argv[1] if len(sys.argv) > 1 else "hook"
    out = Path(os.environ.get("PROBE_DIR") or Path(__file__).parent / "probe")
    out.mkdir(parents=True, exist_ok=True)
    raw = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        stdin = json.loads(raw)
    except ValueError:
        stdin = {"__raw__": raw}
    env = {
        k: v
        for k, v in os.environ.items()
        if k.startswith(("CLAUDE", "CODEX", "GEMINI", "PLUGIN", "OPENAI", "PROBE", "PATH"))
    }
    record = {
        "label": label,
        "argv": sys.argv[1:],
        "cwd": os.getcwd(),
        "ppid": os.getppid(),
        "time": time.time(),
        "tty": sys.stdout.isatty(),
        "env": env,
        "stdin": stdin,
    }
    path = out / f"{time.time_ns()}-{os.getpid()}-{label}.json"
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")
    try:
        answers = json.loads((out / "answers.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        answers = {}
    answer = answers.get(label, {})
    if len(list(out.glob(f"*-{label}.json"))) > answer.get("times", sys.maxsize):
        answer = {}
    time.sleep(answer.get("sleep", 0))
    if "stdout" in answer:
        text = answer["stdout"]
        sys.stdout.write((text if isinstance(text, str) else json.dumps(text)) + "\n")
        sys.stdout.flush()
    if "stderr" in answer:
        sys.stderr.write(answer["stderr"] + "\n")
    path.with_suffix(".end").write_text(str(time.time()))
    if "signal" in answer:
        os.kill(os.getpid(), answer["signal"])
    return answer.get("exit", 0)


if __name__ == "__main__":
    sys.exit(main())
