"""The detached worker: waits until the writes stop, then brings everything derived up to the files.

    python3 -I -S worker.py VAULT CODE now|later

One at a time per vault. It looks for new writes once more after it has let go of its lock, so that a write that found
it at work is never left behind.
"""

from __future__ import annotations

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = 1.5  # seconds without a write that end a burst
PATIENCE = 30.0  # seconds after which a burst that does not end is refreshed all the same
LONGEST = 600.0  # seconds the index may take


def main(root: str, code: str, at_once: bool) -> int:
    from vaultcore.session import refresh

    if os.environ.get("OM_WORKER") == "off":  # for benches and tests that want only the hook
        return 0
    while True:
        held = refresh.lock(root)
        if held is None:
            return 0
        try:
            seen = refresh.stamp(root, refresh.DIRTY)
            if not at_once:
                seen = settle(root)
            bring_up(root, code)
            _note(root, refresh.DONE, seen)
        finally:
            held.close()
        if refresh.stamp(root, refresh.DIRTY) == seen:
            return 0
        at_once = False


def settle(root: str) -> bytes:
    """Wait until the vault has been quiet for a moment; the mark of its last write."""
    from vaultcore.session import refresh

    patience = time.monotonic() + PATIENCE
    seen = refresh.stamp(root, refresh.DIRTY)
    while time.monotonic() < patience:
        time.sleep(QUIET)
        now = refresh.stamp(root, refresh.DIRTY)
        if now == seen:
            break
        seen = now
    return seen


def bring_up(root: str, code: str) -> None:
    """Census, index, hygiene, in this order: each one feeds the next. A failing one does not stop the others."""
    from vaultcore.session import census, scan, state

    try:
        census.save(root, census.take(root))
    except (OSError, ValueError):
        pass  # the vault went away, or its cache cannot be written
    told = index(root, code)
    scan.run(root, told)
    state.prune(root, time.time())


def index(root: str, code: str) -> str:
    """Refresh the index in the environment that `om.py` finds; "" or what went wrong, in one line."""
    door = os.path.join(code, "om.py")
    if not os.path.isfile(door):
        return f"no om.py in {code}, so nothing refreshes it"
    import subprocess

    call = [sys.executable, "-I", door, *([] if root == code else ["--vault", root]), "refresh", "--quiet"]
    try:
        done = subprocess.run(
            call,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=LONGEST,
            cwd=os.sep,
        )
    except (OSError, subprocess.SubprocessError) as trouble:
        return f"the refresh did not finish ({type(trouble).__name__})"
    if done.returncode:
        return done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200] or f"exit {done.returncode}"
    return ""


def _note(root: str, name: str, data: bytes) -> None:
    from vaultcore.session import state

    state.write_text(root, name, data.decode("ascii", "replace"))


if __name__ == "__main__":
    sys.pycache_prefix = os.path.join(sys.argv[2], ".cache", "pycache")
    sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
    os.chdir(os.path.abspath(os.sep))  # never hold the vault's folder open
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3] == "now"))
