"""What our log last knew of every memory file, to notice edits that went past it. Derived; rebuilt from the logs."""

from __future__ import annotations

import json
import os

from .listing import REVIEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .journal import Journal
    from .store import Store

COMPACT_AT = 4_000


class Known:
    """Size, mtime and hash per path, in one file of the cache folder: lines are appended, the last one counts."""

    def __init__(self, root: str) -> None:
        from vaultcore import places

        self.path = os.path.join(places.cache(root), "memory-known.jsonl")
        self.held: dict[str, tuple[int, int, str]] = {}
        self._read = -1
        self._extra = 0

    def load(self) -> bool:
        """Read what other processes appended since; False when there is nothing to start from."""
        try:
            size = os.path.getsize(self.path)
        except OSError:
            self._read, self.held = -1, {}
            return False
        if size == self._read:
            return True
        if size < self._read or self._read < 0:
            self._read, self.held, self._extra = 0, {}, 0
        with open(self.path, "rb") as file:
            file.seek(self._read)
            data = file.read()
        end = data.rfind(b"\n") + 1
        for raw in data[:end].splitlines():
            try:
                rel, length, mtime, digest = json.loads(raw)
            except (ValueError, TypeError):
                continue
            self._extra += 1
            if digest:
                self.held[rel] = (length, mtime, digest)
            else:
                self.held.pop(rel, None)
        self._read += end
        return True

    def put(self, changes: list[tuple[str, int, int, str]]) -> None:
        """Note states (an empty hash: gone). A cache that cannot be written is looked at again from the logs."""
        if not changes:
            return
        for rel, size, mtime, digest in changes:
            if digest:
                self.held[rel] = (size, mtime, digest)
            else:
                self.held.pop(rel, None)
        try:
            if self._extra + len(changes) > COMPACT_AT + 2 * len(self.held):
                lines = [[rel, *state] for rel, state in self.held.items()]
                temp = f"{self.path}.{os.getpid()}"
                with open(temp, "wb") as file:
                    file.write(b"".join(json.dumps(x).encode() + b"\n" for x in lines))
                os.replace(temp, self.path)
                self._extra, self._read = len(lines), os.path.getsize(self.path)
                return
            data = b"".join(json.dumps(list(x)).encode() + b"\n" for x in changes)
            with open(self.path, "ab") as file:
                at = file.tell()
                file.write(data)
            if at == max(self._read, 0):
                self._read = at + len(data)
            self._extra += len(changes)
        except OSError:
            return


def reconcile(
    root: str,
    store: Store,
    known: Known,
    journal: Journal,
    weigh: Callable[[list[dict[str, Any]]], None] = lambda lines: None,
) -> list[dict[str, Any]]:
    """Log every memory file that changed past us since the log last saw it, and return those lines; `weigh` may add to
    them what the gates say.

    Files that another clone's log accounts for (they came with a merge) are taken over silently. Call it under the
    memory lock, after `store.refresh()`.
    """
    started = known.load()
    stamps = store.stamps
    looked = stamps if store.unseen_all else [rel for rel in store.unseen if rel in stamps]
    suspects = [rel for rel in looked if known.held.get(rel, ("", "", ""))[:2] != stamps[rel]]
    gone = [
        rel for rel in (known.held if store.unseen_all else store.unseen) if rel in known.held and rel not in stamps
    ]
    store.unseen_all = not started
    store.unseen.clear()
    if not suspects and not gone:
        return []
    logged = _logged(journal)
    if not started:
        gone = [
            rel
            for rel, (after, _) in logged.items()
            if after and rel not in stamps and rel.startswith(store.folder + "/") and rel != f"{store.folder}/{REVIEW}"
        ]
    changes: list[tuple[str, int, int, str]] = []
    lines: list[dict[str, Any]] = []
    lost = {rel: known.held[rel][2] if rel in known.held else logged[rel][0] for rel in gone}
    moved = {digest: rel for rel, digest in lost.items()}
    for rel in suspects:
        digest = _hash(os.path.join(root, rel))
        if digest is None:
            continue
        before = known.held[rel][2] if rel in known.held else logged.get(rel, ("", set()))[0]
        r = store.records.get(rel) or store.inbox.get(rel)
        if r is None and rel not in logged:
            continue  # a page beside the memories that never was one
        changes.append((rel, *stamps[rel], digest))
        if digest == before or digest in logged.get(rel, ("", frozenset()))[1]:
            continue
        line = {
            "op": "external",
            "channel": "external",
            "caller": "",
            "path": rel,
            "before": before,
            "after": digest,
            "id": r.key if r else "",
        }
        if not before and digest in moved:
            line["before"], line["was"] = digest, moved[digest]
            lost.pop(moved[digest], None)
            changes.append((moved[digest], 0, 0, ""))
        lines.append(line)
    for rel, digest in lost.items():
        changes.append((rel, 0, 0, ""))
        if logged.get(rel, (None, None))[0] != "":
            lines.append(
                {
                    "op": "external",
                    "channel": "external",
                    "caller": "",
                    "path": rel,
                    "before": digest,
                    "reason": "removed",
                }
            )
    if lines:
        weigh(lines)
        journal.extend(lines)
    known.put(changes)
    return lines


def _logged(journal: Journal) -> dict[str, tuple[str, set[str]]]:
    """Per path: the last hash any log has for it ("" when it was removed), and every hash any log ever had."""
    found: dict[str, tuple[str, set[str]]] = {}
    for line in journal.lines():
        for item in [line, *(line.get("touched") or [])]:
            if (
                isinstance(item, dict)
                and item.get("path")
                and ("after" in item or item.get("op") in ("external", "forget", "remove", "move"))
            ):
                path, after = str(item["path"]), str(item.get("after") or "")
                held = found.setdefault(path, ("", set()))
                if after:
                    held[1].add(after)
                found[path] = (after, held[1])
                if item.get("was"):
                    found[str(item["was"])] = ("", found.get(str(item["was"]), ("", set()))[1])
    return found


def _hash(path: str) -> str | None:
    from vaultcore.write import revision

    try:
        with open(path, "rb") as file:
            return revision(file.read())
    except OSError:
        return None
