"""`om qmd mcp`: qmd's own MCP server, pinned to this vault's index, for a session inside the vault.

qmd downloads a model that it lacks inside the call that needs it, and hangs for minutes where it cannot. So calls are
looked at on their way in: what needs a missing model is turned into what works without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

from vaultcore import places, qmd
from vaultcore.errors import VaultError

from . import models, program, queries

if TYPE_CHECKING:
    from vaultcore.manifest import Manifest


def serve(root: str, manifest: Manifest) -> int:
    """Serve until the client ends; qmd's exit code. Without a usable qmd a server without tools answers, which says
    why: a session must not begin with a failing server because somebody else set qmd up."""
    found = program.find(str(manifest.get("qmd_min_version")))
    try:
        index = qmd.resolve(root, manifest)
        why = found if isinstance(found, str) else ""
        if found is None:
            why = f"qmd is not installed here: run `{program.INSTALL}`"
        if not why and not index.registered:
            why = "this vault has no qmd index on this machine: run `python3 om.py qmd setup`"
    except VaultError as error:
        why = str(error)
    if why or not isinstance(found, program.Program):
        stand_in(sys.stdin.buffer, sys.stdout.buffer, why)
        return 0
    child = subprocess.Popen(
        [*program.leash(), *found.command(index, "mcp")], stdin=subprocess.PIPE,
        env=program.environment(index), cwd=places.cache(root),
        start_new_session=True,
    )  # fmt: skip
    ended = threading.Thread(target=_end_with, args=(child,), daemon=True)
    ended.start()
    try:
        assert child.stdin is not None
        for line in sys.stdin.buffer:
            child.stdin.write(without_missing(line, models.present(index)))
            child.stdin.flush()
        child.stdin.close()
        return child.wait(2)
    except (OSError, ValueError, subprocess.TimeoutExpired, KeyboardInterrupt):
        return 0
    finally:
        program.end_group(child)


def _end_with(child: subprocess.Popen[bytes]) -> None:
    """End when qmd ends, though our stdin is still open."""
    code = child.wait()
    os._exit(code if code >= 0 else 1)


def without_missing(line: bytes, held: frozenset[str]) -> bytes:
    """A message to qmd with what needs a missing model taken out; anything else byte for byte."""
    if b"tools/call" not in line or not models.missing(held):
        return line
    try:
        message = json.loads(line)
        params = message["params"]
        arguments = params["arguments"]
        if message["method"] != "tools/call" or params["name"] != "query" or not isinstance(arguments, dict):
            return line
    except (ValueError, KeyError, TypeError, RecursionError):
        return line
    params["arguments"] = tamed(arguments, held)
    return json.dumps(message).encode() + b"\n"


def tamed(arguments: dict[str, Any], held: frozenset[str]) -> dict[str, Any]:
    """The arguments of qmd's `query` that work with these models."""
    asked = dict(arguments)
    if "rerank" not in held:
        asked["rerank"] = False
    if isinstance(asked.get("query"), str) and models.missing(held):
        asked["searches"] = queries.lists(asked.pop("query"), "embed" in held)
        asked["rerank"] = False
    searches = asked.get("searches")
    if isinstance(searches, list) and "embed" not in held:
        lexical = [one for one in searches if isinstance(one, dict) and one.get("type") == "lex"]
        texts = [str(one.get("query", "")) for one in searches if isinstance(one, dict)]
        asked["searches"] = lexical or queries.lists(" ".join(texts), False)
    return asked


def stand_in(source: BinaryIO, sink: BinaryIO, why: str) -> None:
    """A server without tools, whose instructions say why there are none."""
    info = {"name": "qmd", "version": "0"}
    for line in source:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            continue
        params = message.get("params")
        version = params.get("protocolVersion") if isinstance(params, dict) else None
        always = {"resultType": "complete", "ttlMs": 60000, "cacheScope": "private"}
        about = {"capabilities": {"tools": {}}, "instructions": why}
        results: dict[str, dict[str, Any]] = {
            "initialize": {"protocolVersion": version or "2025-06-18", "serverInfo": info, **about},
            "server/discover": {
                "supportedVersions": ["2026-07-28"],
                "_meta": {"io.modelcontextprotocol/serverInfo": info},
                **about,
                **always,
            },
            "tools/list": {"tools": [], **always},
            "ping": {},
        }
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in results:
            reply["result"] = results[message["method"]]
        else:
            reply["error"] = {"code": -32601, "message": why}
        sink.write(json.dumps(reply).encode() + b"\n")
        sink.flush()
