"""Search: `search(bridge, caller, query, limit, …)` and what it returns."""

from __future__ import annotations

from .engine import Answer, Chunk, Engine, Hit, Pointer, search

__all__ = ["Answer", "Chunk", "Engine", "Hit", "Pointer", "search"]
