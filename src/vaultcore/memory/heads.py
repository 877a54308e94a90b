"""What is known of the ends of the logs: a chain of hashes alone cannot tell that its last lines were cut off.

Three things can: the hash of the last line this clone wrote (clones.identity), the ends this clone has seen of any
log (kept beside it), and the ends of the others' logs that every log names in a line when they have grown (`seen`).
"""

from __future__ import annotations

import json
import os

from .clones import identity, last_line, month_files, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

FOLDER = ".om/log"
MOST_WRITERS = 50


def kept(root: str) -> dict[str, str]:
    """The newest hash per writer that this clone has seen; {} when nothing is kept."""
    try:
        with open(_file(root), encoding="ascii") as file:
            held = json.load(file)
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in held.items()} if isinstance(held, dict) else {}


def keep(root: str, held: dict[str, str]) -> None:
    """Replace what `kept` returns; a place that cannot be written keeps what it has."""
    path = _file(root)
    try:
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as file:
            json.dump(held, file)
        os.replace(f"{path}.{os.getpid()}", path)
    except OSError:
        return


def news(root: str, writer: str, sizes: dict[str, tuple[str, int]]) -> dict[str, str]:
    """The ends of the other writers' logs that `writer` has not named yet, newest hash per writer. `sizes` is what
    this process saw of their files; unchanged ones are not opened."""
    base = os.path.join(root, FOLDER)
    try:
        names = [n for n in os.listdir(base) if n != writer and not n.startswith(".")]
    except OSError:
        return {}
    grown: dict[str, str] = {}
    for name in sorted(names)[:MOST_WRITERS]:
        files = month_files(os.path.join(base, name))
        if not files:
            continue
        size = os.path.getsize(os.path.join(base, name, files[-1]))
        if sizes.get(name) != (files[-1], size):
            sizes[name] = (files[-1], size)
            grown[name] = _end(os.path.join(base, name))
    if not grown:
        return {}
    held = kept(root)
    # an end that lies before one seen earlier is no news: it is what `witnessed` is there for
    found = {n: h for n, h in grown.items() if h and h != held.get(n) and stands(root, n, held.get(n, ""))}
    if found:
        keep(root, {**held, **found})
    return found


def witnessed(root: str, lines: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """Per writer the hashes that something says were in its log: our own note of the last line, what this clone has
    seen, what the logs (`lines`) name of each other."""
    found: dict[str, set[str]] = {}
    for name, head in [*kept(root).items(), identity(root)]:
        if head:
            found.setdefault(name, set()).add(head)
    for line in lines:
        seen = line.get("seen")
        for name, head in seen.items() if isinstance(seen, dict) else ():
            found.setdefault(str(name), set()).add(str(head))
    return found


def stands(root: str, writer: str, head: str) -> bool:
    """Whether a line with the hash `head` is in the log of `writer` ("" always is)."""
    wanted = f'"hash":"{head}"'.encode()
    folder = os.path.join(root, FOLDER, writer)
    for name in reversed(month_files(folder)) if head else ():
        with open(os.path.join(folder, name), "rb") as file:
            if any(wanted in raw for raw in file):
                return True
    return not head


def _end(folder: str) -> str:
    for name in reversed(month_files(folder)):
        try:
            last = last_line(os.path.join(folder, name))
            return str(json.loads(last)["hash"]) if last else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""
    return ""


def _file(root: str) -> str:
    return place(root)[0] + "-heads"
