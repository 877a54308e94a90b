"""How the case runner reaches om-vault: where things lie, how hooks and the bridge start, what tools are called."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DIRS = {"notes": "notes", "memories": "memories", "templates": "templates"}
HOOKS = {
    "session_start": "session_start",
    "prompt": "prompt",
    "post_write": "after_write",
    "pre_compact": "before_compact",
    "stop": "stop",
}


def prepare_vault(vault: Path) -> None:
    """An empty vault: a manifest that exposes the folder of notes."""
    manifest = {
        "user_content_roots": ["notes"],
        "mcp_exposed_roots": ["notes"],
        "memory_root": "memories",
        "frontmatter_required": {"*": {"date": "date", "description": "text", "tags": "list"}},
    }
    policy_file(vault).write_text(json.dumps(manifest), encoding="utf-8")
    for folder in (*DIRS.values(), ".om"):
        (vault / folder).mkdir(exist_ok=True)


def hook_argv(role: str, vault: Path, host: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(ROOT / "hooks" / f"{HOOKS[role]}.py"), "--agent", host]


def server_argv(vault: Path) -> list[str]:
    return [sys.executable, str(ROOT / "om.py"), "serve", "--vault", str(vault)]


def server_env(vault: Path, repo: Path) -> dict[str, str]:
    return {"OM_PYTHON": sys.executable}


def policy_file(vault: Path) -> Path:
    return vault / "vault-manifest.json"


def caller_env(project: str) -> dict[str, str]:
    return {"OM_PROJECT": project}


def tool_call(role: str, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    given = dict(args)
    if role in ("read_note", "follow_links"):
        for key in ("path", "name"):
            if key in given:
                given["note"] = given.pop(key)
        return ("read" if role == "read_note" else "expand"), given
    if role == "remember":
        if "text" in given:
            given["body"] = given.pop("text")
        given.setdefault("title", str(given.get("body", ""))[:80])
        if isinstance(given.get("supersedes"), str):
            given["supersedes"] = [given["supersedes"]]
        given.setdefault("confidence", "verified")
        given.setdefault("verification", "seen while running the case")
        if given.get("scope") == "general":
            given.setdefault("generality", "it concerns every project alike")
        given.pop("tags", None)
    return role, given


def apply_policy(vault: Path, policy: dict[str, Any]) -> None:
    held = json.loads(policy_file(vault).read_text(encoding="utf-8"))
    if "expose" in policy:
        held["mcp_exposed_roots"] = [_mapped(item) for item in policy["expose"]]
    if "exclude" in policy:
        held["mcp_never_expose"] = [_mapped(item) for item in policy["exclude"]]
    policy_file(vault).write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")


def _mapped(item: str) -> str:
    head, slash, rest = item.partition("/")
    return DIRS.get(head, head) + slash + rest


def write_memory(vault: Path, mem: dict[str, Any]) -> Path:
    created = mem.get("created") or "2026-01-01T00:00:00Z"
    day = created[:10]
    path = vault / DIRS["memories"] / day[:4] / day[5:7] / f"{day} {mem['id']}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        "---",
        f"date: {day}",
        f"description: {json.dumps(mem['title'], ensure_ascii=False)}",
        "tags:",
        "  - memory",
        f"id: {mem['id']}",
        "source: mcp-capture",
        f"session: {json.dumps(created)}",
        f"scope: {mem.get('scope', 'project')}",
    ]
    for key in ("projects", "platforms"):
        if mem.get(key):
            lines += [f"{key}:", *(f"  - {json.dumps(name, ensure_ascii=False)}" for name in mem[key])]
    lines += ["confidence: verified", f"recorded_at: {created}"]
    if mem.get("superseded_by"):
        lines += ["status: superseded", "superseded_by:", f"  - {mem['superseded_by']}"]
    lines += ["---", "", f"# {mem['title']}", "", mem["text"], ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def memory_files(vault: Path) -> list[Path]:
    """Every memory on disk; the review list is generated and no memory."""
    found = (vault / DIRS["memories"]).rglob("*.md")
    return sorted(path for path in found if path.name != "Review.md" and "_inbox" not in path.parts)


def audit_log(vault: Path) -> Path:
    """The file of the newest day, or the one that today's would be."""
    import time

    folder = vault / ".om" / "audit"
    held = sorted(folder.glob("????-??-??.jsonl"))
    return held[-1] if held else folder / time.strftime("%Y-%m-%d.jsonl", time.gmtime())
