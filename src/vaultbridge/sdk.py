"""The MCP SDK without the parts a server over stdio never uses.

Importing anything below `mcp` runs `mcp/__init__.py`, which pulls in the client and the HTTP stack: a third of the
time and 12 MB of every bridge process. Here the two packages are put in place unrun; they run by themselves when
somebody asks them for a name.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

PACKAGES = ("mcp", "mcp.server")


def lighten() -> None:
    """Put the SDK's packages in place without running them. Does nothing where they are imported already."""
    for name in PACKAGES:
        if name not in sys.modules:
            _place(name)


def _place(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return  # the import that follows says what is missing
    loader = spec.loader
    module = importlib.util.module_from_spec(spec)

    def run(attribute: str) -> object:
        if attribute.startswith("__") or importlib.util.find_spec(f"{name}.{attribute}") is not None:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        del module.__dict__["__getattr__"]
        loader.exec_module(module)
        return getattr(module, attribute)

    module.__dict__["__getattr__"] = run
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if isinstance(sys.modules.get(parent), ModuleType):
        setattr(sys.modules[parent], child, module)
