"""The tools of the bridge, one module each: `TOOL` says how it is called, `run` does it.

A module imports nothing heavy at module level, because the first tool list is answered before anything else has
been loaded. `run(bridge, caller, arguments)` gets arguments that already fit `TOOL["inputSchema"]`, returns the text
for the model, and raises Refusal for whatever the caller can mend.
"""

from __future__ import annotations

from typing import Any

READ = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
WRITE = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False}

REPLY = 38_000  # characters of one reply: clients cut or divert what is longer (Gemini at 40,000)


def schema(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    """An exact input schema: these arguments and no others."""
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        found["required"] = required
    return found


def text(description: str, longest: int = 1_000) -> dict[str, Any]:
    """A string argument of at most `longest` characters."""
    return {"type": "string", "maxLength": longest, "description": description}


def whole(description: str, least: int, most: int, default: int) -> dict[str, Any]:
    """An integer argument with bounds that the bridge enforces."""
    return {"type": "integer", "minimum": least, "maximum": most, "default": default, "description": description}


def flag(description: str) -> dict[str, Any]:
    """A yes-or-no argument, no by default."""
    return {"type": "boolean", "default": False, "description": description}


def words(description: str, most: int = 20, longest: int = 300) -> dict[str, Any]:
    """A list-of-strings argument."""
    return {
        "type": "array",
        "items": {"type": "string", "maxLength": longest},
        "maxItems": most,
        "description": description,
    }
