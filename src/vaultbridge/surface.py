"""What the bridge is to a client before anyone calls it: name, capabilities, instructions and lists, as plain data.

The boot path answers from these dicts before the SDK is imported, and the SDK's handlers serve the very same dicts.
Nothing here depends on the vault or on who is calling, and nothing here may import the SDK.
"""

from __future__ import annotations

import importlib

from . import __version__
from .instructions import INSTRUCTIONS
from .prompts import PROMPTS
from .resources import TEMPLATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAME = "om"
INFO: dict[str, Any] = {"name": NAME, "version": __version__}

# in the order in which a client shows them
TOOL_MODULES = (
    "search", "read", "expand", "recall", "remember", "context", "timeline", "record_work", "reason", "health",
)  # fmt: skip

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"

_modules: dict[str, Any] = {}


def modules() -> dict[str, Any]:
    """Tool name -> its module, for the tools that exist, in the order of the list."""
    if not _modules:
        for stem in TOOL_MODULES:
            path = f"{__package__}.tools.{stem}"
            try:
                module = importlib.import_module(path)
            except ModuleNotFoundError as error:
                if error.name not in (path, f"{__package__}.tools"):
                    raise
                continue
            _modules[module.TOOL["name"]] = module
    return _modules


def tools() -> list[dict[str, Any]]:
    """The tool list, each entry as it goes over the wire."""
    return [module.TOOL for module in modules().values()]


def prompts() -> list[dict[str, Any]]:
    return PROMPTS


def templates() -> list[dict[str, Any]]:
    return TEMPLATES


def capabilities(modern: bool) -> dict[str, Any]:
    """The server's capabilities. On 2026-07-28 every list may announce changes, because one stream carries them all."""
    return {
        "prompts": {"listChanged": modern},
        "resources": {"subscribe": True, "listChanged": True},
        "tools": {"listChanged": modern},
        "completions": {},
    }


def initialized(version: str) -> dict[str, Any]:
    """The result of `initialize` for a client that offers `version`."""
    return {
        "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": capabilities(False),
        "serverInfo": INFO,
        "instructions": INSTRUCTIONS,
    }


def discovered() -> dict[str, Any]:
    """The result of `server/discover`, without the fields that every modern result carries."""
    return {
        "supportedVersions": [MODERN_VERSION],
        "capabilities": capabilities(True),
        "instructions": INSTRUCTIONS,
        **UNCACHED,
    }


UNCACHED = {"ttlMs": 0, "cacheScope": "private"}
LISTS: dict[str, tuple[str, Callable[[], list[dict[str, Any]]]]] = {
    "tools/list": ("tools", tools),
    "prompts/list": ("prompts", prompts),
    "resources/templates/list": ("resourceTemplates", templates),
}
