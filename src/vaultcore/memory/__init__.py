"""Memories: short lessons that declare whom they reach, stay true, and are ruled on by people.

Nothing here knows MCP or the index: a `store` of records comes from files, and every rule is a function over it.
"""
