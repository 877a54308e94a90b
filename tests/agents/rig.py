"""Run a real Codex CLI or Gemini CLI headless against the stub model, offline.

    from tests.agents.rig import Bench, isolate_network
    isolate_network()                       # only loopback exists from here on
    bench = Bench(Path("/tmp/x"), "codex")  # or "gemini"
    bench.write_hooks({"SessionStart": {}, "PostToolUse": {"matcher": "apply_patch"}})
    run = bench.run("write a note", script=[{"text": "hello"}])
    run.hooks("SessionStart")[0]["stdin"]   # what the agent really sent

Standard library only. The CLIs come from the npm registry:

    npm install --prefix .cache/npm --ignore-scripts @openai/codex@0.171.0 @google/gemini-cli@0.61.0

and are looked for in $OM_AGENTS, else in .cache/npm of this repository.
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.stub_model import StubModel

HERE = Path(__file__).resolve().parent
PREFIX = Path(os.environ.get("OM_AGENTS") or HERE.parent.parent / ".cache" / "npm")
MODELS = {"codex": "gpt-5.5", "gemini": "gemini-2.5-flash"}


def cli(agent: str) -> list[str] | None:
    """The command that starts an agent, or None where it is not installed."""
    path = PREFIX / "node_modules" / ".bin" / agent
    return [str(path)] if path.exists() else None


def isolate_network() -> bool:
    """Move this process into a network namespace holding nothing but loopback.

    Call it before threads start. False where the kernel or the platform refuses.
    """
    if not sys.platform.startswith("linux"):
        return False
    import fcntl  # not on every platform

    libc = ctypes.CDLL(None, use_errno=True)
    new_user, new_net = 0x10000000, 0x40000000
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(new_net) != 0:
        if libc.unshare(new_user | new_net) != 0:
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:  # ip link set lo up
        request = struct.pack("16sH14s", b"lo", 0x1 | 0x40, b"")
        fcntl.ioctl(sock.fileno(), 0x8914, request)
    return True


@dataclass
class Run:
    """What one headless session did."""

    code: int
    stdout: str
    stderr: str
    requests: list[dict]
    turns: list[dict]
    records: list[dict] = field(default_factory=list)

    def hooks(self, label: str | None = None) -> list[dict]:
        found = [r for r in self.records if "stdin" in r]
        return [r for r in found if label in (None, r["label"])]

    def mcp(self, kind: str | None = None) -> list[dict]:
        return [r for r in self.records if "kind" in r and kind in (None, r["kind"])]

    def sent(self) -> str:
        """All that reached the model, as JSON text (to look for injected context)."""
        return json.dumps(self.turns, ensure_ascii=False)


class Bench:
    """A throw-away home, project and probe folder for one agent."""

    def __init__(self, base: Path, agent: str, *, git: bool = True, trust: bool = True, project: str = "proj"):
        self.base, self.agent, self.trust = Path(base), agent, trust
        shutil.rmtree(self.base, ignore_errors=True)
        self.home, self.project = self.base / "home", self.base / project
        self.probe = self.base / "probe"
        self.dot = self.project / f".{agent}"
        self.state = self.home / f".{agent}"
        for folder in (self.home, self.project, self.probe, self.dot, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        if git:
            subprocess.run(["git", "init", "-q", str(self.project)], check=True)

    # -- configuration -------------------------------------------------------------------

    def hook_command(self, label: str) -> str:
        return shlex.join([sys.executable, str(HERE / "hook_probe.py"), label])

    def write_hooks(self, events: dict[str, dict]) -> None:
        """{"Event": {"matcher": ..., "timeout": ..., "command": ...}} in the agent's own file."""
        hooks: dict[str, list] = {}
        for label, spec in events.items():
            spec = dict(spec)
            event = spec.pop("event", label)
            group = {k: spec.pop(k) for k in ("matcher", "sequential") if k in spec}
            handler = {"type": "command", "command": self.hook_command(label)} | spec
            hooks.setdefault(event, []).append(group | {"hooks": [handler]})
        if self.agent == "codex":
            self._write(self.dot / "hooks.json", {"hooks": hooks})
        else:
            self._merge(self.dot / "settings.json", {"hooks": hooks})

    def write_mcp(self, name: str = "vault", **extra) -> None:
        """Register the probe server in the project's own configuration."""
        args = [str(HERE / "mcp_probe.py"), f"{self.agent}-mcp"]
        env = {"PROBE_DIR": str(self.probe)}
        if self.agent == "codex":
            lines = [
                f"[mcp_servers.{name}]",
                f"command = {json.dumps(sys.executable)}",
                f"args = {json.dumps(args)}",
                "env = { " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in env.items()) + " }",
            ]
            lines += [f"{k} = {json.dumps(v)}" for k, v in extra.items()]
            self.append(self.dot / "config.toml", "\n".join(lines) + "\n")
        else:
            server = {"command": sys.executable, "args": args, "env": env} | extra
            self._merge(self.dot / "settings.json", {"mcpServers": {name: server}})

    def answer(self, **labels: dict) -> None:
        """What each hook does when it runs; see hook_probe.py."""
        self._write(self.probe / "answers.json", labels)

    # -- running -------------------------------------------------------------------------

    def run(
        self,
        prompt: str = "go",
        *,
        script=(),
        args=(),
        cwd: Path | None = None,
        env: dict | None = None,
        timeout: float = 120,
        model: str | None = None,
        stdin: str | None = None,
        hook_trust: bool = True,
        raw_args=None,
    ) -> Run:
        for old in list(self.probe.glob("*.json")) + list(self.probe.glob("*.end")):
            if old.name != "answers.json":
                old.unlink()
        with StubModel(script) as stub:
            environ = {
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "SHELL": "/bin/bash",
                "PROBE_DIR": str(self.probe),
                "NO_COLOR": "1",
                "LANG": "C.UTF-8",
                "TERM": "xterm-256color",
                "STUB_API_KEY": "made-up",
            }
            model = model or MODELS[self.agent]
            if self.agent == "codex":
                environ["CODEX_HOME"] = str(self.state)
                self._codex_home(stub.url, model)
                command = ["exec", "--json", "-s", "workspace-write", "--skip-git-repo-check"]
                command += ["--dangerously-bypass-hook-trust"] if hook_trust else []
                command += [*args, prompt]
            else:
                environ |= {"GEMINI_API_KEY": "made-up", "GOOGLE_GEMINI_BASE_URL": stub.url}
                self._gemini_home()
                command = ["-m", model, "-o", "stream-json", "--approval-mode", "yolo", *args, "-p", prompt]
            code, out, err = _spawn(
                [*cli(self.agent), *(raw_args or command)], cwd or self.project, environ | (env or {}), stdin, timeout
            )
            return Run(code, out, err, list(stub.requests), stub.turns(), self.records())

    def records(self) -> list[dict]:
        files = sorted(self.probe.glob("[0-9]*.json"), key=lambda f: int(f.name.split("-")[0]))
        return [json.loads(f.read_text()) | {"ended": f.with_suffix(".end").exists()} for f in files]

    def _codex_home(self, url: str, model: str) -> None:
        extra = self.state / "extra.toml"
        top = self.state / "top.toml"
        text = (
            (top.read_text() if top.exists() else "")
            + f"""
model = {json.dumps(model)}
model_provider = "stub"
check_for_update_on_startup = false
[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_API_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[otel]
exporter = "none"
"""
        )
        if self.trust:
            text += f'[projects.{json.dumps(str(self.project))}]\ntrust_level = "trusted"\n'
        (self.state / "config.toml").write_text(text + (extra.read_text() if extra.exists() else ""))

    def _gemini_home(self) -> None:
        self._merge(
            self.state / "settings.json",
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False},
                "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            },
        )
        if self.trust:
            self._write(self.state / "trustedFolders.json", {str(self.project): "TRUST_FOLDER"})

    @staticmethod
    def append(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as handle:
            handle.write(text)

    @staticmethod
    def _write(path: Path, data) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")

    def _merge(self, path: Path, data: dict) -> None:
        old = json.loads(path.read_text()) if path.exists() else {}
        for key, value in data.items():
            old[key] = old.get(key, {}) | value if isinstance(value, dict) else value
        self._write(path, old)


def _spawn(command, cwd, env, stdin, timeout) -> tuple[int, str, str]:
    """Run in a process group of its own, so that a hung agent goes with its children."""
    child = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        text=True,
        start_new_session=True,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = child.communicate(stdin, timeout)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return 124, out, err


def demo_script(agent: str) -> list[dict]:
    """Write a file, use the shell, call the project's MCP server, finish."""
    if agent == "codex":
        patch = "*** Begin Patch\n*** Add File: notes/new note.md\n+hello\n+world\n*** End Patch"
        return [
            {"custom": "apply_patch", "input": patch},
            {"call": "exec_command", "args": {"cmd": "echo hi > notes/sh.md"}},
            {"call": "echo_note", "namespace": "mcp__vault", "args": {"text": "hi"}},
            {"text": "all done"},
        ]
    return [
        {"call": "write_file", "args": {"file_path": "notes/new note.md", "content": "hello\nworld\n"}},
        {
            "call": "replace",
            "args": {
                "file_path": "notes/new note.md",
                "old_string": "hello",
                "new_string": "bye",
                "instruction": "say bye",
            },
        },
        {"call": "run_shell_command", "args": {"command": "echo hi > notes/sh.md", "description": "write"}},
        {"call": "mcp_vault_echo_note", "args": {"text": "hi"}},
        {"text": "all done"},
    ]
