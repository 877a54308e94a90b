"""The command that starts a read-only session of each agent, apart from every MCP server, hook and rule of its user.

What each of them was seen to do with these options is in `tests/agents/test_reason_in_agents.py`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vaultcore.errors import Refusal

from . import programs

if TYPE_CHECKING:
    from .copy import Run
    from .programs import Program

EFFORTS = ("low", "medium", "high")
TURNS = {"": 30, "low": 12, "medium": 30, "high": 60}
MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,120}")
READERS = ["list_directory", "read_file", "read_many_files", "glob", "grep_search", "search_file_content"]
CODEX_OFF = (
    "hooks", "plugins", "apps", "multi_agent", "memories", "goals", "image_generation", "browser_use", "computer_use",
    "shell_snapshot", "skill_search", "tool_suggest", "view_image",
)  # fmt: skip

GEMINI = (0, 28)  # since then GEMINI_CLI_HOME is obeyed
LEAKS = 77
# in the sandbox: the notes are there, they cannot be changed, and no other file is there
PROBE = (
    'ls "$1" >/dev/null || exit 1; (: >"$1/.probe") 2>/dev/null && exit 77; shift; '
    'for path; do cat "$path" >/dev/null 2>&1 && exit 77; done; exit 0'
)


class Command:
    """What is started. `probe`: a command in the agent's own sandbox that ends with 0 where it holds and with LEAKS
    where it does not. `last`: a file that will hold the answer. `proof`: what is there after a run that was kept apart.
    `remarks`: sentences for who asked."""

    __slots__ = ("argv", "env", "last", "probe", "proof", "remarks")

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self.argv, self.env = argv, env
        self.last = self.proof = ""
        self.probe: list[str] = []
        self.remarks: list[str] = []


def build(program: Program, run: Run, vault: str, prompt: str, model: str, effort: str) -> Command:
    """The command for one question. `model` and `effort` may be empty. Files it needs are made in `run`'s folder."""
    made: Callable[[Program, Run, str, str, str, str], Command] = _BUILDERS[program.name]
    return made(program, run, vault, prompt, model, effort)


def claude(program: Program, run: Run, vault: str, prompt: str, model: str, effort: str) -> Command:
    """Claude Code: only Read, Grep and Glob exist; no settings of the user's but those that sign in; reading outside
    the working directory needs a permission that nobody can give, and the vault is denied by name."""
    env = programs.environment(program, run.temp)
    home = env.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    held = _json(os.path.join(home, "settings.json"))
    kept = {key: held[key] for key in _CLAUDE_SIGNS_IN if key in held}
    variables = held.get("env")
    if isinstance(variables, dict):
        allowed = programs.OWN["claude"]
        kept["env"] = {k: v for k, v in variables.items() if k.upper().startswith(allowed) or k.upper() in _PROXIES}
    if isinstance(held.get("model"), str) and not model:
        kept["model"] = held["model"]
    denied = [f"Read(/{vault}/**)"] if not re.search(r"[*?\[\](){}!\\]", vault) and os.sep == "/" else []
    settings = {**kept, "disableAllHooks": True, "permissions": {"defaultMode": "default", "deny": denied}}
    nothing, own = run.file("mcp.json", '{"mcpServers": {}}'), run.file("settings.json", json.dumps(settings))
    argv = [
        program.path, "-p", prompt, "--output-format", "json", "--strict-mcp-config", "--mcp-config", nothing,
        "--tools", "Read,Grep,Glob", "--setting-sources", "", "--settings", own,
        "--permission-mode", "default", "--no-session-persistence", "--max-turns", str(TURNS[effort]),
    ]  # fmt: skip
    argv += ["--model", model] if model else []
    argv += ["--effort", effort] if effort else []
    env.update(
        {"CLAUDE_CODE_SAFE_MODE": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    )
    return Command(argv, env)


_CLAUDE_SIGNS_IN = (
    "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "forceLoginMethod", "forceLoginOrgUUID",
)  # fmt: skip
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"})


def codex(program: Program, run: Run, vault: str, prompt: str, model: str, effort: str) -> Command:
    """Codex: it reads with shell commands, so its own sandbox holds them: nothing but the copy and the system's
    programs is there, nothing can be written, no network. Whether that holds on this machine is tried first."""
    home = os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    passed, variables, remarks = _codex_settings(home)
    if model:
        passed.pop("model", None)
    if effort:
        passed["model_reasoning_effort"] = effort
    readable = {":minimal": "read", run.notes: "read", **{path: "read" for path in _codex_parts(program.path)}}
    profile = {"default_permissions": "om", "permissions.om.filesystem": readable}
    settings = {
        **profile, "approval_policy": "never", "web_search": "disabled", "project_doc_max_bytes": 0,
        "allow_login_shell": False, "shell_environment_policy.inherit": "core", "history.persistence": "none",
        "check_for_update_on_startup": False, "skills.include_instructions": False,
        "analytics.enabled": False, "otel.exporter": "none", **passed,
    }  # fmt: skip
    options = [word for key, value in settings.items() for word in ("-c", f"{key}={_toml(value)}")]
    env = programs.environment(program, run.temp, variables)
    last, beside = run.file("last.txt"), run.file("beside.txt", "not for the agent")
    argv = [
        program.path, "exec", "--json", "--color", "never", "--ephemeral", "--ignore-user-config", "--ignore-rules",
        "--skip-git-repo-check", "-C", run.notes, "--output-last-message", last, *options,
        *[word for feature in CODEX_OFF for word in ("--disable", feature)],
    ]  # fmt: skip
    argv += ["-m", model] if model else []
    command = Command([*argv, "--", prompt], env)
    command.last, command.remarks = last, remarks
    sandbox = [program.path, "sandbox", "-C", run.notes, "-P", "om"]
    sandbox += [word for key, value in profile.items() for word in ("-c", f"{key}={_toml(value)}")]
    outside = [path for path in (os.path.join(vault, "vault-manifest.json"), beside) if os.path.isfile(path)]
    command.probe = [*sandbox, "--", "sh", "-c", PROBE, "sh", run.notes, *outside]
    return command


_CODEX_KEPT = (
    "model", "model_provider", "model_reasoning_effort", "model_verbosity", "service_tier", "openai_base_url",
    "chatgpt_base_url", "cli_auth_credentials_store", "forced_login_method", "forced_chatgpt_workspace_id",
)  # fmt: skip


def _codex_settings(home: str) -> tuple[dict[str, Any], list[str], list[str]]:
    """Of the user's own configuration only what chooses and reaches the model; the variables it takes its key from."""
    from vaultbridge.registration import tomltext

    try:
        with open(os.path.join(home, "config.toml"), encoding="utf-8", errors="replace") as file:
            held = tomltext.parse(file.read(1_000_000))
    except FileNotFoundError:
        return {}, [], []
    except (OSError, tomltext.Malformed) as error:
        return {}, [], [f"Codex's config.toml was not used: {error}."]
    if held is None:
        return {}, [], ["Codex's config.toml was not used: om runs on a Python without tomllib."]
    kept: dict[str, Any] = {k: v for k in _CODEX_KEPT if isinstance(v := held.get(k), (str, int, bool))}
    variables, name = [], kept.get("model_provider")
    tables = held.get("model_providers")
    table = tables.get(name) if isinstance(tables, dict) and isinstance(name, str) else None
    if isinstance(table, dict) and re.fullmatch(
        r"[A-Za-z0-9_-]+", str(name)
    ):  # what holds a secret itself stays out of the command line, which others can see
        plain = {k: v for k, v in table.items() if k not in ("experimental_bearer_token", "http_headers", "auth")}
        kept[f"model_providers.{name}"] = plain
        headers = table.get("env_http_headers")
        variables = [table.get("env_key"), *(headers.values() if isinstance(headers, dict) else ())]
    return kept, [v for v in variables if isinstance(v, str)], []


def _codex_parts(path: str) -> list[str]:
    """What the sandbox must show besides the notes: Codex's own programs, which start each command in it."""
    real = os.path.realpath(path)
    head, packages, _ = real.partition(os.sep + os.path.join("node_modules", "@openai") + os.sep)
    if packages:
        return [head + packages.rstrip(os.sep)]
    above = os.path.dirname(os.path.dirname(real))
    if os.path.isdir(os.path.join(above, "codex-resources")):
        return [above]
    return [real]


def gemini(program: Program, run: Run, vault: str, prompt: str, model: str, effort: str) -> Command:
    """Gemini CLI: only its reading tools exist, and they refuse what is outside the working directory. It gets a home
    of its own with nothing in it but how the user signs in."""
    from vaultbridge.registration import jsonc

    version = _gemini_version(program.path)
    if version is not None and version < GEMINI:
        wanted = ".".join(map(str, GEMINI))
        raise Refusal("too-old", f"only gemini {wanted} or newer can be kept apart from its user's servers and hooks")
    home = os.path.join(os.environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~"), ".gemini")
    try:
        with open(os.path.join(home, "settings.json"), encoding="utf-8", errors="replace") as file:
            text = file.read(1_000_000)
        signs_in, named = jsonc.get(text, ("security", "auth")), jsonc.get(text, ("model", "name"))
    except (OSError, jsonc.Malformed):
        signs_in = named = None
    off = {"enabled": False}
    settings: dict[str, Any] = {
        "tools": {"core": READERS}, "mcpServers": {}, "mcp": {"allowed": ["om-none"]}, "hooksConfig": off,
        "skills": off, "experimental": {"enableAgents": False}, "context": {"fileName": "om-none.md"}, "telemetry": off,
        "privacy": {"usageStatisticsEnabled": False}, "ide": off, "model": {"maxSessionTurns": TURNS[effort]},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    }  # fmt: skip
    if isinstance(signs_in, dict):
        settings["security"] = {"auth": signs_in}
    if isinstance(named, str) and not model:
        settings["model"]["name"] = named
    own = os.path.join(run.folder, "home")
    run.file(os.path.join("home", ".gemini", "settings.json"), json.dumps(settings))
    for name in ("oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "installation_id", ".env"):
        if os.path.isfile(os.path.join(home, name)):
            os.symlink(os.path.join(home, name), os.path.join(own, ".gemini", name))
    env = programs.environment(program, run.temp)
    env.update({"GEMINI_CLI_HOME": own, "GEMINI_CLI_NO_RELAUNCH": "true"})
    argv = [
        program.path, "-o", "json", "--approval-mode", "default", "--skip-trust", "-e", "none",
        "--allowed-mcp-server-names", "om-none",
    ]  # fmt: skip
    argv += ["-m", model] if model else []
    command = Command([*argv, "-p", prompt], env)
    command.proof = os.path.join(own, ".gemini", "tmp")
    if effort:
        command.remarks.append("Gemini has no setting for effort: only the number of its turns follows it.")
    return command


def _gemini_version(path: str) -> tuple[int, ...] | None:
    """The version of an installed Gemini CLI by its package.json; None where there is none."""
    folder = os.path.dirname(os.path.realpath(path))
    for _ in range(4):
        held = _json(os.path.join(folder, "package.json"))
        if held.get("name") == "@google/gemini-cli":
            return tuple(int(part) for part in re.findall(r"\d+", str(held.get("version")))[:2])
        folder = os.path.dirname(folder)
    return None


_BUILDERS: dict[str, Callable[[Program, Run, str, str, str, str], Command]] = {
    "claude": claude, "codex": codex, "gemini": gemini,
}  # fmt: skip


def _json(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            held = json.loads(file.read(1_000_000))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _toml(value: Any) -> str:
    """A value as one line of TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return str(value) if isinstance(value, (int, float)) else json.dumps(str(value), ensure_ascii=False)
