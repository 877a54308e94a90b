"""Notes made from templates: which types there are, what a template becomes, and where the new note is listed."""

from vaultbridge.templates.creation import Plan, plan, write
from vaultbridge.templates.kinds import Kind, find, types
from vaultbridge.templates.placeholders import fill

__all__ = ["Kind", "Plan", "fill", "find", "plan", "types", "write"]
