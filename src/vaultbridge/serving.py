"""From the command line's words to a running server: which vault, whose process, which transport."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from vaultcore import manifest
from vaultcore.identity import process_claims

from . import sdk
from .bridge import CODE, Bridge
from .platforms import lookup

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from .boot import Boot
    from .server import App

log = logging.getLogger("om")


def vault_of(arguments: list[str], environ: dict[str, str], cwd: str | None) -> str:
    """The vault a bridge serves: `--vault`, OM_VAULT, else the one this code lies in, else the one around `cwd`."""
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if option == "--vault":
            given = value if equals else (arguments[at + 1] if at + 1 < len(arguments) else "")
            if given:
                return os.path.realpath(os.path.expanduser(given))
    if environ.get("OM_VAULT"):
        return os.path.realpath(os.path.expanduser(environ["OM_VAULT"]))
    return manifest.find_root(CODE) or (manifest.find_root(cwd) if cwd else None) or CODE


def prepare(arguments: list[str]) -> Callable[[int, int, Boot, bytes, bool], None]:
    """Everything that takes time before a connection can be served; what it returns serves it and ends the process."""
    sdk.import_server()
    import anyio
    import anyio._backends._asyncio  # now, not when the loop starts

    from . import server as mcp_server
    from .transport import descriptors

    server = _server(arguments)

    def go(read: int, write: int, boot: Boot, rest: bytes, ended: bool) -> None:
        async def main() -> None:
            async with descriptors(read, write, boot.queue, rest, boot.swallow, ended) as (receive, send):
                await server.run(receive, send, mcp_server.options(server))

        code = 1
        try:
            anyio.run(main)
            code = 0
        except Exception as error:
            log.error("the bridge ended: %s: %s", type(error).__name__, " ".join(str(error).split())[:300])
        finally:  # the interpreter's own end takes long, and waits for threads that may never end
            sys.stderr.flush()
            os._exit(code)

    return go


def serve_plainly(arguments: list[str]) -> None:
    """The bridge over the SDK's own stdio transport, where there is no other way."""
    sdk.import_server()
    import anyio
    from mcp.server.stdio import stdio_server

    from . import server as mcp_server

    server = _server(arguments)

    async def main() -> None:
        async with stdio_server() as (receive, send):
            await server.run(receive, send, mcp_server.options(server))

    anyio.run(main)


def _server(arguments: list[str]) -> Server[App]:
    from .server import build

    logging.basicConfig(
        stream=sys.stderr, level=os.environ.get("OM_LOG", "ERROR").upper(), format="om: %(levelname)s: %(message)s"
    )
    try:
        cwd: str | None = os.getcwd()
    except OSError:
        cwd = None
    bridge = Bridge(vault_of(arguments, dict(os.environ), cwd))
    return build(bridge, process_claims(arguments, os.environ, cwd), lookup=lookup(bridge), watching=True)
