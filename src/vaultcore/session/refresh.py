"""Starting the detached worker, and the debounce: the last write of a burst is always indexed, by one worker."""

from __future__ import annotations

import os
import sys

from vaultcore.session import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

DIRTY, DONE, LOCK = "dirty", "refreshed", "worker.lock"
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")


def mark(root: str) -> None:
    """Say that something in the vault has changed. Comes before `start`, so that a worker about to end sees it."""
    try:
        state.make(root)
        with open(os.path.join(state.folder(root), DIRTY), "wb") as file:
            file.write(b"%d" % _now())
    except OSError:
        pass  # nothing can be remembered here; a search brings the index up to date by itself


def stamp(root: str, name: str) -> bytes:
    """What the last `mark` (or the last worker) wrote; empty if there was none."""
    try:
        with open(os.path.join(state.folder(root), name), "rb") as file:
            return file.read(64)
    except OSError:
        return b""


def start(root: str, code: str, *, at_once: bool = False) -> bool:
    """Start a detached worker unless one is at work: that one looks again before it ends. True if one was started."""
    held = lock(root)
    if held is None:
        return False
    held.close()
    call = [sys.executable or "python3", "-I", "-S", WORKER, root, code, "now" if at_once else "later"]
    return spawn(call)


def lock(root: str) -> BinaryIO | None:
    """The worker's lock as an open file (closing it lets go), or None while another process holds it."""
    try:
        state.make(root)
        file = open(os.path.join(state.folder(root), LOCK), "ab")
    except OSError:
        return None
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def spawn(call: list[str]) -> bool:
    """Start a process that outlives us: own session, no terminal, none of our pipes. False if that failed."""
    if os.name != "nt" and hasattr(os, "posix_spawn"):
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        try:
            os.posix_spawn(call[0], call, os.environ, file_actions=actions, setsid=True)
            return True
        except NotImplementedError:
            pass  # an old C library without setsid; the slower way can do it
        except OSError:
            return False
    import subprocess

    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        if os.name == "nt":
            flags = 0x00000008 | 0x00000200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
            subprocess.Popen(call, creationflags=flags, close_fds=True, **quiet)  # type: ignore[call-overload]
        else:
            subprocess.Popen(call, start_new_session=True, close_fds=True, **quiet)  # type: ignore[call-overload]
    except OSError:
        return False
    return True


def _now() -> int:
    import time

    return time.time_ns()
