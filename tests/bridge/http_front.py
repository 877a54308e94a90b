"""The bridge's server on loopback HTTP, for the conformance suite, which drives nothing else. Prints its port."""

from __future__ import annotations

import os
import socket
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src"))


def main(vault: str) -> None:
    import mcp.server  # noqa: F401  # whole, before the bridge would load it light
    import uvicorn

    from vaultbridge import server as mcp_server
    from vaultbridge.bridge import Bridge

    app = mcp_server.build(Bridge(vault), []).streamable_http_app(host="127.0.0.1")
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none")).run(sockets=[listening])


if __name__ == "__main__":
    warnings.simplefilter("default")
    main(sys.argv[1])
