"""Locks between processes and threads that a crash cannot leave behind."""

from __future__ import annotations

import os
import re
import sys

from vaultcore import placement, places
from vaultcore.errors import Refusal, VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Lock:
    """A lock between processes and threads, held by the operating system: a killed process lets go of it.

    Not reentrant. Use as `with lock(root, name):`; Refusal("busy") when it is not free within `timeout` seconds.
    """

    def __init__(self, root: str, name: str, timeout: float = 10) -> None:
        self.root = root
        self.name = name
        self.timeout = timeout
        self._fd: int | None = None

    def __enter__(self) -> Lock:
        import time

        path = os.path.join(places.cache(self.root), "locks", re.sub(r"[^\w.-]", "_", self.name) + ".lock")
        try:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            fd = os.open(path, _FLAGS, 0o600)
        except OSError as error:
            raise placement.sentence(error, path, self.root) from error
        end = time.monotonic() + self.timeout
        pause = 0.001
        try:
            while not _claim(fd):
                if time.monotonic() >= end:
                    raise Refusal(
                        "busy", f"Another process is writing ({self.name}).", "Try again in a moment.", {"lock": path}
                    )
                time.sleep(pause)
                pause = min(pause * 2, 0.05)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            try:
                _release(fd)
            finally:
                os.close(fd)


def lock(root: str, name: str, timeout: float = 10) -> Lock:
    """Return the lock `name` of the vault at `root`, to be entered with `with`."""
    return Lock(root, name, timeout)


if sys.platform == "win32":
    import msvcrt

    def _claim(fd: int) -> bool:
        try:
            os.lseek(fd, 0, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:

    def _claim(fd: int) -> bool:
        import fcntl

        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise VaultError(
                f"Locks do not work in the cache folder ({error.strerror}): set OM_CACHE to a folder on a local disk."
            ) from error
        return True

    def _release(fd: int) -> None:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_UN)
