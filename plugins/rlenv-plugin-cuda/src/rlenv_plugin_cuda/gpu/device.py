"""Whether a GPU is here, without waking it."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

__all__ = ["LIBRARY", "REMEDY", "absent", "devices", "folder"]

LIBRARY = "libcuda.so.1"
REMEDY = "run on a machine with an NVIDIA GPU and its driver"
_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")


def devices() -> tuple[str, ...]:
    """The device files by which a driver is reached, () where there is no GPU."""
    root = Path(os.sep, "dev")
    cards = sorted(str(path) for path in root.glob("nvidia[0-9]*"))
    return (*cards, *(str(root / name) for name in _DEVICES if (root / name).exists()))


@cache
def absent() -> str:
    """Why nothing can be launched here, with the remedy; "" where a GPU and its driver are."""
    if not any(path.endswith("nvidiactl") for path in devices()):
        return f"no GPU is here; {REMEDY}"
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return f"a GPU is here and its driver's library ({LIBRARY}) is not; {REMEDY}"
    return ""


@cache
def folder() -> str:
    """The folder of the driver's library, "" where the loader does not say.

    Call it where ``absent()`` is "".
    """
    ctypes.CDLL(LIBRARY)
    for line in Path(os.sep, "proc", "self", "maps").read_text(encoding="utf-8").splitlines():
        path = line.partition("/")
        if path[1] and Path(path[2]).name.startswith("libcuda.so"):
            return os.path.dirname(os.path.join(os.sep, path[2]))
    return ""
