"""Where programs can leave something for the next one, and how it is removed: for a place that is
used again.
"""

from __future__ import annotations

import os
import stat
import time

_PSEUDO = ("proc", "sysfs", "cgroup", "cgroup2", "devpts")


def writable() -> list[str]:
    """The mount points that this user can write to."""
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            words = line.split()
            kind = words[words.index("-") + 1]
            place = words[4].replace("\\040", " ")
            if (
                kind not in _PSEUDO
                and os.path.isdir(place)
                and os.access(place, os.W_OK, effective_ids=True)
            ):
                found.append(place)
    return found


def remove(folders: list[str], seconds: float) -> bool:
    """Empty these folders.

    False when something is left after so many seconds, or cannot be removed.
    """
    deadline = time.monotonic() + seconds
    try:
        for folder in folders:
            _empty(folder, deadline)
    except OSError:
        return False
    return not any(os.listdir(folder) for folder in folders)


def _empty(folder: str, deadline: float) -> None:
    """No recursion and no long paths: what lies deeper is first moved up, whatever its depth."""
    counter = 0
    while time.monotonic() < deadline:
        names = os.listdir(folder)
        if not names:
            return
        for name in names:
            path = folder + "/" + name
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
                continue
            counter = _flatten(folder, path, counter)
            os.rmdir(path)


def _flatten(folder: str, path: str, counter: int) -> int:
    os.chmod(path, 0o700)
    for name in os.listdir(path):
        inner = path + "/" + name
        if not stat.S_ISDIR(os.lstat(inner).st_mode):
            os.unlink(inner)
            continue
        os.chmod(inner, 0o700)
        while os.path.lexists("%s/.%d" % (folder, counter)):
            counter += 1
        os.rename(inner, "%s/.%d" % (folder, counter))
        counter += 1
    return counter
