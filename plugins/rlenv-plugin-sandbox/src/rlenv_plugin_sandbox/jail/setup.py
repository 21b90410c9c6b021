"""What a zygote is told: the profile, and where on this machine its interpreter and modules are."""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rlenv.errors import ConfigError
from rlenv.sandbox import Profile

from . import cgroups

__all__ = ["GUEST", "OVERHEAD_MB", "interpreter", "plan"]

GUEST = Path(__file__).parents[1] / "guest" / "zygote.py"
OVERHEAD_MB = 64  # what the zygote and the kernel's own bookkeeping take of a group's memory
UID = 1000  # of programs, inside
_OPEN_FILES = 256
_MB = 1 << 20


@cache
def interpreter(runtime: str) -> str:
    """The executable of a Python runtime; of "native", the one that starts the programs.

    Raises:
        ConfigError: there is none of this name.
    """
    if runtime in ("python", "native"):
        return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    found = shutil.which(runtime)
    if found is None:
        raise ConfigError(
            f"runtime {runtime!r}: no such interpreter on PATH; install it or name its path"
        )
    return str(Path(found).resolve())


@cache
def prefixes(executable: str) -> tuple[str, ...]:
    """The folders that an interpreter needs."""
    own = Path(executable)
    found = {str(own.parent.parent), sys.base_prefix, sys.base_exec_prefix}
    return tuple(sorted(p for p in found if p not in ("/", "/usr")))


@cache
def packages(preload: tuple[str, ...], files: frozenset[str]) -> tuple[str, ...]:
    """The folders of ``sys.path`` that hold the preloaded modules from outside the standard library.

    Raises:
        ConfigError: a module that is not installed.
    """
    found = set()
    for name in preload:
        top = name.partition(".")[0]
        if (
            top in sys.stdlib_module_names
            or f"{top}.py" in files
            or any(f.startswith(f"{top}/") for f in files)
        ):
            continue
        spec = find_spec(top)
        if spec is None or spec.origin is None:
            raise ConfigError(
                f"preload: there is no module {name!r} to load; install it beside rlenv"
            )
        place = Path(spec.origin).parent
        found.add(str(place.parent if spec.submodule_search_locations else place))
    return tuple(sorted(found))


def plan(profile: Profile, *, isolate: bool, inner: bool, home: str, box: str) -> dict[str, Any]:
    """The zygote's configuration, as JSON values."""
    names = frozenset(name for name, _ in profile.files)
    extra = packages(profile.preload, names)
    memory = profile.memory_mb * _MB
    return {
        "isolate": isolate,
        "inner": inner,
        "root": os.geteuid() == 0,
        "runtime": "native" if profile.runtime == "native" else "python",
        "preload": list(profile.preload),
        "packages": list(extra),
        "paths": [*prefixes(interpreter(profile.runtime)), *extra, *profile.paths],
        "devices": list(profile.devices),
        "files": {name: content.hex() for name, content in profile.files} if isolate else {},
        "uid": UID if os.geteuid() == 0 else 0,
        "tmp_mb": max(16, min(256, profile.memory_mb // 2)),
        "home": home,
        "box": [box],
        "environment": {"PYTHONHASHSEED": str(profile.hash_seed)},
        "limits": _limits(profile, memory),
    }


def _limits(profile: Profile, memory: int) -> dict[str, int]:
    limits = {
        "CORE": 0,
        "NOFILE": _OPEN_FILES,
        "FSIZE": memory,
        "NPROC": profile.pids,
        "MEMLOCK": 1 << 16,
        "MSGQUEUE": 0,
        "DATA": memory + (OVERHEAD_MB << 20),
    }
    if "memory" not in cgroups.homes() and profile.runtime != "native":
        limits["AS"] = memory + (1 << 30)
    return limits
