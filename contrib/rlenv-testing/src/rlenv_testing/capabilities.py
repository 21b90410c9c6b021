"""What a machine may lack: tests and stages that need it are skipped with the reason, and never
passed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec


def _docker() -> str | None:
    path = shutil.which("docker")
    if path is None:
        return "there is no docker on PATH"
    try:
        ran = subprocess.run([path, "info"], capture_output=True, timeout=10, check=False)  # noqa: S603 - found on PATH
    except (OSError, subprocess.TimeoutExpired) as err:
        return f"docker does not answer: {type(err).__name__}"
    return None if ran.returncode == 0 else "docker is there, its daemon is not"


def _gpu() -> str | None:
    path = shutil.which("nvidia-smi")
    if path is None:
        return "there is no nvidia-smi on PATH"
    try:
        ran = subprocess.run([path, "-L"], capture_output=True, timeout=10, check=False)  # noqa: S603 - found on PATH
    except (OSError, subprocess.TimeoutExpired) as err:
        return f"nvidia-smi does not answer: {type(err).__name__}"
    return None if ran.returncode == 0 and b"GPU" in ran.stdout else "nvidia-smi lists no GPU"


def _network() -> str | None:
    allowed = os.environ.get("RLENV_TEST_NETWORK") == "1"
    return None if allowed else "tests stay offline unless RLENV_TEST_NETWORK=1"


PROBES: dict[str, Callable[[], str | None]] = {
    "docker": cache(_docker),
    "gpu": cache(_gpu),
    "network": _network,
}


def _is_installed(package: str) -> bool:
    """Whether a package, or a module of one, can be imported."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # its parent is missing
        return False


def lacking(needed: Iterable[str]) -> str | None:
    """Why the first of these capabilities is not there; None when all are."""
    for name in needed:
        kind, _, package = name.partition(":")
        if kind == "package" and package:
            if not _is_installed(package):
                return f"needs the package {package}, which is not installed"
            continue
        if name not in PROBES:
            return (
                f"needs {name}, which nobody knows how to find: it is one of {', '.join(PROBES)},"
                " or package:NAME"
            )
        why = PROBES[name]()
        if why is not None:
            return f"needs {name}: {why}"
    return None
