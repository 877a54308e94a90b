"""Real Claude Code, Codex and Gemini as what `reason` asks: they read what is exposed, and nothing else is there.

Each is installed for a user who has MCP servers, hooks and instructions in their own configuration.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.rig import MODELS, PREFIX, Bench, cli
from tests.agents.stub_model import StubModel
from tests.conftest import write_tree
from vaultbridge.bridge import Bridge
from vaultbridge.reasoning import programs
from vaultbridge.tools import reason
from vaultcore.errors import Refusal
from vaultcore.identity import Caller

pytestmark = pytest.mark.agents
ATLAS = Caller(project="atlas", source="flag", projects=("atlas",))
QUESTION = "At how many degrees does the amber kettle boil?"
NOTES = {
    "vault-manifest.json": '{"mcp_exposed_roots": ["work"]}',
    "work/Kettle.md": "# Amber kettle\n\nBoil it at 96 degrees: KETTLEFACT.\n",
    "work/Rope.md": "---\nprivate: true\n---\n# Rope\n\nROPESECRET amber kettle\n",
    "brain/Diary.md": "# Diary\n\nDIARYSECRET amber kettle\n",
    "memories/2026/01/2026-01-02 mine.md": "---\ndate: 2026-01-02\ndescription: d\ntags: [memory]\nid: m-1\n"
    "scope: project\nprojects: [atlas]\n---\n# The kettle whistles\n\nMEMORYFACT\n",
    "memories/2026/01/2026-01-02 theirs.md": "---\ndate: 2026-01-02\ndescription: d\ntags: [memory]\nid: m-2\n"
    "scope: project\nprojects: [zeta]\n---\n# Their kettle\n\nTHEIRSECRET\n",
}
SECRETS = ("ROPESECRET", "DIARYSECRET", "THEIRSECRET", "HOMESECRET", "USERRULES")


def installed(agent: str) -> str:
    """The executable of an agent. Claude Code's lies in its package for this platform until its installer has run."""
    found = sorted(PREFIX.glob("node_modules/@anthropic-ai/claude-code-*/claude")) if agent == "claude" else []
    command = [str(path) for path in found] or cli(agent)
    if not command:
        pytest.skip("skipped: not installed")
    return command[0]


class Rig:
    """A vault, a user with the agent installed, and questions answered by the stub model."""

    def __init__(self, agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.agent = agent
        self.bench = bench = Bench(tmp_path / "bench", agent)
        self.root = write_tree(tmp_path / "vault", NOTES)
        self.temp = tmp_path / "temp"
        self.temp.mkdir()
        bench.write_mcp()
        bench.write_hooks({"SessionStart": {}, "Stop" if agent == "codex" else "AfterAgent": {}})
        for name in ("hooks.json", "config.toml", "settings.json"):  # the same for the user, in every project
            if (bench.dot / name).exists():
                text = (bench.dot / name).read_text()
                (bench.state / ("extra.toml" if name == "config.toml" else name)).write_text(text)
        if agent == "claude":  # it looks for servers elsewhere, and gives its user's permissions to every session
            held = json.loads((bench.state / "settings.json").read_text())
            (bench.home / ".claude.json").write_text(json.dumps({"mcpServers": held.pop("mcpServers")}))
            held["permissions"] = {"allow": ["Read", "Bash", "Write"], "additionalDirectories": [str(tmp_path)]}
            (bench.state / "settings.json").write_text(json.dumps(held))
        manual = {"claude": "CLAUDE.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}[agent]
        (bench.state / manual).write_text("USERRULES: use your servers\n")
        (bench.home / "private.txt").write_text("HOMESECRET")
        for name, value in {
            f"OM_{agent.upper()}": installed(agent), "HOME": str(bench.home), "CODEX_HOME": str(bench.home / ".codex"),
            "STUB_API_KEY": "made-up", "GEMINI_API_KEY": "made-up", "TMPDIR": str(self.temp),
            "PROBE_DIR": str(bench.probe), "ANTHROPIC_API_KEY": "made-up",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(tempfile, "tempdir", str(self.temp))
        self.monkeypatch = monkeypatch
        self.bridge = Bridge(str(self.root))
        self.turns: list[dict[str, Any]] = []

    def ask(self, *script: dict[str, Any], limit: int = 120) -> str:
        own = {"cli": self.agent, "limit_seconds": limit}
        own |= {"model": MODELS["gemini"]} if self.agent == "gemini" else {}  # without one it asks a router first
        (self.root / "vault-manifest.json").write_text(json.dumps({"mcp_exposed_roots": ["work"], "reason": own}))
        with StubModel(script) as stub:
            if self.agent == "codex":
                self.bench._codex_home(stub.url, MODELS["codex"])
            elif self.agent == "claude":
                self.monkeypatch.setenv("ANTHROPIC_BASE_URL", stub.url)
            else:
                self.bench._gemini_home()
                self.monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", stub.url)
            try:
                return reason.run(self.bridge, ATLAS, {"question": QUESTION})
            finally:
                self.turns = stub.turns()

    def tools(self) -> set[str]:
        """The names of what the model could call."""
        offered = self.turns[0].get("tools", [])
        if self.agent == "codex":
            return {str(tool.get("name") or tool.get("type")) for tool in offered}
        if self.agent == "claude":
            return {tool["name"] for tool in offered}
        return {declared["name"] for tool in offered for declared in tool.get("functionDeclarations", [])}

    def results(self) -> list[str]:
        """What each call of the model came back with."""
        said = [turn.get("input") or turn.get("contents") or turn["messages"] for turn in self.turns[1:]]
        return [json.dumps(messages[-1]) for messages in said]

    def read(self, path: str) -> dict[str, Any]:
        if self.agent == "codex":
            return {"call": "exec_command", "args": {"cmd": f"cat '{path}'"}}
        return {"call": "Read" if self.agent == "claude" else "read_file", "args": {"file_path": path}}

    def look(self, path: str) -> dict[str, Any]:
        if self.agent == "codex":
            return {"call": "exec_command", "args": {"cmd": f"find '{path}' -type f"}}
        if self.agent == "claude":
            return {"call": "Glob", "args": {"pattern": "**/*"} | ({"path": path} if path != "." else {})}
        return {"call": "glob", "args": {"pattern": "**/*"} | ({"dir_path": path} if path != "." else {})}

    def writes(self) -> list[dict[str, Any]]:
        if self.agent == "codex":
            patch = "*** Begin Patch\n*** Add File: new.md\n+hello\n*** End Patch"
            shell = f"echo x > new.md; echo x >> work/Kettle.md; echo x > '{self.root}/new.md'; echo x > ../new.md"
            return [{"custom": "apply_patch", "input": patch}, {"call": "exec_command", "args": {"cmd": shell}}]
        if self.agent == "claude":
            return [
                {"call": "Write", "args": {"file_path": "new.md", "content": "x"}},
                {"call": "Bash", "args": {"command": "echo x > new.md", "description": "write"}},
            ]
        return [
            {"call": "write_file", "args": {"file_path": "new.md", "content": "x"}},
            {"call": "run_shell_command", "args": {"command": "echo x > new.md", "description": "write"}},
        ]

    def server(self) -> dict[str, Any]:
        if self.agent == "codex":
            return {"call": "echo_note", "namespace": "mcp__vault", "args": {"text": "hi"}}
        name = "mcp__vault__echo_note" if self.agent == "claude" else "mcp_vault_echo_note"
        return {"call": name, "args": {"text": "hi"}}


@pytest.fixture(params=["claude", "codex", "gemini"])
def agent(request: pytest.FixtureRequest, offline: None) -> str:
    return str(request.param)


@pytest.fixture
def rig(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    made = Rig(agent, tmp_path, monkeypatch)
    yield made
    made.bridge.close()
    assert os.listdir(made.temp) == [], "nothing is left of a run"
    assert made.bench.records() == [], "no server and no hook of the user's was started"


def test_it_reads_what_is_exposed_and_nothing_else_is_there_for_it(rig: Rig) -> None:
    text = rig.ask(
        rig.read("work/Kettle.md"),
        rig.read("memories/2026/01/2026-01-02 mine.md"),
        rig.look("."),
        rig.read("work/Rope.md"),
        rig.read(str(rig.root / "brain/Diary.md")),
        rig.read(str(rig.root / "work/Kettle.md")),
        rig.look(str(rig.root)),
        rig.read(str(rig.bench.home / "private.txt")),
        {"text": "It boils at 96 degrees (work/Kettle.md)."},
    )
    assert "It boils at 96 degrees" in text and f'cli="{rig.agent}"' in text
    kettle, mine, listing, *closed = rig.results()
    assert "KETTLEFACT" in kettle and "MEMORYFACT" in mine
    assert "Kettle.md" in listing and "Rope" not in listing and "theirs" not in listing
    assert len(closed) == 5
    assert not any("KETTLEFACT" in result for result in closed), "not even an exposed note, in its real place"
    sent = json.dumps(rig.turns)
    assert QUESTION in sent and "<evidence-" in sent
    # Codex has no switch for the instructions that a user gives it in every folder; they bring no access with them
    hidden = [secret for secret in SECRETS if secret != "USERRULES" or rig.agent != "codex"]
    assert not [secret for secret in hidden if secret in sent]


def test_it_cannot_write_and_has_none_of_the_users_servers(rig: Rig) -> None:
    rig.ask(*rig.writes(), rig.server(), rig.read("work/Kettle.md"), {"text": "done"})
    if rig.agent == "claude":
        assert rig.tools() == {"Read", "Grep", "Glob"}
    elif rig.agent == "gemini":
        assert rig.tools() == {"list_directory", "read_file", "grep_search", "glob"}
    else:  # it has no way to read but the shell, and none to take the patch tool away: its sandbox refuses both
        assert rig.tools() <= {"exec_command", "write_stdin", "request_user_input", "apply_patch"}
    *refused, server, kettle = rig.results()
    assert all(any(word in r for word in ("Read-only", "rejected", "not found", "No such tool")) for r in refused)
    assert any(word in server for word in ("unsupported call", "not found", "No such tool"))
    assert kettle.count("KETTLEFACT") == 1 and "x\\n" not in kettle
    assert not [path for path in rig.root.rglob("new.md")]
    assert (rig.root / "work/Kettle.md").read_text() == NOTES["work/Kettle.md"]


def test_nothing_of_a_session_is_kept_where_the_agent_keeps_its_own(rig: Rig) -> None:
    before = {path for path in rig.bench.home.rglob("*") if path.is_file()}
    rig.ask({"text": "The KETTLEANSWER."})
    added = {path for path in rig.bench.home.rglob("*") if path.is_file()} - before
    assert not [path for path in added if b"KETTLEANSWER" in path.read_bytes() or path.suffix == ".jsonl"]
    (record,) = (rig.root / ".om" / "reasoning").iterdir()
    assert json.loads(record.read_text())["answer"] == "The KETTLEANSWER."


def test_an_early_end_is_no_answer(rig: Rig) -> None:
    step = {"status": 400, "text": "the model is not available"}
    with pytest.raises(Refusal) as caught:
        rig.ask(step, step, step)
    assert caught.value.code == "agent-failed" and "not available" in caught.value.why
    assert "work/Kettle.md" in caught.value.details["evidence"]


def test_a_timeout_leaves_no_process_of_it(rig: Rig) -> None:
    sleep = {"call": "exec_command", "args": {"cmd": "sleep 300"}}
    with pytest.raises(Refusal) as caught:
        rig.ask(
            sleep if rig.agent == "codex" else {"delay": 20, "text": "late"}, {"delay": 20, "text": "late"}, limit=8
        )
    assert caught.value.code == "timeout"
    until = time.monotonic() + 30
    while left := processes(str(rig.temp)):
        assert time.monotonic() < until, left
        time.sleep(0.05)


def processes(folder: str) -> list[str]:
    """Every process that was started for a run below `folder`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            env = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
            line = (entry / "cmdline").read_bytes() if env else b""
        except OSError:
            continue
        if f"{programs.INSIDE}=1".encode() in env.split(b"\0") and folder.encode() in env + line:
            found.append(line.replace(b"\0", b" ").decode(errors="replace")[:200])
    return found
