"""Copies of a session's transcript, made before the agent compacts it: whole or not at all, never over another."""

from __future__ import annotations

import os

from vaultcore.session import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.agents import Event

FOLDER = "thinking/session-logs"
PREFIX = "session_"
LARGEST = 500_000_000  # bytes; a larger transcript is left where it is


def keep(event: Event, kept: int) -> str:
    """Copy the transcript of this session unless it has hardly grown.

    Returns "" or one sentence on why there is no copy: once per session, since one agent asks before every model call.
    """
    session = state.Session(event.root, event.agent_name, event.session)
    try:
        trouble = _keep(event, session, kept)
    except OSError as error:
        trouble = f"no copy of the transcript: {error.strerror or error} ({error.filename or 'transcript'})"
    if not trouble or f"transcript {trouble}" in session.said():
        return ""
    session.add(said=[f"transcript {trouble}"])
    return trouble


def _keep(event: Event, session: state.Session, kept: int) -> str:
    given = event.payload.get("transcript_path")
    if not isinstance(given, str) or not given.strip() or "\0" in given:
        return "the payload names no transcript, so none was copied"
    source = os.path.expanduser(given)
    if not os.path.isabs(source):
        source = os.path.join(event.cwd or event.root, source)
    status = os.stat(source)
    if (status.st_mode & 0o170000) != 0o100000:
        return f"{source} is no file, so no transcript was copied"
    sizes = [size for path, size in (entry for entry in session.all("copied") if _pair(entry)) if path == source]
    if sizes and sizes[-1] <= status.st_size <= sizes[-1] * 1.1:
        return ""
    if not status.st_size or status.st_size > LARGEST:
        return f"{source} is {'empty' if not status.st_size else 'too large'}, so no transcript was copied"
    folder = _folder(event.root)
    _copy(source, folder, _name(event, event.agent_name))
    session.add(copied=[source, status.st_size])
    prune(folder, kept)
    return ""


def _pair(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], int)


def _folder(root: str) -> str:
    """The folder of the copies, made when missing; OSError if a link would carry the copy out of the vault."""
    folder = os.path.join(root, *FOLDER.split("/"))
    os.makedirs(folder, exist_ok=True)
    if os.path.realpath(folder) != folder:
        raise OSError(0, "thinking/session-logs is a link; the copy would leave the vault", folder)
    return folder


def _name(event: Event, agent: str) -> str:
    import time

    trigger = state.safe(event.text("trigger") or "unknown")[:20]
    return f"{PREFIX}{time.strftime('%Y%m%d_%H%M%S')}_{agent}_{trigger}_{state.safe(event.session)[-12:] or 'none'}"


def _copy(source: str, folder: str, name: str) -> None:
    """Copy under a name nobody has, readable by the owner only; a half-made copy is removed."""
    part = os.path.join(folder, f".{name}.{os.getpid()}.part")
    inward = os.open(source, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        outward = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            _pour(inward, outward)
        finally:
            os.close(outward)
        _install(part, folder, name)
    finally:
        os.close(inward)
        try:
            os.unlink(part)
        except OSError:
            pass  # installed by renaming, or never made


def _pour(inward: int, outward: int) -> None:
    """All bytes that are there now; in the kernel where it can."""
    if hasattr(os, "copy_file_range"):
        try:
            while os.copy_file_range(inward, outward, 1 << 30):
                pass
            return
        except OSError:  # other file systems, old kernels
            os.lseek(inward, 0, os.SEEK_SET)
            os.ftruncate(outward, 0)
            os.lseek(outward, 0, os.SEEK_SET)
    while True:
        data = os.read(inward, 1 << 20)
        if not data:
            return
        while data:
            data = data[os.write(outward, data) :]


def _install(part: str, folder: str, name: str) -> None:
    for attempt in range(1000):
        path = os.path.join(folder, f"{name}{f'-{attempt}' if attempt else ''}.jsonl")
        try:
            if hasattr(os, "link"):
                os.link(part, path)  # fails if the name is taken, which a rename would overwrite
            else:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
                os.replace(part, path)
            return
        except FileExistsError:
            continue
        except (PermissionError, NotImplementedError, OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # no hard links here: claim the name, then fill it
            os.replace(part, path)
            return
    raise OSError(0, "a thousand copies of the same second", folder)


def prune(folder: str, kept: int) -> None:
    """Keep the newest `kept` copies; files of other names are nobody's business here."""
    copies = []
    for entry in os.scandir(folder):
        if entry.name.startswith(PREFIX) and entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
            copies.append((entry.stat().st_mtime_ns, entry.name))
    for _, name in sorted(copies, reverse=True)[kept:]:
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            pass  # another hook was faster
