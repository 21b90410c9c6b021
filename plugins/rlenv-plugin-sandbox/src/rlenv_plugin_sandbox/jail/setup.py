"""What a zygote is told: the profile, and where on this machine its interpreter and modules are."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rlenv import ConfigError
from rlenv.sandbox import Profile

from . import cgroups

__all__ = ["GUEST", "OVERHEAD_MB", "interpreter", "plan", "privileged", "taken", "unused_ids"]

GUEST = Path(__file__).parents[1] / "guest" / "zygote.py"
OVERHEAD_MB = 64  # what the zygote and the kernel's own bookkeeping take of a group's memory
UID = 1000  # of programs, inside
HOME = "/tmp"  # noqa: S108 - of programs
_OWN = ("/dev/", "/proc/", "/sys/")
_IDS = 0x70000000  # ids that no account has, where there are so many
_FEWEST_IDS = 1000
_OPEN_FILES = 256
_MB = 1 << 20


def privileged() -> bool:
    """Whether programs can be given ids of their own."""
    return os.geteuid() == 0 and _most_ids()[1] >= _FEWEST_IDS


def _most_ids() -> tuple[int, int]:
    """(first, how many) of the widest range of ids that exist here; a container may have few."""
    try:
        lines = Path("/proc/self/uid_map").read_text("utf-8").splitlines()
        ranges = [(int(first), int(many)) for first, _, many in map(str.split, lines)]
    except (OSError, ValueError):
        return 0, 0
    return max(ranges, key=lambda r: r[1], default=(0, 0))


def unused_ids(key: int) -> int:
    """The first of two ids that no account has, the same for equal keys."""
    first, many = _most_ids()
    if first <= _IDS and first + many > _IDS + (1 << 27):
        return _IDS + key % (1 << 26) * 2
    return first + many - 2 - key % (many // 8) * 2


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
    """The folders and files that an interpreter needs."""
    own = Path(executable)
    found: set[str] = set()
    for prefix in {str(own.parent.parent), sys.base_prefix, sys.base_exec_prefix} - {"/", "/usr"}:
        wide = _holds_home(prefix) or prefix == HOME
        found.update(_of_home(prefix, own) if wide else [prefix])
    return tuple(sorted(found))


def _holds_home(prefix: str) -> bool:
    home = os.path.realpath(os.path.expanduser("~"))
    return home == prefix or home.startswith(prefix.rstrip("/") + "/")


def _of_home(prefix: str, executable: Path) -> list[str]:
    """What of a prefix that is somebody's home belongs to the interpreter."""
    libraries = [str(path) for path in Path(prefix, "lib").glob("*python3*")]
    return [str(executable), *libraries]


def _origins(preload: tuple[str, ...], files: frozenset[str]) -> Iterator[tuple[Path, Path]]:
    """(folder of ``sys.path``, the module's own folder or file) of those outside the standard
    library.
    """
    for name in preload:
        top = name.partition(".")[0]
        given = f"{top}.py" in files or any(f.startswith(f"{top}/") for f in files)
        if given or top in sys.stdlib_module_names:
            continue
        spec = find_spec(top)
        if spec is None or spec.origin is None:
            raise ConfigError(
                f"preload: there is no module {name!r}; install it in the environment of rlenv"
            )
        own = Path(spec.origin)
        own = own.parent if spec.submodule_search_locations else own
        yield own.parent, own


@cache
def packages(preload: tuple[str, ...], files: frozenset[str]) -> tuple[str, ...]:
    """The folders of ``sys.path`` that hold the preloaded modules from outside the standard
    library.

    Raises:
        ConfigError: a module that is not installed.
    """
    return tuple(sorted({str(folder) for folder, _ in _origins(preload, files)}))


@cache
def shown(preload: tuple[str, ...], files: frozenset[str]) -> tuple[str, ...]:
    """What programs see of those: of installed ones all that lies beside them, for they need each
    other.
    """
    found = set()
    for folder, own in _origins(preload, files):
        found.add(str(folder if folder.name in ("site-packages", "dist-packages") else own))
    return tuple(sorted(found))


def _visible(path: str) -> str:
    """A path that programs can see at its own place.

    Raises:
        ConfigError: there is none, programs may not read it, or they have that place for
            themselves.
    """
    if path == HOME or path.startswith(_OWN):
        raise ConfigError(
            f"{path} cannot be shown to programs, which have their own /tmp, /dev and /sys: name a"
            " folder below /tmp, or move it elsewhere"
        )
    if not os.path.exists(path):
        raise ConfigError(f"{path} cannot be shown to programs: it does not exist")
    mode = os.stat(path).st_mode
    if privileged() and mode & (wanted := 0o005 if stat.S_ISDIR(mode) else 0o004) != wanted:
        raise ConfigError(
            f"{path} cannot be read by programs, which run as a user without an account; make it"
            f" readable for others: chmod -R a+rX {shlex.quote(path)}"
        )
    return path


def taken(paths: Iterable[str]) -> frozenset[str]:
    """The first names below /tmp of what programs see there."""
    inside = (path.split("/") for path in paths if path.startswith(HOME + "/"))
    return frozenset(parts[2] for parts in inside)


def plan(profile: Profile, *, isolate: bool, inner: bool, home: str, box: str) -> dict[str, Any]:
    """The zygote's configuration, as JSON values."""
    names = frozenset(name for name, _ in profile.files)
    extra = packages(profile.preload, names)
    memory = profile.memory_mb * _MB
    see: Callable[[str], str] = _visible if isolate else str
    for _, own in _origins(profile.preload, names):
        see(str(own))
    return {
        "isolate": isolate,
        "inner": inner,
        "root": privileged(),
        "runtime": "native" if profile.runtime == "native" else "python",
        "preload": list(profile.preload),
        "packages": list(extra),
        "interpreter": [see(path) for path in prefixes(interpreter(profile.runtime))],
        "paths": [see(path) for path in (*shown(profile.preload, names), *profile.paths)],
        "devices": list(profile.devices),
        "files": {name: content.hex() for name, content in profile.files} if isolate else {},
        "uid": UID if privileged() else 0,
        "memfd": "memory" in cgroups.homes(),  # uncounted, they would be memory without end
        "tmp_mb": max(16, min(256, profile.memory_mb // 2)),
        "home": home,
        "box": [box],
        "workspace": [profile.workspace_mb << 20, profile.workspace_files],
        "environment": {"PYTHONHASHSEED": str(profile.hash_seed)},
        "limits": _limits(profile, memory),
    }


def _limits(profile: Profile, memory: int) -> dict[str, int]:
    limits = {
        "CORE": 1,  # bytes: 0 would not keep a core from a program that takes them from a pipe
        "NOFILE": _OPEN_FILES,
        "FSIZE": memory,
        "NPROC": profile.pids + 1,  # and the child that waits
        "MEMLOCK": 1 << 16,
        "MSGQUEUE": 0,
    }
    counted = "memory" in cgroups.homes()
    if profile.runtime != "native":  # an honest program gets a MemoryError, not a signal
        limits["DATA"] = memory + (OVERHEAD_MB << 20)
    elif not counted:  # runtimes that reserve much and use little need room
        limits["DATA"] = 2 * memory + (512 << 20)
    if not counted and profile.runtime != "native":
        limits["AS"] = memory + (1 << 30)
    return limits
