"""What this machine can give a jail, found by asking the kernel and by making one."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rlenv.errors import RlenvError
from rlenv.sandbox import Diagnosis, Profile

from . import cgroups
from .slot import NoJail, Slot

__all__ = ["advice", "diagnose"]

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
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for this Python",
    ),
)
_IN_CONTAINER = "run the container with --security-opt seccomp=unconfined --cap-add SYS_ADMIN, or use the sandbox docker+gvisor"


def advice(number: int | None) -> str:
    """How to get namespaces where the kernel refused them with this error number."""
    for path, bad, remedy in _SWITCHES:
        if _read(path) == bad:
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


def diagnose() -> Sequence[Diagnosis]:
    """The tier that a program gets, and every part that is missing with its remedy.  Makes a jail and ends it."""
    if sys.platform != "linux":
        return [Diagnosis("jail", "needs Linux; use the sandbox docker+gvisor or remote", ok=False)]
    return list(_findings())


def _findings() -> Iterator[Diagnosis]:
    try:
        slot = Slot(Profile(), isolate=True, inner=True)
    except NoJail as error:
        yield Diagnosis("tier", str(error), ok=False)
        return
    except (RlenvError, OSError) as error:
        yield Diagnosis("tier", f"a zygote could not be made: {error}", ok=False)
        return
    slot.close()
    who = "root, programs run as ids that nobody has" if os.geteuid() == 0 else "without root"
    yield Diagnosis(
        "tier", f"jail ({who}): user, process, mount, network and ipc namespaces, seccomp"
    )
    if slot.landlock:
        yield Diagnosis("landlock", f"version {slot.landlock}")
    else:
        said = (
            "missing: Linux 5.13 or newer with landlock among its security modules (lsm=…,landlock)"
        )
        yield Diagnosis("landlock", said, ok=False)
    lacking = cgroups.missing()
    yield Diagnosis("limits", lacking or "control groups for memory and processes", ok=not lacking)
