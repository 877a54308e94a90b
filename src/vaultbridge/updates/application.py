"""Carry a plan out: every file whole or not at all, the manifest last, so that a crash only means running it again."""

from __future__ import annotations

import os
import shutil

from vaultbridge.profiles import choice
from vaultbridge.updates.origin import CODE
from vaultbridge.updates.planning import WRITES, Plan, Step
from vaultcore import manifest, write
from vaultcore.errors import Refusal, VaultError


def apply(made: Plan) -> None:
    """Write what the plan says. VaultError names the file that could not be written; run the update again then."""
    aside = made.of("conflict")
    steps = [step for step in made.of(*WRITES) if step.path != manifest.NAME]
    last = [step for step in made.of(*WRITES) if step.path == manifest.NAME]
    copy = os.path.join(made.root, CODE)
    # Code goes last: whatever happens before, the vault runs as it did.
    steps.sort(key=lambda step: (step.action == "remove", step.path.startswith("src/")))
    for step in aside:
        write.replace(made.root, step.copy, step.data, None, hidden=True)
    if any(step.path.startswith("src/") for step in steps):
        keep_code(made.root, copy)
    for step in [*steps, *last]:
        try:
            carry_out(made.root, step)
        except Refusal as refusal:
            if refusal.code not in ("changed", "exists", "missing"):
                raise
            raise VaultError(f"{step.path} was changed while the update ran: run it again to go on") from refusal
    shutil.rmtree(copy, ignore_errors=True)


def carry_out(root: str, step: Step) -> None:
    if step.action == "remove":
        with open(os.path.join(root, step.path), "rb") as file:
            if write.revision(file.read()) != step.seen:
                raise Refusal("changed", f"{step.path} has changed.")
        write.remove(root, step.path, hidden=True)
        choice.empty(root, os.path.dirname(step.path))
        return
    if step.seen is None:
        write.create(root, step.path, step.data, hidden=True)
    else:
        write.replace(root, step.path, step.data, step.seen, hidden=True)
    if step.executable and os.name != "nt":
        path = os.path.join(root, step.path)
        os.chmod(path, os.stat(path).st_mode | 0o111)


def keep_code(root: str, copy: str) -> None:
    """Copy the code that runs, so that an update that stopped half way through it can still be finished."""
    if os.path.isdir(copy):
        return  # an earlier run stopped: what it kept is whole, what lies in src may not be
    source = os.path.join(root, "src")
    if not os.path.isdir(source):
        return
    half = copy + ".tmp"
    shutil.rmtree(half, ignore_errors=True)
    shutil.copytree(source, os.path.join(half, "src"), ignore=shutil.ignore_patterns("__pycache__"))
    os.rename(half, copy)
