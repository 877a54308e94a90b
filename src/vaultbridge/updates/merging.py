"""Three versions of one thing into one: of a text by git, of the manifest key by key."""

from __future__ import annotations

import json
import os
from typing import Any

from vaultcore.errors import VaultError

MISSING: Any = object()
RELEASE_KEYS = ("template", "version", "released")


def is_binary(*contents: bytes) -> bool:
    """Whether one of them is nothing that can be merged by lines."""
    return any(b"\0" in data[:8_000] for data in contents)


def same(one: bytes, other: bytes) -> bool:
    """Whether two files hold the same, whatever a text's line ends."""
    return one == other or (not is_binary(one, other) and unix(one) == unix(other))


def unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def texts(mine: bytes, base: bytes, theirs: bytes, names: tuple[str, str, str]) -> tuple[bytes, bool]:
    """(the merged text, whether it is clean); one that is not has git's conflict marks with the three `names`.

    The line ends are those of `mine` where they are of one kind.
    """
    dos = mine.count(b"\r\n")
    windows = 0 < dos == mine.count(b"\n")
    merged, clean = by_git(unix(mine) if windows else mine, unix(base), unix(theirs), names)
    return (merged.replace(b"\n", b"\r\n") if windows else merged), clean


def by_git(mine: bytes, base: bytes, theirs: bytes, names: tuple[str, str, str]) -> tuple[bytes, bool]:
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="om-merge-") as folder:
        for name, data in (("mine", mine), ("base", base), ("theirs", theirs)):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        labels = [word for name in names for word in ("-L", name)]
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env.update(LC_ALL="C", GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
        try:
            done = subprocess.run(
                ["git", "-c", "merge.conflictStyle=merge", "merge-file", "-p", *labels, "mine", "base", "theirs"],
                cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise VaultError(f"git merge-file could not run ({error}): check the git installation") from error
    if done.returncode < 0 or done.returncode > 127:
        return theirs, False  # git takes it for binary, or will not merge it: nothing to show but the other one
    return done.stdout, done.returncode == 0


def broken(rel: str, data: bytes) -> bool:
    """Whether a file that a program reads can't be read: two clean changes can still make nonsense together."""
    try:
        if rel.endswith(".json"):
            json.loads(data.decode("utf-8-sig"))
        elif rel.endswith(".py"):
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(data, rel, "exec", dont_inherit=True)
    except (ValueError, SyntaxError, RecursionError):
        return True
    return False


def manifests(mine: bytes, base: bytes | None, theirs: bytes) -> tuple[bytes, list[str]]:
    """(the manifest that has the changes of both, the keys where both changed the same and `mine` was kept).

    The result is valid JSON. Raises ValueError when one of the three is not, or is no object.
    """
    now, new = parsed(mine), parsed(theirs)
    old = parsed(base) if base is not None else {}
    if base is not None and alike(now, old):
        return theirs, []
    wrong: list[str] = []
    merged = dict(values(now, old, new, (), wrong))
    for key in RELEASE_KEYS:
        if key in new:
            merged[key] = new[key]
    wrong = [key for key in wrong if key not in RELEASE_KEYS]
    if alike(merged, now):
        return mine, wrong
    if alike(merged, new):
        return theirs, wrong
    if base is not None:  # a merge by lines keeps the person's layout, where it comes to the same
        text, clean = texts(mine, base, theirs, ("", "", ""))
        try:
            if clean and alike(parsed(text), merged):
                return text, wrong
        except ValueError:
            pass
    order = [*new, *(key for key in merged if key not in new)]
    shown = {key: merged[key] for key in order if key in merged}
    return (json.dumps(shown, indent=2, ensure_ascii=False) + "\n").encode(), wrong


def parsed(data: bytes) -> dict[str, Any]:
    """The object in a JSON file. Raises ValueError with what is wrong."""
    found = json.loads(data.decode("utf-8-sig"))
    if not isinstance(found, dict):
        raise ValueError("it must hold an object")
    return found


def alike(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON, in which true is not 1."""
    if one is MISSING or other is MISSING:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def values(mine: Any, base: Any, theirs: Any, path: tuple[str, ...], wrong: list[str]) -> Any:
    """One value that has both changes; where both changed the same, `mine`, and its dotted name goes to `wrong`."""
    if alike(mine, theirs) or alike(theirs, base):
        return mine
    if alike(mine, base):
        return theirs
    if isinstance(mine, dict) and isinstance(theirs, dict):
        old = base if isinstance(base, dict) else {}
        merged = {}
        for key in [*theirs, *(key for key in mine if key not in theirs)]:
            part = values(mine.get(key, MISSING), old.get(key, MISSING), theirs.get(key, MISSING), (*path, key), wrong)
            if part is not MISSING:
                merged[key] = part
        return merged
    lists = [mine, base, theirs]
    if all(isinstance(one, list) and all(isinstance(item, str) for item in one) for one in lists):
        kept = [item for item in theirs if item in mine or item not in base]
        return kept + [item for item in mine if item not in base and item not in theirs]
    wrong.append(".".join(path))
    return mine
