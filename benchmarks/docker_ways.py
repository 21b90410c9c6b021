"""`docker run` and `docker exec` of one Python program, by the command line as people use it."""

from __future__ import annotations

import atexit
import subprocess
import time
from collections.abc import Callable

from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.docker.image import binds, layer

PYTHON = ("python3", "-I", "-S", "-c")
LIMITS = ("--network=none", "--read-only", "--cap-drop=ALL", "--pids-limit=64", "--memory=512m")
IMAGE = "rlenv-benchmark"
TIMEOUT_S = 20

Once = Callable[[], tuple[float, float]]


def _docker(*words: str, stdin: bytes | None = None) -> str:
    try:
        ran = subprocess.run(
            ["docker", *words], input=stdin, capture_output=True, check=False, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"docker {words[0]}: nothing within {TIMEOUT_S} s") from None
    if ran.returncode:
        raise RuntimeError(f"docker {words[0]}: {ran.stderr.decode()[-200:].strip()}")
    return ran.stdout.decode().strip()


def _image() -> list[str]:
    """The words that name an image with this machine's system bound into it."""
    if not _docker("images", "-q", IMAGE):
        _docker("import", "-", IMAGE, stdin=layer(Profile(), whole=True).data)
    bound = [
        word
        for source in binds(Profile(), (), whole=True)
        for word in ("-v", f"{source}:{source}:ro")
    ]
    return [*bound, IMAGE]


def _timed(work: Callable[[], object]) -> Once:
    def once() -> tuple[float, float]:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start, 0.0

    return once


def started(runtime: str, program: str) -> Once:
    """A container for each program."""
    words = ["run", "--rm", f"--runtime={runtime}", *LIMITS, *_image(), *PYTHON, program]
    return _timed(lambda: _docker(*words))


def executed(runtime: str, program: str) -> Once:
    """A process in a container that is kept."""
    words = ["run", "-d", "--rm", f"--runtime={runtime}", *LIMITS, *_image(), "sleep", "100000"]
    name = _docker(*words)
    atexit.register(subprocess.run, ["docker", "rm", "-f", name], capture_output=True, check=False)
    return _timed(lambda: _docker("exec", name, *PYTHON, program))
