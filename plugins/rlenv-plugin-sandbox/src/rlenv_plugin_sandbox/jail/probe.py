"""What this machine can give a jail, found by asking the kernel and by making one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from rlenv import RlenvError
from rlenv.sandbox import Diagnosis, Profile

from . import cgroups
from .slot import NoJail, Slot

__all__ = ["diagnose"]


def diagnose() -> Sequence[Diagnosis]:
    """The tier that a program gets, and every part that is missing with its remedy.

    Makes a jail and ends it.
    """
    if sys.platform != "linux":
        return [Diagnosis("jail", "needs Linux; use the sandbox docker+gvisor or remote", ok=False)]
    return list(_findings())


def _findings() -> Iterator[Diagnosis]:
    try:
        slot = Slot(Profile(), isolate=True)
    except NoJail as error:
        yield Diagnosis("tier", str(error), ok=False)
        return
    except (RlenvError, OSError) as error:
        yield Diagnosis("tier", f"a zygote could not be made: {error}", ok=False)
        return
    slot.close()
    who = "root, programs run as unused user ids" if os.geteuid() == 0 else "without root"
    yield Diagnosis(
        "tier", f"jail ({who}): user, process, mount, network and ipc namespaces, seccomp"
    )
    if slot.landlock:
        yield Diagnosis("landlock", f"version {slot.landlock}")
    else:
        said = "missing: Linux 5.13 or newer with landlock among its modules (lsm=…,landlock)"
        yield Diagnosis("landlock", said, ok=False)
    lacking = cgroups.missing()
    yield Diagnosis("limits", lacking or "control groups for memory and processes", ok=not lacking)
