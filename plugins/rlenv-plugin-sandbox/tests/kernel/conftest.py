"""The kernel's side of the jail: its modules, and processes that lock themselves in with them."""

from __future__ import annotations

import errno
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import rlenv_plugin_sandbox

GUEST = str(Path(rlenv_plugin_sandbox.__file__).parent / "guest")
PARTS = ("syscalls", "linux", "seccomp", "landlock")
NOBODY = 65534
# A process of its own: it locks itself in, then does what a test says, and tells the test of it.
DRIVER = f"""
import sys
sys.path.insert(0, {GUEST!r})
import ctypes, json, os, errno, signal, socket, threading, time, resource
import landlock, linux, seccomp, syscalls
order = json.loads(sys.argv[1])
def tell(what):
    os.write(1, json.dumps(what).encode() + b"\\n")
def attempt(do):
    try:
        return "done: %r" % (do(),)
    except OSError as error:
        return errno.errorcode[error.errno]
def restrict(read, write, version):
    made = landlock.ruleset(read, write, version)
    try:
        landlock.enforce(made, version)
    finally:
        os.close(made)
exec(order["before"])
if order["user"]:
    os.setgroups([])
    os.setresgid(order["user"], order["user"], order["user"])
    os.setresuid(order["user"], order["user"], order["user"])
linux.no_new_privileges()
if order["landlock"]:
    restrict(order["read"], order["write"], order["landlock"])
if order["runtime"]:
    code = seccomp.program(linux.MACHINE, order["runtime"], **order["options"])
    seccomp.install(seccomp.prepared(code))
exec(order["then"])
"""


@attrs.frozen
class Told:
    """What a locked process told, and how it ended."""

    said: list[Any]
    status: int
    errors: str

    @property
    def only(self) -> Any:
        assert len(self.said) == 1, self
        return self.said[0]


Locked = Callable[..., Told]


@pytest.fixture(scope="session")
def guest() -> SimpleNamespace:
    """The modules that run on the far side, which know each other by their bare names."""
    if sys.platform != "linux":
        pytest.skip("these are calls of Linux")
    sys.path.insert(0, GUEST)
    try:
        return SimpleNamespace(**{name: importlib.import_module(name) for name in PARTS})
    finally:
        sys.path.remove(GUEST)


def filters(guest: SimpleNamespace) -> bool:
    """Whether this kernel filters system calls: it says so of a filter that cannot be read."""
    try:
        guest.linux.syscall("seccomp", 1, 0, None)
    except guest.linux.LinuxError as error:
        return bool(error.errno == errno.EFAULT)
    return True


@pytest.fixture(params=[0, NOBODY], ids=["as it is", "as nobody"])
def user(request: pytest.FixtureRequest) -> int:
    """A user to become first, 0 for none."""
    chosen: int = request.param
    if chosen and os.getuid():
        pytest.skip("only root becomes somebody else")
    return chosen


@pytest.fixture
def locked(guest: SimpleNamespace, tmp_path: Path) -> Locked:
    """A function that runs ``then`` in a process under a filter, Landlock or both."""

    def run(
        then: str,
        *,
        before: str = "",
        user: int = 0,
        runtime: str = "",
        version: int = 0,
        read: tuple[str, ...] = (),
        write: tuple[str, ...] = (),
        options: dict[str, bool] | None = None,
    ) -> Told:
        if runtime and not filters(guest):
            pytest.skip("this kernel filters no system calls")
        order = {
            "before": before,
            "then": then,
            "user": user,
            "runtime": runtime,
            "landlock": version,
            "read": read,
            "write": write,
            "options": options or {},
        }
        words = [sys.executable, "-I", "-S", "-B", "-c", DRIVER, json.dumps(order)]
        done = subprocess.run(
            words, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=60
        )
        said = [json.loads(line) for line in done.stdout.splitlines()]
        return Told(said, done.returncode, done.stderr)

    return run
