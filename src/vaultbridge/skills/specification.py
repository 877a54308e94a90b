"""Check skills and agents against their specifications, and that they name only what exists."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from vaultbridge.checks.finding import Finding
from vaultbridge.skills import mirror, source
from vaultbridge.skills.source import Source
from vaultcore.errors import VaultError

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
SKILL_KEYS = frozenset(("name", "description", "license", "compatibility", "metadata", "allowed-tools"))
AGENT_KEYS = frozenset(
    "name description tools disallowedTools model maxTurns skills mcpServers hooks permissionMode memory background "
    "effort isolation initialPrompt color".split()
)
AGENT_TOOLS = frozenset("Read Grep Glob Edit Write Bash NotebookEdit WebFetch WebSearch Task TodoWrite Skill".split())
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
CALL = re.compile(r"(?:python3? )?om\.py\b(?: --vault \S+)?(?: ([a-z][a-z-]*))?(.*)", re.DOTALL)
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*|-[a-z])\b")
HYPHENATED = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
PLACE = re.compile(r"(?!~|/|https?:)[\w.][\w.&' -]*(?:/[\w.&' -]+)*/?")
LINES = 500


class Known:
    """What skills may name: commands with their options, note types, skills, agents, places.

    `shipped` are the paths of a full vault, so that a profile that leaves folders out makes no skill wrong.
    """

    def __init__(
        self,
        commands: dict[str, set[str]] | None = None,
        types: set[str] | None = None,
        shipped: set[str] | None = None,
        generated: tuple[str, ...] = (),
    ) -> None:
        self.commands = commands
        self.types = types
        self.shipped = shipped or set()
        self.generated = generated

    def place(self, root: str, path: str) -> bool:
        path = path.rstrip("/")
        if os.path.exists(os.path.join(root, path)) or path in self.shipped or path in self.generated:
            return True
        return any(known.startswith(path + "/") for known in self.shipped)


def check(root: str, known: Known | None = None) -> list[Finding]:
    """The faults of all skills and agents of the vault, and of their mirrors."""
    known = known or Known()
    found: list[Finding] = []
    named: set[str] = set()
    for rel in source.skill_files(root):
        if not os.path.exists(os.path.join(root, rel)):
            found.append(Finding(os.path.dirname(rel), 0, "skill-missing", "the skill's folder holds no SKILL.md"))
            continue
        found.extend(one(root, rel, known, skill_faults, named))
    for rel in source.agent_files(root):
        found.extend(one(root, rel, known, agent_faults, named))
    try:
        fix = "run: python3 om.py build"
        for rel in mirror.drift(root):
            found.append(Finding(rel, 0, "skill-mirror", "differs from the file it is made from", fix))
    except VaultError:
        pass  # the broken source has its own finding
    return sorted(found)


def one(
    root: str, rel: str, known: Known, faults: Callable[[Source], Iterator[Finding]], named: set[str]
) -> Iterator[Finding]:
    try:
        item = source.read(root, rel)
    except VaultError as error:
        text = str(error)
        yield Finding(rel, 0, "skill-form", text.removeprefix(rel).lstrip(": "))
        return
    yield from faults(item)
    if item.name in named:
        yield Finding(rel, 0, "skill-name", f"another skill or agent is named {item.name!r} too")
    named.add(item.name)
    yield from names_only_what_exists(root, item, known)


def skill_faults(item: Source) -> Iterator[Finding]:
    head, rel = item.head, item.rel
    yield from common_faults(item, SKILL_KEYS, "the portable form has only " + ", ".join(sorted(SKILL_KEYS)), 1024)
    for key, limit in (("compatibility", 500), ("license", 500), ("allowed-tools", 2000)):
        if key in head and not (isinstance(head[key], str) and 0 < len(head[key]) <= limit):
            yield Finding(rel, 0, "skill-form", f"{key} must be text of at most {limit} characters")
    metadata = head.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        yield Finding(rel, 0, "skill-form", "metadata must map names to text")
    if item.body.count("\n") > LINES:
        fix = "move details to files in references/"
        yield Finding(rel, 0, "skill-form", f"the text is longer than {LINES} lines", fix, "warning")


def agent_faults(item: Source) -> Iterator[Finding]:
    yield from common_faults(item, AGENT_KEYS, "", 1536)
    for tool in mirror.tool_names(item):
        if tool not in AGENT_TOOLS and not tool.startswith("mcp__"):
            yield Finding(item.rel, 0, "agent-tool", f"no tool is named {tool!r}")


def common_faults(item: Source, keys: frozenset[str], hint: str, limit: int) -> Iterator[Finding]:
    head, rel = item.head, item.rel
    name, description = head.get("name"), head.get("description")
    if not isinstance(name, str) or not NAME.fullmatch(name) or len(name) > 64:
        yield Finding(rel, 0, "skill-name", f"the name {name!r} must be lower-case letters, digits and single hyphens")
    elif name != item.name:
        yield Finding(rel, 0, "skill-name", f"the name is {name!r}, but the file says {item.name!r}")
    if not isinstance(description, str) or not 0 < len(description) <= limit:
        yield Finding(rel, 0, "skill-form", f"the description must be text of 1 to {limit} characters")
    for key in sorted(set(map(str, head)) - keys):
        yield Finding(rel, 0, "skill-key", f"the property {key!r} is not part of the form", hint)
    if not item.body.strip():
        yield Finding(rel, 0, "skill-form", "there is no text below the properties")
    for token, meaning in (("!{", "a shell command"), ("@{", "a file"), ("!`", "a shell command")):
        if token in item.body:
            yield Finding(rel, 0, "skill-form", f"'{token}' is replaced by {meaning} when an agent loads the file")


def names_only_what_exists(root: str, item: Source, known: Known) -> Iterator[Finding]:
    files = {*source.skill_files(root), *source.agent_files(root), *known.shipped}
    names = {path.split("/")[2] for path in files if path.startswith((source.SKILLS + "/", source.AGENTS + "/"))}
    names = {name.removesuffix(".md") for name in names} | (known.types or set())
    for number, line in enumerate(item.body.split("\n"), item.body_line):
        for code in CODE.findall(line):
            call = CALL.fullmatch(code)
            if call:
                yield from call_faults(item, number, call.group(1) or "", call.group(2), known)
            elif HYPHENATED.fullmatch(code) and code not in names:
                yield Finding(item.rel, number, "skill-names", f"no skill or agent is named {code!r}")
            elif "/" in code and PLACE.fullmatch(code) and " --" not in code and not known.place(root, code):
                yield Finding(item.rel, number, "skill-names", f"there is no {code!r} in a vault")


def call_faults(item: Source, line: int, name: str, rest: str, known: Known) -> Iterator[Finding]:
    if known.commands is None or not name:
        return
    if name not in known.commands:
        yield Finding(item.rel, line, "skill-names", f"om has no command {name!r}")
        return
    for option in OPTION.findall(re.sub(r'"[^"]*"', '""', rest)):
        if option not in known.commands[name] | {"--help"}:
            yield Finding(item.rel, line, "skill-names", f"om {name} has no option {option}")
    words = rest.split()
    if name == "new" and known.types is not None and words and words[0].islower() and words[0] not in known.types:
        yield Finding(item.rel, line, "skill-names", f"there is no note type {words[0]!r}")
