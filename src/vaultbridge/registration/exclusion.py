"""Keeping files with this machine's path out of commits: through .git/info/exclude, which is nobody else's.

A repository's linked worktrees and registered sub-folders share that one file, so the record says which of them needs
which of its lines.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vaultcore import repository

if TYPE_CHECKING:
    from vaultbridge.registration.plan import Plan

_HEAD = "# om-vault: these hold paths of this machine"


def add(plan: Plan, folder: str) -> None:
    """Plan the lines for what `plan` writes into `folder` for agents; say what git tracks already."""
    place = repository.place(folder)
    names = sorted(path for path, change in plan.changes.items() if change.agents)
    if place is None or not names:
        return
    top = next((at for at in upwards(folder) if os.path.lexists(os.path.join(at, ".git"))), None)
    if top is None:
        return
    relatives = [os.path.relpath(path, top).replace(os.sep, "/") for path in names]
    tracked = _tracked(top, relatives)
    lines = []
    for path, relative in zip(names, relatives, strict=True):
        if tracked is None or relative in tracked:
            if plan.changes[path].before != plan.changes[path].after:
                plan.notes.append(
                    f"{path} holds a path of this machine and "
                    + ("may be tracked by git" if tracked is None else "is tracked by git")
                    + ": do not commit it, or register with --portable"
                )
        else:
            lines.append("/" + "".join("\\" + c if c in "*?[\\ " else c for c in relative))
    if not lines:
        return
    if place.git is None:
        plan.notes.append(f"{top} has its git folder elsewhere: keep {', '.join(lines)} out of commits yourself")
        return
    path = os.path.join(place.git, "info", "exclude")
    if not repository.inside(os.path.realpath(path), os.path.realpath(place.git)):
        return
    text = plan.text(path)
    if text is None:
        return
    plan.needed[path] = lines
    missing = [line for line in lines if line not in text.splitlines()]
    if not missing:
        return
    gap = "" if not text or text.endswith("\n") else "\n"
    head = [] if _HEAD in text else [_HEAD]
    plan.write(path, text + gap + "\n".join([*head, *missing]) + "\n")


def remove(plan: Plan, path: str, lines: dict[str, list[str]]) -> None:
    """Plan to take out of the file at `path` what only this plan's folder needs; `lines` by folder, as recorded."""
    text = plan.text(path)
    if text is None:
        plan.notes.append(f"{path} is left alone: it is no longer UTF-8 text")
        return
    others = {line for scope, needed in lines.items() if scope != plan.scope for line in needed}
    mine = set(lines[plan.scope]) - others
    plan.needed[path] = []
    rest = "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in mine)
    if rest != text:
        plan.write(path, rest)


def upwards(folder: str) -> list[str]:
    """The real path of `folder` and every folder above it."""
    found = [os.path.realpath(folder)]
    while os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found


def _tracked(top: str, relatives: list[str]) -> set[str] | None:
    """Those of `relatives` that git tracks in `top`; None when git cannot say."""
    import subprocess

    command = ["git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "ls-files", "-z", "--", *relatives]
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(command, cwd=top, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return set(done.stdout.decode("utf-8", "replace").split("\0")) if done.returncode == 0 else None
