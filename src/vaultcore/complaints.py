"""What pip, uv and venv print when they fail, as a sentence for a person. Python 3.8 can run it, as set-up must."""

from __future__ import annotations

# Said when a connection failed; the last line speaks of a missing package instead.
_UNREACHED = (
    "connection broken by",
    "failed to establish a new connection",
    "name resolution",
    "name or service not known",
    "getaddrinfo failed",
    "network is unreachable",
    "error sending request",
    "dns error",
    "are you offline",
    "could not connect",
    "connection refused",
    "connecttimeout",
    "cannot connect to proxy",
)
_NOTHING = "(from versions: none)"  # all that pip prints when it does not try a second time


def sentence(text: str, kind: str) -> str:
    """Why nothing was installed and what to do next. `kind`: "PIP" or "UV", whose variables the installer reads.

    A certificate that isn't trusted is no missing connection: the installer's own words say which one it is.
    """
    lowered = text.lower()
    failed = any(sign in lowered for sign in _UNREACHED)
    if "certificate" in lowered or not (failed or _NOTHING in lowered):
        return f"the packages could not be installed: {last_line(text)}"
    return (
        f"the package registry could not be reached{'' if failed else ', or has nothing of what is needed'}: connect, "
        f"or set {kind}_INDEX_URL or {kind}_FIND_LINKS to one that can be, and run set-up again"
    )


def last_line(text: str) -> str:
    """The line that says most, at most 300 characters of it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    trust = [line for line in lines if "CERTIFICATE" in line]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (trust or errors or lines or ["no reason was given"])[-1][:300]
