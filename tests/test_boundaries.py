"""Which code may know which: hooks -> vaultcore -> standard library, vaultbridge -> vaultcore, and nothing back."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src"
CORE = sorted((SOURCE / "vaultcore").rglob("*.py"))
BRIDGE = sorted((SOURCE / "vaultbridge").rglob("*.py"))
HOOKS = sorted((ROOT / "hooks").rglob("*.py"))

# What a vaultcore module may import when it is imported itself: what every hook needs, and small parts written in C.
LIGHT = {"os", "re", "json", "sys", "time", "errno", "math", "bisect", "heapq"}
# Parts of the bridge that may know the SDK.
SDK = re.compile(r"vaultbridge/(?:server|transport|gate|sdk|serving|resources|prompts|progress|frames|changes|calls)\b")


def module(path: Path) -> str:
    parts = list(path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, *, top_only: bool) -> set[str]:
    """Names of the modules that a file imports: all of them, or only those that run when it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    package = module(path).rpartition(".")[0] if SOURCE in path.parents else ""
    found: set[str] = set()

    def visit(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                for other in child.orelse:
                    visit(ast.Module([other], []), inside)
                continue
            deeper = inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            if isinstance(child, ast.Import) and not (top_only and inside):
                found.update(name.name for name in child.names)
            elif isinstance(child, ast.ImportFrom) and not (top_only and inside):
                base = child.module or ""
                if child.level:
                    base = ".".join(filter(None, [package, base]))
                found.add(base)
                found.update(f"{base}.{name.name}" for name in child.names)
            visit(child, deeper)

    visit(tree, False)
    return found


def roots(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_vaultcore_knows_only_itself_and_the_standard_library(path: Path) -> None:
    beyond = roots(imports(path, top_only=False)) - set(sys.stdlib_module_names) - {"vaultcore", "__future__"}
    allowed = {"yaml"} if path.name in ("fullyaml.py", "qmd.py") else set()
    assert beyond <= allowed
    assert not roots(imports(path, top_only=True)) & {"yaml"}


@pytest.mark.parametrize("path", HOOKS, ids=name_of)
def test_hooks_know_only_vaultcore_and_the_standard_library(path: Path) -> None:
    assert roots(imports(path, top_only=False)) <= set(sys.stdlib_module_names) | {"vaultcore", "__future__"}


@pytest.mark.parametrize("path", BRIDGE, ids=name_of)
def test_the_bridge_knows_neither_hooks_nor_tests(path: Path) -> None:
    assert not roots(imports(path, top_only=False)) & {"hooks", "tests", "bench", "frontmatter"}


@pytest.mark.parametrize("path", [path for path in BRIDGE if not SDK.search(path.as_posix())], ids=name_of)
def test_only_the_serving_part_of_the_bridge_knows_the_sdk_at_import(path: Path) -> None:
    assert not roots(imports(path, top_only=True)) & {"mcp", "mcp_types", "anyio", "pydantic"}


def test_the_lists_are_not_empty() -> None:
    assert len(CORE) > 15
    assert len(BRIDGE) > 3
    assert "vaultcore" in roots(imports(SOURCE / "vaultcore/write.py", top_only=True))
    assert "hashlib" in imports(SOURCE / "vaultcore/write.py", top_only=False)
    assert "hashlib" not in imports(SOURCE / "vaultcore/write.py", top_only=True)


def test_every_vaultcore_module_imports_alone_and_pulls_in_next_to_nothing() -> None:
    """One fresh interpreter: what each module adds to what the light ones have loaded already."""
    names = [module(path) for path in CORE]
    code = (
        "import json, os, re, sys\n"
        "import __future__, bisect, errno, heapq, math, time\n"
        f"sys.path.insert(0, {str(SOURCE)!r})\n"
        "base = set(sys.modules)\n"
        "added = {}\n"
        "for name in json.loads(sys.stdin.read()):\n"
        "    for other in [m for m in sys.modules if m.split('.')[0] == 'vaultcore' or m not in base]:\n"
        "        del sys.modules[other]\n"
        "    __import__(name)\n"
        "    added[name] = sorted(other for other in set(sys.modules) - base if other.split('.')[0] != 'vaultcore')\n"
        "print(json.dumps(added))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=json.dumps(names), capture_output=True, text=True, check=True
    )
    added: dict[str, list[str]] = json.loads(done.stdout)
    assert {name: extra for name, extra in added.items() if extra} == {}


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_at_module_level_only_the_light_part_of_the_standard_library_is_imported(path: Path) -> None:
    assert roots(imports(path, top_only=True)) - {"vaultcore", "__future__", "msvcrt"} <= LIGHT
