"""Keeps one agent's command line on a leash. Run as a script of its own: `guard.py RUN_FOLDER COMMAND…`.

Its stdin is a pipe that only the bridge holds open. When that pipe closes (the bridge gave up, ended or was killed)
everything the command started is killed and the run's folder is removed. The command itself has no stdin.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

ROUNDS = 200  # of 10 ms: how long killed processes are waited for


def main(folder: str, command: list[str]) -> int:
    """Run `command` to its end; its exit code, 127 when it does not start, 128+n when a signal ended it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        sys.stderr.write(f"{command[0]} did not start: {error.strerror}\n")
        return 127
    cut = threading.Event()
    watcher = threading.Thread(target=watch, args=(child, folder, cut), daemon=True)
    watcher.start()
    code = child.wait()
    if cut.is_set():
        watcher.join()
    end_tree(child)
    return code if code >= 0 else 128 - code


def watch(child: subprocess.Popen[bytes], folder: str, cut: threading.Event) -> None:
    """End everything as soon as nobody holds the other end of our stdin."""
    while True:
        try:
            if not os.read(0, 64):
                break
        except OSError:
            break
    cut.set()
    end_tree(child)
    for path, _, _ in os.walk(folder):
        try:
            os.chmod(path, 0o700)
        except OSError:
            pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(137)


def adopt_orphans() -> None:
    """On Linux, become the parent of what the command's children leave behind, so that it can be found and killed."""
    if sys.platform.startswith("linux"):
        try:
            import ctypes

            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        except (OSError, AttributeError, ImportError):
            pass


def end_tree(child: subprocess.Popen[bytes]) -> None:
    """Kill the command, its process group, and whatever left that group."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(child.pid)], capture_output=True, check=False)
        return
    for _ in range(ROUNDS):
        try:
            os.killpg(child.pid, signal.SIGKILL)
            alive = True
        except (ProcessLookupError, PermissionError):
            alive = False
        for pid in descendants():
            alive = True
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        reap()
        if not alive:
            return
        time.sleep(0.01)


def descendants() -> list[int]:
    """Every process below this one, where /proc tells; zombies are left out."""
    parents: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    fields = stat.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                parents[int(name)] = int(fields[1])
    found = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return sorted(found - {os.getpid()})


def reap() -> None:
    """Collect what has ended, so that it is not found again."""
    if sys.platform == "win32":
        return
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


if __name__ == "__main__":
    os._exit(main(sys.argv[1], sys.argv[2:]))
