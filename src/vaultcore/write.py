"""The one writer: the only code that puts bytes into a vault.

Every write is whole or not there at all, never leaves the vault (`..`, links), and says in one sentence why not.
"""

from __future__ import annotations

import os
import sys

from vaultcore import placement, walk
from vaultcore.errors import Refusal, VaultError
from vaultcore.locks import Lock, lock

__all__ = ["Lock", "create", "lock", "move", "remove", "replace", "revision"]

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def revision(data: bytes) -> str:
    """Return the revision of a file's content: its sha256 as 64 hex digits."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def create(root: str, rel: str, data: bytes, *, hidden: bool = False) -> str:
    """Write a new file and return its `rel`. Never replaces: Refusal("exists") when the name is taken.

    Parent folders are made. `hidden=True` lets a command that a person ran write dot files (`.obsidian/…`).
    """
    folder, name = placement.place(root, rel, hidden=hidden)
    made = placement.make_folders(root, folder, rel)
    target = os.path.join(folder, name)
    temp = ""
    try:
        if os.path.lexists(target):
            raise placement.exists(rel)
        temp = _write_temp(folder, data, 0o666)
        _install_new(temp, target, rel)
        temp = ""
        _sync_folder(folder)
    except BaseException as error:
        _discard(temp)
        placement.unmake_folders(made)
        if isinstance(error, OSError):
            raise placement.sentence(error, rel, root) from error
        raise
    return walk.relative(os.path.realpath(root), target) or rel


def replace(root: str, rel: str, data: bytes, expected: str | None, *, hidden: bool = False) -> None:
    """Put `data` in place of the file's content, atomically, keeping its permissions.

    `expected` is the revision the caller has seen, checked right before the installation: Refusal("changed") if
    the file is another by now, Refusal("missing") if it is gone. None installs whatever is there, or nothing.
    """
    folder, name = placement.place(root, rel, follow=True, hidden=hidden)
    made = placement.make_folders(root, folder, rel) if expected is None else []
    target = os.path.join(folder, name)
    temp = ""
    try:
        mode = _mode(target, rel)
        if mode is None and expected is not None:
            raise placement.missing(rel)
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
        raise (placement.gone(root) or placement.missing(rel)) from error
    except BaseException as error:
        _discard(temp)
        placement.unmake_folders(made)
        if isinstance(error, OSError):
            raise placement.sentence(error, rel, root) from error
        raise


def move(root: str, rel: str, to: str, *, hidden: bool = False) -> None:
    """Rename a file inside the vault; parent folders of `to` are made. Never overwrites: Refusal("exists")."""
    folder, name = placement.place(root, rel, hidden=hidden, fresh=False)
    source = os.path.join(folder, name)
    if not os.path.lexists(source):
        raise placement.gone(root) or placement.missing(rel)
    if os.path.isdir(source) and not os.path.islink(source):
        raise Refusal("folder", f"{rel} is a folder.", "Name a file.")
    target_folder, target_name = placement.place(root, to, hidden=hidden)
    made = placement.make_folders(root, target_folder, to)
    target = os.path.join(target_folder, target_name)
    try:
        if os.path.lexists(target):
            # The same file under another case is a rename on a disk that ignores case.
            if source == target or not os.path.samefile(source, target) or os.path.islink(source):
                raise placement.exists(to)
            if source.lower() != target.lower():
                raise placement.exists(to)
            os.rename(source, target)
        else:
            _install_new(source, target, to)
        _sync_folder(target_folder)
        if folder != target_folder:
            _sync_folder(folder)
    except BaseException as error:
        placement.unmake_folders(made)
        if isinstance(error, OSError):
            raise placement.sentence(error, to, root) from error
        raise


def remove(root: str, rel: str, *, hidden: bool = False) -> None:
    """Delete a file of the vault (a link itself, never what it points to)."""
    folder, name = placement.place(root, rel, hidden=hidden, fresh=False)
    target = os.path.join(folder, name)
    if os.path.isdir(target) and not os.path.islink(target):
        raise Refusal("folder", f"{rel} is a folder.", "Name a file.")
    try:
        os.unlink(target)
        _sync_folder(folder)
    except FileNotFoundError as error:
        raise (placement.gone(root) or placement.missing(rel)) from error
    except OSError as error:
        raise placement.sentence(error, rel, root) from error


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
            raise placement.exists(rel) from None
        return
    try:
        if os.path.islink(source):
            raise OSError("a link is moved as it is")
        os.link(source, target)
    except FileExistsError:
        raise placement.exists(rel) from None
    except OSError:
        # No hard links here (exFAT, some network and phone storage): claim the name, then rename over the claim.
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666))
        except FileExistsError:
            raise placement.exists(rel) from None
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

    # Few enough lock files to keep, many enough that writers rarely wait for each other.
    return hashlib.sha256(os.fsencode(os.path.normcase(path))).hexdigest()[:2]
