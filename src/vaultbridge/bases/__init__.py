"""`.base` files: the checker that needs no Obsidian (grammar, property ids, formulas, view names, expressions)."""

from vaultbridge.bases.checker import check

__all__ = ["check"]
