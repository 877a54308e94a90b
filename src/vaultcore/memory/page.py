"""memories/Review.md as this machine last saw it, and whose ticks are in it: a person's, or nobody can say.

The page is only looked at, never trusted: each tick that appears is logged once, as `external`, with the agent session
that was open when the file changed, if one was. Such a tick is unattested, and no verdict comes of it.
"""

from __future__ import annotations

import json
import os
import re

from .listing import REVIEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .journal import Journal

LARGEST = 2_000_000
IDLE = 12 * 3_600  # seconds after its last sign of life for which a session that never ended counts as open
MOST_SESSIONS = 300
_TICK = re.compile(r"^\s*- \[[xX]\] ([a-z-]+)\b.*\^rv-([0-9a-f]{12})-[a-z]+\s*$", re.M)
UNKNOWN = "nothing tells who ticked it"


class Page:
    """The page of one vault. `changed` is cheap; `observe` and `wrote` belong under the memory lock."""

    def __init__(self, root: str, folder: str) -> None:
        from vaultcore import places

        self.root = root
        self.rel = f"{folder}/{REVIEW}"
        self.path = os.path.join(root, self.rel)
        self._notes = os.path.join(places.cache(root), "review-page.json")
        self._stamp: tuple[int, int] | None = None

    def changed(self) -> bool:
        """Whether the page is not as it was when this process last looked."""
        return self._state() != self._stamp

    def observe(self, journal: Journal) -> None:
        """Log the ticks that have appeared since the page was last seen or written."""
        from vaultcore.write import revision

        stamp = self._state()
        if stamp == self._stamp or stamp is None:
            self._stamp = stamp
            return
        try:
            with open(self.path, "rb") as file:
                data = file.read(LARGEST)
            state = os.stat(self.path)
        except OSError:
            return
        digest, now = revision(data), ticks(data.decode("utf-8", "replace"))
        held = self._held()
        if digest != held.get("digest"):
            before = held.get("ticks")
            known = set(before) if isinstance(before, list) else set(judged(journal, self.rel))
            new = [tick for tick in now if tick not in known]
            if new and not self._came_with_a_merge(journal, digest):
                at = state.st_mtime if os.name == "nt" else max(state.st_mtime, state.st_ctime)
                line = {"op": "external", "channel": "external", "caller": "", "path": self.rel, "ticks": new,
                        "before": held.get("digest", ""), "after": digest,
                        "session": open_session(self.root, at, new)}  # fmt: skip
                journal.extend([line])
            self._keep(digest, now)
        self._stamp = stamp

    def wrote(self, data: bytes) -> None:
        """Take note that the page is as we wrote it."""
        from vaultcore.write import revision

        self._keep(revision(data), ticks(data.decode("utf-8", "replace")))
        self._stamp = self._state()

    def _state(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns if os.name == "nt" else found.st_ctime_ns

    def _held(self) -> dict[str, Any]:
        try:
            with open(self._notes, encoding="utf-8") as file:
                held = json.load(file)
        except (OSError, ValueError):
            return {}
        return held if isinstance(held, dict) else {}

    def _keep(self, digest: str, now: list[str]) -> None:
        try:
            with open(f"{self._notes}.{os.getpid()}", "w", encoding="utf-8") as file:
                json.dump({"digest": digest, "ticks": now}, file)
            os.replace(f"{self._notes}.{os.getpid()}", self._notes)
        except OSError:
            return

    def _came_with_a_merge(self, journal: Journal, digest: str) -> bool:
        return any(line.get("path") == self.rel and line.get("after") == digest for line in journal.lines())


def ticks(text: str) -> list[str]:
    """What is ticked in a page, as "key:choice"."""
    return sorted({f"{hit.group(2)}:{hit.group(1)}" for hit in _TICK.finditer(text)})


def judged(journal: Journal, rel: str) -> dict[str, str]:
    """Every tick the log has seen -> "" for a person's, else what was open when it was made. The last line decides."""
    found: dict[str, str] = {}
    for line in journal.lines():
        if line.get("path") == rel and isinstance(line.get("ticks"), list):
            found.update({str(tick): str(line.get("session") or "") for tick in line["ticks"]})
    return found


def doubt(held: dict[str, str], key: str, choice: str) -> str:
    """Why the tick `choice` for `key` is not taken as a person's ("" when it is). `held` is what `judged` returned."""
    session = held.get(f"{key}:{choice}", UNKNOWN)
    return session if session in ("", UNKNOWN) else f"the session {session} was open when it was ticked"


def open_session(root: str, at: float, made: list[str]) -> str:
    """The agent session that was open at the moment `at` (seconds) or noted one of the ticks `made`; "" for none."""
    from vaultcore.session import state

    folder = state.folder(root)
    try:
        names = sorted(n for n in os.listdir(folder) if n.endswith(".jsonl"))
    except OSError:
        return ""
    for name in names[:MOST_SESSIONS]:
        try:
            alive = os.stat(os.path.join(folder, name)).st_mtime
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                lines = file.read(2 * state.LARGEST).splitlines()
        except OSError:
            continue
        records = [r for r in map(_record, lines) if r]
        started = next((r["start"] for r in records if isinstance(r.get("start"), int)), 0) / 1e9
        last = records[-1] if records else {}
        end = last["ended"] / 1e9 if isinstance(last.get("ended"), int) else alive + IDLE
        noted = {t for r in records for t in r.get("ticked") or () if isinstance(r.get("ticked"), list)}
        if (started and started <= at <= end) or not noted.isdisjoint(made):
            return name[:-6]
    return ""


def _record(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line) if line else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
