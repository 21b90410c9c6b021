"""How to get what the kernel refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["advice"]

_SWITCHES = (
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sysctl kernel.unprivileged_userns_clone=1",
    ),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        (
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for this"
            " Python"
        ),
    ),
)
_IN_CONTAINER = (
    "run the container with --security-opt seccomp=unconfined --cap-add SYS_ADMIN, or use the"
    " sandbox docker+gvisor"
)


def advice(number: int | None) -> str:
    """How to get namespaces where the kernel refused them with this error number."""
    for path, bad, remedy in _SWITCHES:
        if _read(path) == bad and (os.geteuid() != 0 or "/user/" in path):
            return f"{path} is {bad}: {remedy}"
    if number in (errno.EPERM, errno.EACCES):
        return f"namespaces are not permitted here; in a container: {_IN_CONTAINER}"
    if number == errno.ENOSPC:
        return "no more user namespaces: raise user.max_user_namespaces"
    return "use the sandbox docker+gvisor or remote instead"


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError:
        return ""
