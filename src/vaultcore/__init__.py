"""What a vault is: files, properties, links, policy, memories, sessions.

Standard library only at import time, Python 3.9, no knowledge of MCP: the hooks start from here in
tens of milliseconds.
"""
