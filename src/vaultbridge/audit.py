"""The audit log, as hooks in other repositories write to it too."""

from __future__ import annotations

from vaultcore.audit import ITEMS, KEEP_BYTES, KEEP_DAYS, LINE_BYTES, OWN, STRING, Audit, prune

__all__ = ["ITEMS", "KEEP_BYTES", "KEEP_DAYS", "LINE_BYTES", "OWN", "STRING", "Audit", "prune"]
