"""The one writer: the only code that puts bytes into a vault.

Every write is whole or not there at all, never leaves the vault (`..`, links), and says in one sentence why not.
"""

from __future__ import annotations

import os
import re
import sys

from vaultcore import places, walk
from vaultcore.errors import Refusal, VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)")
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f\x7f\u2028\u2029]')
_OWN_FOLDERS = (".om", ".cache")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def revision(data: bytes) -> str:
    """Return the revision of a file's content: its sha256 as 64 hex digits."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def create(root: str, rel: str, data: bytes, *, hidden: bool = False) -> str:
    """Write a new file and return its `rel`. Never replaces: Refusal("exists") when the name is taken.

    Parent folders are made. `hidden=True` lets a command that a person ran write dot files (`.obsidian/…`).
    """
    folder, name = _place(root, rel, hidden=hidden)
    made = _make_folders(root, folder, rel)
    target = os.path.join(folder, name)
    temp = ""
    try:
        if os.path.lexists(target):
            raise _exists(rel)
        temp = _write_temp(folder, data, 0o666)
        _install_new(temp, target, rel)
        temp = ""
        _sync_folder(folder)
    except BaseException as error:
        _discard(temp)
        _unmake_folders(made)
        if isinstance(error, OSError):
            raise _sentence(error, rel, root) from error
        raise
    return walk.relative(os.path.realpath(root), target) or rel


def replace(root: str, rel: str, data: bytes, expected: str | None, *, hidden: bool = False) -> None:
    """Put `data` in place of the file's content, atomically, keeping its permissions.

    `expected` is the revision the caller has seen, checked right before the installation: Refusal("changed") if
    the file is another by now, Refusal("missing") if it is gone. None installs whatever is there, or nothing.
    """
    folder, name = _place(root, rel, follow=True, hidden=hidden)
    made = _make_folders(root, folder, rel) if expected is None else []
    target = os.path.join(folder, name)
    temp = ""
    try:
        mode = _mode(target, rel)
        if mode is None and expected is not None:
            raise _missing(rel)
        temp = _write_temp(folder, data, 0o666 if mode is None else mode, exact=mode is not None)
        if expected is None:
            os.replace(temp, target)
        else:
            with lock(root, "write-" + _key(target)):
                with open(target, "rb") as current:
                    seen = revision(current.read())
                if seen != expected:
                    raise Refusal(
                        "changed",
                        f"{rel} has changed since it was read.",
                        "Read it again and repeat the change.",
                        {"expected": expected, "found": seen},
                    )
                os.replace(temp, target)
        temp = ""
        _sync_folder(folder)
    except FileNotFoundError as error:
        _discard(temp)
        raise (_gone(root) or _missing(rel)) from error
    except BaseException as error:
        _discard(temp)
        _unmake_folders(made)
        if isinstance(error, OSError):
            raise _sentence(error, rel, root) from error
        raise


def move(root: str, rel: str, to: str, *, hidden: bool = False) -> None:
    """Rename a file inside the vault; parent folders of `to` are made. Never overwrites: Refusal("exists")."""
    folder, name = _place(root, rel, hidden=hidden, fresh=False)
    source = os.path.join(folder, name)
    if not os.path.lexists(source):
        raise _gone(root) or _missing(rel)
    if os.path.isdir(source) and not os.path.islink(source):
        raise Refusal("folder", f"{rel} is a folder.", "Name a file.")
    target_folder, target_name = _place(root, to, hidden=hidden)
    made = _make_folders(root, target_folder, to)
    target = os.path.join(target_folder, target_name)
    try:
        if os.path.lexists(target):
            # The same file under another case is a rename on a disk that ignores case.
            if source == target or not os.path.samefile(source, target) or os.path.islink(source):
                raise _exists(to)
            if source.lower() != target.lower():
                raise _exists(to)
            os.rename(source, target)
        else:
            _install_new(source, target, to)
        _sync_folder(target_folder)
        if folder != target_folder:
            _sync_folder(folder)
    except BaseException as error:
        _unmake_folders(made)
        if isinstance(error, OSError):
            raise _sentence(error, to, root) from error
        raise


def remove(root: str, rel: str, *, hidden: bool = False) -> None:
    """Delete a file of the vault (a link itself, never what it points to)."""
    folder, name = _place(root, rel, hidden=hidden, fresh=False)
    target = os.path.join(folder, name)
    if os.path.isdir(target) and not os.path.islink(target):
        raise Refusal("folder", f"{rel} is a folder.", "Name a file.")
    try:
        os.unlink(target)
        _sync_folder(folder)
    except FileNotFoundError as error:
        raise (_gone(root) or _missing(rel)) from error
    except OSError as error:
        raise _sentence(error, rel, root) from error


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
            fd = os.open(path, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o600)
        except OSError as error:
            raise _sentence(error, path, self.root) from error
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


def _place(
    root: str, rel: str, *, follow: bool = False, hidden: bool = False, fresh: bool = True
) -> tuple[str, str]:
    """Return the real folder and the name that `rel` means, or refuse.

    `follow`: a link as the last part is followed (inside the vault) instead of being the thing itself.
    `fresh`: parts that do not exist yet must be names that every system can store.
    """
    real = os.path.realpath(root)
    if not os.path.isdir(real):
        raise VaultError(f"The vault {real} is not there: check whether it was moved, renamed or unmounted.")
    if not isinstance(rel, str) or not rel or "\0" in rel:
        raise Refusal("name", "A path inside the vault is needed.", "Give one such as brain/Note.md.")
    parts = rel.split("/")
    if rel.startswith(("/", "\\", "~")) or os.path.isabs(rel) or re.match(r"[A-Za-z]:", rel) or ".." in parts:
        raise _outside(rel)
    if "\\" in rel or "" in parts or "." in parts:
        raise Refusal("name", f"{rel!r} is not a plain path.", "Write folders and the name with single slashes.")
    if not hidden and any(part.startswith(".") for part in parts) and not _own(parts):
        raise _outside(rel)
    folder = os.path.realpath(os.path.join(real, *parts[:-1]))
    name = parts[-1]
    if follow and os.path.islink(os.path.join(folder, name)):
        folder, name = os.path.split(os.path.realpath(os.path.join(folder, name)))
    inside = walk.relative(real, os.path.join(folder, name))
    if inside is None:
        raise _outside(rel)
    inner = inside.split("/")
    if not hidden and any(part.startswith(".") for part in inner) and not _own(inner):
        raise _outside(rel)
    if fresh:
        _check_names(real, inner, rel)
    return folder, name


def _own(parts: list[str]) -> bool:
    return len(parts) > 1 and parts[0] in _OWN_FOLDERS and not any(part.startswith(".") for part in parts[1:])


def _check_names(root: str, parts: list[str], rel: str) -> None:
    path = root
    known = True
    for part in parts:
        path = os.path.join(path, part)
        known = known and os.path.lexists(path)
        if known:
            continue
        why = ""
        try:
            size = len(part.encode())
        except UnicodeEncodeError:
            raise Refusal("name", f"{rel!r} is not valid Unicode.", "Choose another name.") from None
        if size > 255:
            why = f"is {size} bytes long, and most file systems stop at 255"
        elif part[-1] in ". ":
            why = "ends in a dot or blank, which Windows drops"
        elif part[0] == " ":
            why = "starts with a blank"
        elif _RESERVED.match(part):
            why = "is a reserved name on Windows"
        elif _FORBIDDEN.search(part):
            why = 'holds a character that not every system can store (< > : " | ? * or a control character)'
        if why:
            raise Refusal("name", f"The name {part[:80]!r} {why}.", "Choose another name.", {"path": rel})


def _make_folders(root: str, folder: str, rel: str) -> list[str]:
    """Make `folder` and what is missing above it, never the vault itself; return what was made, deepest first."""
    missing: list[str] = []
    path = folder
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    made: list[str] = []
    for path in reversed(missing):
        try:
            os.mkdir(path)
        except FileExistsError:
            if not os.path.isdir(path):
                _unmake_folders(made)
                shown = walk.relative(os.path.realpath(root), path) or path
                raise Refusal("exists", f"{shown} is a file, not a folder.", "Choose another folder.") from None
            continue
        except OSError as error:
            _unmake_folders(made)
            raise _sentence(error, rel, root) from error
        made.insert(0, path)
    return made


def _unmake_folders(made: list[str]) -> None:
    for path in made:
        try:
            os.rmdir(path)
        except OSError:
            return  # somebody else has put something there: theirs now


def _mode(path: str, rel: str) -> int | None:
    """Return the permissions of a regular file, None when there is no file."""
    try:
        state = os.lstat(path)
    except FileNotFoundError:
        return None
    if (state.st_mode & 0o170000) != 0o100000:
        raise Refusal("folder", f"{rel} is not a plain file.", "Name a file.")
    if not state.st_mode & 0o222:
        raise VaultError(f"{rel} is marked read-only: make it writable, then try again.")
    return state.st_mode & 0o7777


def _write_temp(folder: str, data: bytes, mode: int, *, exact: bool = False) -> str:
    """Write `data` to a hidden temporary file in `folder`, down to the disk; nothing stays on failure."""
    path = os.path.join(folder, f".om-{os.getpid()}-{os.urandom(6).hex()}.tmp")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, mode)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[_put(fd, view) :]
            if exact and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
    except BaseException:
        _discard(path)
        raise
    return path


def _put(fd: int, view: memoryview) -> int:
    return os.write(fd, view)


def _install_new(source: str, target: str, rel: str) -> None:
    """Give `source` the name `target` unless that is taken, and drop the old name."""
    if sys.platform == "win32":
        try:
            os.rename(source, target)
        except FileExistsError:
            raise _exists(rel) from None
        return
    try:
        if os.path.islink(source):
            raise OSError("a link is moved as it is")
        os.link(source, target)
    except FileExistsError:
        raise _exists(rel) from None
    except OSError:
        # No hard links here (exFAT, some network and phone storage): claim the name, then rename over the claim.
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666))
        except FileExistsError:
            raise _exists(rel) from None
        try:
            os.replace(source, target)
        except BaseException:
            _discard(target)
            raise
        return
    os.unlink(source)


def _discard(path: str) -> None:
    if path:
        try:
            os.unlink(path)
        except OSError:
            pass


def _sync_folder(folder: str) -> None:
    """Make the new name durable; not every system lets a folder be synced, and the file is in place already."""
    if sys.platform == "win32":
        return
    try:
        fd = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def _key(path: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.normcase(path))).hexdigest()[:24]


def _outside(rel: str) -> Refusal:
    return Refusal("outside", f"{rel!r} is not a place in the vault.", "Give a path inside the vault, e.g. brain/Note.md.")


def _exists(rel: str) -> Refusal:
    return Refusal("exists", f"{rel} exists already.", "Choose another name.", {"path": rel})


def _missing(rel: str) -> Refusal:
    return Refusal("missing", f"{rel} is not there.", "Check the path; it may have been moved or deleted.", {"path": rel})


def _gone(root: str) -> VaultError | None:
    if os.path.isdir(root):
        return None
    return VaultError(f"The vault {root} is not there: check whether it was moved, renamed or unmounted.")


def _sentence(error: OSError, rel: str, root: str) -> VaultError:
    import errno

    gone = _gone(root)
    if gone is not None:
        return gone
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG):
        return VaultError(f"{rel} was not written: no room is left on the disk. Free some space, then try again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return VaultError(f"{rel} was not written: no permission there. Make the folder writable, then try again.")
    if error.errno == errno.ENAMETOOLONG:
        return Refusal("name", f"The path {rel[:80]!r}… is too long for this file system.", "Choose a shorter one.")
    return VaultError(f"{rel} was not written ({error.strerror or error}). Nothing has changed; try again.")
