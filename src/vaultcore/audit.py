"""Who read what: one bounded JSON line for every call, in files of one day each, outside the note tree.

The day's file is `.om/audit/YYYY-MM-DD.jsonl` (ignored by git; it says what was asked). Where the vault has no `.om`
yet, or cannot be written, it is the same name in the vault's cache folder. Old days are removed whole; what was
refused on them is first carried over into `refused-YYYY-MM.jsonl`, which is never removed.
"""

from __future__ import annotations

import json
import os
import time

from vaultcore import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

KEEP_DAYS = 92
KEEP_BYTES = 64_000_000
LINE_BYTES = 4_000  # one write of this size is not interleaved by POSIX appends on a local disk
STRING = 400
ITEMS = 25
OWN = ("at", "action", "caller", "source", "channel", "pid")


class Audit:
    """The audit log of one vault. `record` never raises: a reply must not fail because its record could not be kept."""

    def __init__(self, root: str, channel: str = "agent") -> None:
        from _thread import allocate_lock  # threading itself costs a hook more than the line it writes

        self.root = root
        self.channel = channel
        self.problem: str | None = None
        self._lock = allocate_lock()
        self._pruned = ""

    def folders(self) -> Iterator[str]:
        """Where the log may lie, best first."""
        if os.path.isdir(os.path.join(self.root, ".om")):  # never made here: the folder may be no vault, or moved away
            yield os.path.join(self.root, ".om", "audit")
        yield os.path.join(places.cache(self.root), "audit")

    def record(self, action: str, caller: Any = None, **fields: object) -> None:
        """Append one line. A field with the name of one of ours becomes `field.<name>`, never takes its place."""
        now = time.time()
        line: dict[str, object] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z",
            "action": action,
            "caller": _bounded(getattr(caller, "name", None) or "unknown"),
            "source": _bounded(getattr(caller, "source", None) or "none"),
            "channel": self.channel,
            "pid": os.getpid(),
        }
        for key, value in fields.items():
            line[f"field.{key}" if key in OWN else key] = _bounded(value)
        data = _encode(line)
        with self._lock:
            self._append(line["at"], data)  # type: ignore[arg-type]

    def _append(self, at: str, data: bytes) -> None:
        day = at[:10]
        for folder in self.folders():
            try:
                if not os.path.isdir(folder):
                    os.makedirs(folder, mode=0o700, exist_ok=True)
                    with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as ignore:
                        ignore.write("*\n")  # a vault that was taken in has no rule of its own for it
                handle = os.open(os.path.join(folder, day + ".jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                try:
                    os.write(handle, data)
                finally:
                    os.close(handle)
            except OSError as error:
                self.problem = f"the audit log in {folder} could not be written: {error.strerror or error}"
                continue
            self.problem = None
            if self._pruned != day:
                self._pruned = day
                prune(folder, day)
            return

    def lines(self, days: int = 1) -> Iterator[dict[str, Any]]:
        """The records of the newest `days` days, oldest first; lines that are torn or foreign are passed over."""
        found: dict[str, list[str]] = {}
        for folder in self.folders():
            for name in _days(folder):
                found.setdefault(name, []).append(os.path.join(folder, name))
        for name in sorted(found)[-days:]:
            for path in found[name]:
                yield from _read(path)


def prune(folder: str, today: str) -> None:
    """Remove the days that are over the limits, oldest first, carrying what they refused over. Never raises."""
    try:
        names = [name for name in _days(folder) if name[:10] < today]
        total = sum(os.path.getsize(os.path.join(folder, name)) for name in names)
        while names and (len(names) > KEEP_DAYS or total > KEEP_BYTES):
            path = os.path.join(folder, names[0])
            total -= os.path.getsize(path)
            refused = [line for line in _read(path) if line.get("action") == "refused"]
            if refused:
                month = os.path.join(folder, f"refused-{names[0][:7]}.jsonl")
                with open(month, "ab") as out:
                    out.write(b"".join(_encode(line) for line in refused))
            os.unlink(path)
            del names[0]
    except OSError:
        return  # the next day tries again


def _days(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if len(name) == 16 and name.endswith(".jsonl") and name[:4].isdigit())


def _read(path: str) -> Iterator[dict[str, Any]]:
    try:
        with open(path, "rb") as lines:
            for raw in lines:
                try:
                    value = json.loads(raw)
                except ValueError:
                    continue
                if isinstance(value, dict):
                    yield value
    except OSError:
        return


def _bounded(value: object) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        head = [_bounded(item) for item in list(value)[:ITEMS]]
        return head + [f"and {len(value) - ITEMS} more"] if len(value) > ITEMS else head
    if isinstance(value, dict):
        return {_bounded(str(key)): _bounded(item) for key, item in list(value.items())[:ITEMS]}
    from vaultcore.memory import secrets

    text = secrets.hidden(str(value)[: 20 * STRING])
    return text if len(text) <= STRING else text[: STRING - 1] + "…"


def _encode(line: dict[str, Any]) -> bytes:
    data = json.dumps(line, ensure_ascii=True, separators=(",", ":"), default=str).encode()
    if len(data) >= LINE_BYTES:
        kept = {key: value for key, value in line.items() if key in OWN}
        data = json.dumps({**kept, "cut": len(data)}, ensure_ascii=True, separators=(",", ":")).encode()
    return data + b"\n"
