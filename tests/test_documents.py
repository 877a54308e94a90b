"""What the documents say exists: commands, options, tools, and one version everywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

from vaultbridge import __version__, surface
from vaultbridge.cli import group

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    name
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md")
    if (ROOT / name).exists()
]
IN_OM_PY = {"setup", "test"}


def commands() -> dict[str, click.Command]:
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_documented_command_and_option_is_real(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    real = commands()
    code = "\n".join(re.findall(r"```(?:sh|bash)\n(.*?)```", text, re.S) + re.findall(r"`([^`\n]+)`", text))
    wrong = []
    for words in re.findall(r"(?:python3? (?:\S*/)?om\.py|(?<![\w./-])om) ([a-z][a-z-]*)([^\n`#]*)", code):
        name, rest = words
        if name in IN_OM_PY and name not in real:
            continue
        if name not in real:
            wrong.append(f"om {name}")
            continue
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", rest):
            if option not in options(real[name]) | options(group):
                wrong.append(f"om {name} {option}")
    assert not wrong


def test_every_command_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [name for name in commands() if not re.search(rf"om(?:\.py)? {name}\b", text)]
    assert not missing


def test_the_tool_table_of_the_readme_is_the_real_tool_list() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("| tool |", 1)[1].split("\n\n", 1)[0]
    assert re.findall(r"^\| `(\w+)`", table, re.M) == [tool["name"] for tool in surface.tools()]


def test_the_tool_list_stays_small() -> None:
    assert len(json.dumps(surface.tools(), ensure_ascii=False)) < 12_000


def test_every_tool_says_all_four_hints_and_takes_no_unknown_argument() -> None:
    for tool in surface.tools():
        hints: dict[str, Any] = tool["annotations"]
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(hints), tool["name"]
        assert tool["inputSchema"]["additionalProperties"] is False, tool["name"]


def test_one_version_everywhere() -> None:
    project = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.M)
    manifest = json.loads((ROOT / "vault-manifest.json").read_text())
    changelog = re.search(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert project and changelog
    assert {project.group(1), manifest["version"], changelog.group(1), __version__} == {__version__}
