"""The MCP bridge and the `om` command: what carries a vault into every other repository."""

__version__ = "0.1.0"
