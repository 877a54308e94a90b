"""What is about to be written, noted before it is: whoever opens the memories after a crash finishes it or drops it.

An intent lies in the vault's cache folder from before its first step until its log line is written. Steps are done in
order; the first one decides: done, and the rest is done too; not done, and nothing of it stands.
"""

from __future__ import annotations

import json
import os

from . import record, takeback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .journal import Journal


UNDONE = ".undo.json"  # the name of an intent that failed and could not be taken back yet


def folder(root: str) -> str:
    from vaultcore import places

    return os.path.join(places.cache(root), "intents")


def pending(root: str) -> list[str]:
    """Paths of intents that wait, oldest first."""
    try:
        names = [n for n in os.listdir(folder(root)) if n.endswith(".json")]
    except OSError:
        return []
    return [os.path.join(folder(root), n) for n in sorted(names)]


def perform(root: str, journal: Journal, steps: list[dict[str, Any]], line: dict[str, Any]) -> list[str]:
    """Do `steps` and write `line` (its `tx`, `after` and `touched` are filled in) as one recoverable operation.

    A step is {"do": "create", rel, text}, {"do": "put", rel, text} (whatever is there), {"do": "edit", rel, set,
    append}, {"do": "remove", rel}, {"do": "move", rel, to}. An error in the first step leaves everything as it was;
    an error in a later one is undone as far as nothing else has changed since. Returns the paths that were written.
    """
    line = {**line, "tx": record.new_id()[2:]}
    intent = {"tx": line["tx"], "steps": steps, "line": line}
    os.makedirs(folder(root), 0o700, exist_ok=True)
    path = os.path.join(folder(root), f"{line['tx']}.json")
    _put(path, json.dumps(intent).encode())
    undo: list[tuple[str, bytes | None]] = []
    try:
        for step in steps:
            undo.extend(do(root, step))
        if "touched" not in line:
            line["touched"] = _touched(root, steps, undo)
        journal.extend([line])
    except BaseException:
        if takeback.undo(root, undo):
            drop(path)
        else:
            os.replace(path, path[: -len(".json")] + UNDONE)  # needs no room on a full disk; the next opening goes on
        raise
    drop(path)
    return [str(step.get("to") or step["rel"]) for step in steps]


def recover(root: str, journal: Journal) -> list[str]:
    """Finish or drop every intent that a dead writer left; call it under the memory lock. Returns the paths touched."""
    from vaultcore.errors import VaultError

    written: list[str] = []
    for path in pending(root):
        try:
            with open(path, encoding="utf-8") as file:
                intent = json.load(file)
            steps, line, tx = intent["steps"], intent["line"], intent["tx"]
        except (OSError, ValueError, KeyError, TypeError):
            drop(path)  # its writer died while noting it: nothing was begun
            continue
        if path.endswith(UNDONE):
            written.extend(takeback.go_on(root, steps, journal, line, path))
            continue
        logged = any(held.get("tx") == tx for held in journal.lines(months=2))
        moved = {step["rel"] for step in steps if step["do"] == "move" and is_done(root, step)}
        begun = bool(moved) or is_done(root, steps[0])
        problem = ""
        if begun and not logged:
            for step in steps[1:]:
                if step["rel"] in moved:
                    continue  # what came before the move was done before it
                try:
                    if not is_done(root, step) and not _half_moved(root, step):
                        do(root, step)
                except VaultError as error:
                    problem = str(error)
            written.extend(str(step.get("to") or step["rel"]) for step in steps)
            journal.extend([{"touched": _touched(root, steps, []), **line, "repaired": True, "problem": problem}])
        elif not logged:
            journal.append(
                "repair",
                "system",
                str(line.get("caller", "")),
                path=line.get("path"),
                reason="a write that had not begun was dropped",
                tx=tx,
            )
        for step in steps:
            sweep(os.path.join(root, os.path.dirname(str(step["rel"]))))
        drop(path)
    return written


def _half_moved(root: str, step: dict[str, Any]) -> bool:
    """Finish a move that died with the file in both places; False when it is no such move."""
    from vaultcore import write

    data = read(root, str(step["rel"]))
    if step["do"] != "move" or data is None or read(root, str(step["to"])) != data:
        return False
    write.remove(root, str(step["rel"]))
    return True


def sweep(folder: str) -> None:
    """Remove the writer's temporary files of processes that are no more; ours and those of the living stay."""
    if os.name == "nt":
        return  # there, signal 0 is no question
    try:
        names = [n for n in os.listdir(folder) if n.startswith(".om-") and n.endswith(".tmp")]
    except OSError:
        return
    for name in names:
        number = name.split("-")[1]
        try:
            os.kill(int(number), 0)
        except (ProcessLookupError, OverflowError):
            drop(os.path.join(folder, name))
        except (OSError, ValueError):
            continue


def do(root: str, step: dict[str, Any]) -> list[tuple[str, bytes | None]]:
    """One step; returns what takes it back: (path, the bytes that were there, None for none)."""
    from vaultcore import write
    from vaultcore.errors import Refusal

    rel = str(step["rel"])
    if step["do"] == "create":
        write.create(root, rel, step["text"].encode())
        return [(rel, None)]
    if step["do"] == "put":
        before = read(root, rel)
        if before is None:
            write.create(root, rel, step["text"].encode())
        else:
            write.replace(root, rel, step["text"].encode(), None)
        return [(rel, before)]
    if step["do"] == "remove":
        before = read(root, rel)
        write.remove(root, rel)
        return [(rel, before)]
    if step["do"] == "move":
        before = read(root, rel)
        write.move(root, rel, step["to"])
        return [(rel, before), (str(step["to"]), None)]
    for attempt in range(5):
        before = read(root, rel)
        if before is None:
            raise Refusal("missing", f"{rel} is not there.", "It may have been moved or deleted; recall again.")
        try:
            write.replace(root, rel, edited(before, step), write.revision(before))
            return [(rel, before)]
        except Refusal as error:
            if error.code != "changed" or attempt == 4:
                raise
    return []


def edited(data: bytes, step: dict[str, Any]) -> bytes:
    """`data` with the step's properties set and its entries appended to lists that do not hold them; with `entry`, a
    note listed in it (work.listing)."""
    from vaultcore import properties

    if "entry" in step:
        from vaultcore.work import listing

        return listing.added(data, listing.Item(*step["entry"]))
    text, _ = properties.decode(data)
    held = properties.read(text).values
    changes: dict[str, object] = dict(step.get("set") or {})
    for name, entries in (step.get("append") or {}).items():
        items = properties.as_list(held.get(name)) if held.get(name) is not None else []
        ids = {record.target(i) for i in items}
        items += [e for e in entries if record.target(e) not in ids]
        changes[name] = items
    for name, entries in (step.get("drop") or {}).items():
        items = properties.as_list(held.get(name)) if held.get(name) is not None else []
        gone = {record.target(e) for e in entries}
        changes[name] = [i for i in items if record.target(i) not in gone] or None
    return properties.edit(data, changes)


def is_done(root: str, step: dict[str, Any]) -> bool:
    data = read(root, str(step["rel"]))
    if step["do"] in ("create", "put"):
        return data == str(step["text"]).encode()
    if step["do"] == "remove":
        return data is None
    if step["do"] == "move":
        return data is None and read(root, str(step["to"])) is not None
    return data is not None and edited(data, step) == data


def _touched(root: str, steps: list[dict[str, Any]], undo: list[tuple[str, bytes | None]]) -> list[dict[str, Any]]:
    """What the log says of every file that `steps` touched, the first step's own aside; a moved one in both places."""
    from vaultcore.write import revision

    found: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        if step["do"] == "put" or (number == 0 and step["do"] != "move"):
            continue
        for path in [step["rel"], *([step["to"]] if step["do"] == "move" else [])]:
            item = {"path": path, "op": step.get("as", step["do"]), "id": step.get("id", "")}
            for name, data in (("after", read(root, str(path))), ("before", dict(reversed(undo)).get(str(path)))):
                item[name] = revision(data) if data is not None else ""
            found.append(item)
    return found


def read(root: str, rel: str) -> bytes | None:
    try:
        with open(os.path.join(root, rel), "rb") as file:
            return file.read()
    except OSError:
        return None


def _put(path: str, data: bytes) -> None:
    fd = os.open(path + ".tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        while data:
            data = data[os.write(fd, data) :]
        os.fsync(fd)
        os.close(fd)
    except OSError:
        os.close(fd)
        drop(path + ".tmp")
        raise
    os.replace(path + ".tmp", path)


def drop(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
