"""Write each skill and agent where the other agents look, in their form.

Skills: `.agents/skills/` (Codex, Gemini) is the source, `.claude/skills/` a copy, `.gemini/commands/*.toml` the slash
commands. Agents: `.claude/agents/` is the source, `.codex/agents/*.toml` and `.gemini/agents/*.md` are made from it.
A mirror file without a source is left alone: it may be the user's own.
"""

from __future__ import annotations

import json
import os

from vaultbridge.skills import source
from vaultbridge.skills.source import Source
from vaultcore.errors import VaultError

COMMAND = "om-"  # skills of this name are also commands
GEMINI_TOOLS = {
    "Read": "read_file",
    "Grep": "grep_search",
    "Glob": "glob",
    "Edit": "replace",
    "Write": "write_file",
    "Bash": "run_shell_command",
}
WRITING = frozenset(("Edit", "Write", "Bash", "NotebookEdit"))


def build(root: str) -> list[str]:
    """Bring every mirror up to date; the paths that were written. Raises VaultError when a source is broken."""
    written = []
    for rel, wanted in sorted(targets(root).items()):
        path = os.path.join(root, rel)
        if content(path) == wanted:
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.{os.getpid()}.tmp"
        with open(temporary, "wb") as file:
            file.write(wanted)
        os.replace(temporary, path)
        written.append(rel)
    return written


def drift(root: str) -> list[str]:
    """The mirror files that are missing or differ from their source."""
    return [rel for rel, wanted in sorted(targets(root).items()) if content(os.path.join(root, rel)) != wanted]


def targets(root: str) -> dict[str, bytes]:
    """What each mirror file must hold."""
    wanted: dict[str, bytes] = {}
    base = os.path.join(root, source.SKILLS)
    for rel in source.files(base):
        data = content(os.path.join(base, rel))
        if data is not None:
            wanted[f".claude/skills/{rel}"] = data
    for rel in source.skill_files(root):
        skill = source.read(root, rel)
        if skill.name.startswith(COMMAND):
            wanted[f".gemini/commands/{skill.name}.toml"] = gemini_command(skill).encode()
    for rel in source.agent_files(root):
        agent = source.read(root, rel)
        wanted[f".codex/agents/{agent.name}.toml"] = codex_agent(agent).encode()
        wanted[f".gemini/agents/{agent.name}.md"] = gemini_agent(agent).encode()
    return wanted


def content(path: str) -> bytes | None:
    """The file's bytes with line ends as in the repository, or None where it is not there."""
    try:
        with open(path, "rb") as file:
            return file.read().replace(b"\r\n", b"\n")
    except OSError:
        return None


def gemini_command(skill: Source) -> str:
    """The skill as a Gemini CLI command. What the user types after it replaces `{{args}}`."""
    prompt = f"{skill.body.strip()}\n\nWhat the person wrote after the command, if anything: {{{{args}}}}\n"
    return (
        f"# made from {skill.rel}; edit that file and run: python3 om.py build\n"
        f"description = {toml(text(skill, 'description'))}\n"
        f"prompt = {toml_block(skill, prompt)}\n"
    )


def codex_agent(agent: Source) -> str:
    """The agent as Codex reads it; one without writing tools runs in a read-only sandbox."""
    return (
        f"# made from {agent.rel}; edit that file and run: python3 om.py build\n"
        f"name = {toml(agent.name)}\n"
        f"description = {toml(text(agent, 'description'))}\n"
        + ("" if writes(agent) else 'sandbox_mode = "read-only"\n')
        + f"developer_instructions = {toml_block(agent, agent.body.strip() + chr(10))}\n"
    )


def gemini_agent(agent: Source) -> str:
    """The agent as Gemini CLI reads it, with its tools under Gemini's names."""
    tools = [GEMINI_TOOLS[tool] for tool in tool_names(agent) if tool in GEMINI_TOOLS]
    lines = [
        "---",
        f"# made from {agent.rel}; edit that file and run: python3 om.py build",
        f"name: {agent.name}",
        f"description: {json.dumps(text(agent, 'description'), ensure_ascii=False)}",
        "kind: local",
        "tools:",
        *(f"  - {tool}" for tool in [*tools, "list_directory"]),
        "---",
    ]
    return "\n".join(lines) + "\n\n" + agent.body.strip() + "\n"


def tool_names(agent: Source) -> list[str]:
    """The tools the agent may use, under Claude's names."""
    tools = agent.head.get("tools", "")
    items = tools if isinstance(tools, list) else str(tools).split(",")
    return [str(item).strip() for item in items if str(item).strip()]


def writes(agent: Source) -> bool:
    """Whether the agent has a tool that can change files. Without a tool list it has every tool."""
    names = tool_names(agent)
    return not names or bool(WRITING.intersection(names))


def text(item: Source, key: str) -> str:
    value = item.head.get(key)
    if not isinstance(value, str) or not value.strip():
        raise VaultError(f"{item.rel} has no {key}: add it as text")
    return " ".join(value.split())


def toml(value: str) -> str:
    """A TOML basic string: JSON's escapes are a subset of TOML's."""
    return json.dumps(value, ensure_ascii=False)


def toml_block(item: Source, value: str) -> str:
    """A TOML literal block. It escapes nothing, so it can hold neither three single quotes nor control characters."""
    if "'''" in value or any(ord(character) < 32 and character not in "\n\t" for character in value):
        raise VaultError(f"{item.rel} holds ''' or control characters, which a command file cannot: leave them out")
    return f"'''\n{value}'''"
