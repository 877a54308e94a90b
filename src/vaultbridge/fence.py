"""The frames around note content, as hooks in other repositories use them too."""

from __future__ import annotations

from vaultcore.fence import ELLIPSIS, attribute, body, cut, flat, frame, tag

__all__ = ["ELLIPSIS", "attribute", "body", "cut", "flat", "frame", "tag"]
