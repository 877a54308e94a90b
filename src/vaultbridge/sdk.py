"""The MCP SDK without the parts a server over stdio never uses.

Importing anything below `mcp` runs `mcp/__init__.py`, which pulls in the client, and the low-level server names the
whole HTTP stack in its signatures. Together that is a third of the time and of the memory of a bridge process. So for
the length of one import the two packages are put in place unrun, and the HTTP stack is a set of blanks. What is asked
for later is imported for real.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGES = ("mcp", "mcp.server")
HTTP = (
    "starlette", "sse_starlette", "uvicorn", "mcp.server.auth", "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager", "mcp.server.transport_security",
)  # fmt: skip
SERVER = "mcp.server.lowlevel.server"


def import_server() -> None:
    """Import the low-level server as light as it goes. Does nothing where it is imported already."""
    if SERVER in sys.modules:
        return
    for name in PACKAGES:
        if name not in sys.modules:
            _place(name)
    blanks = Blanks()
    sys.meta_path.insert(0, blanks)
    try:
        importlib.import_module(SERVER)
    finally:
        sys.meta_path.remove(blanks)
        blanks.forget()


def _place(name: str) -> None:
    """Make the package `name` importable from, without running it; it runs when somebody asks it for a name."""
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
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)


class Blank(ModuleType):
    """A module whose every name is an empty class: enough for a signature."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {})
        setattr(self, name, value)
        return value


class Blanks(MetaPathFinder, Loader):
    """Finds blanks where the HTTP stack would be, and takes them away again."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        blank = any(name == http or name.startswith(http + ".") for http in HTTP)
        return ModuleSpec(name, self, is_package=True) if blank else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self.made.append(spec.name)
        return Blank(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass

    def forget(self) -> None:
        """Let the real modules be imported by whoever wants them from now on."""
        for name in self.made:
            sys.modules.pop(name, None)
            parent, _, child = name.rpartition(".")
            if isinstance(getattr(sys.modules.get(parent), child, None), Blank):
                delattr(sys.modules[parent], child)
