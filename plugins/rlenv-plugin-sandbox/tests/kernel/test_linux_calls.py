"""The calls that Python lacks: what they do, and how they fail."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace
from typing import Any

import pytest


def test_an_error_names_its_call(guest: SimpleNamespace) -> None:
    with pytest.raises(OSError, match="setns: Bad file descriptor") as caught:
        guest.linux.setns(-1, 0)
    assert caught.value.errno == errno.EBADF
    assert caught.value.call == "setns"  # type: ignore[attr-defined]


def test_a_call_that_no_table_has_is_unknown(guest: SimpleNamespace) -> None:
    with pytest.raises(OSError, match="teleport") as caught:
        guest.linux.syscall("teleport")
    assert caught.value.errno == errno.ENOSYS


def test_a_mount_that_fails_says_where(guest: SimpleNamespace) -> None:
    with pytest.raises(OSError, match="mount /nowhere/at/all"):
        guest.linux.mount("none", "/nowhere/at/all", "tmpfs")


def test_everything_from_a_descriptor_on_is_closed(locked: Any) -> None:
    then = """
for _ in range(50): os.dup(0)
os.dup2(0, 200)
linux.close_from(3)
tell([fd for fd in range(256) if attempt(lambda: os.fstat(fd)) != "EBADF"])
"""
    assert locked(then).only == [0, 1, 2]


def test_everything_is_closed_where_the_kernel_has_no_call_for_it(locked: Any) -> None:
    then = """
del linux.NUMBERS["close_range"]
os.dup2(0, 200)
linux.close_from(3)
tell([fd for fd in range(256) if attempt(lambda: os.fstat(fd)) != "EBADF"])
"""
    assert locked(then).only == [0, 1, 2]


def test_capabilities_are_gone_for_good(locked: Any) -> None:
    if os.getuid():
        pytest.skip("only root has capabilities to lose")
    then = """
linux.drop_bounding()
linux.drop_capabilities()
def shown():
    with open("/proc/self/status") as file:
        return {line[:6]: int(line[7:], 16) for line in file if line.startswith("Cap")}
pid = os.fork()
if not pid:
    os.execv("/bin/sh", ["sh", "-c", "grep -q 'CapEff:.0000000000000000' /proc/self/status"])
tell(
    [
        shown(),
        os.waitpid(pid, 0)[1],
        attempt(lambda: os.chroot("/")),
        attempt(lambda: linux.unshare(linux.CLONE_NEWNS)),
        linux.prctl(27),
    ]
)
"""
    none = dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0)
    assert locked(then).only == [none, 0, "EPERM", "EPERM", 0xC3]


def test_a_new_root_shows_nothing_of_the_old(locked: Any, tmp_path: Any) -> None:
    if os.getuid():
        pytest.skip("only root mounts without a user namespace")
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "file").write_text("x")
    then = f"""
tree = {str(tmp_path)!r}
try:
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
except OSError as error:
    tell("no mounts here"); os._exit(0)
linux.mount("t", "/media", "tmpfs")
os.mkdir("/media/in")
linux.bind(tree, "/media/in", linux.ATTR_RDONLY | linux.ATTR_NOSUID | linux.ATTR_NODEV)
linux.pivot_root("/media")
tell(
    [
        os.listdir("/"),
        os.listdir("/in/seen"),
        attempt(lambda: open("/in/seen/file", "w")),
        os.getcwd(),
        attempt(lambda: os.listdir("/../proc")),
        os.statvfs("/in").f_flag & 7,
    ]
)
"""
    told = locked(then)
    if told.only == "no mounts here":
        pytest.skip("the machine refuses mounts")
    assert told.only == [["in"], ["file"], "EROFS", "/", "ENOENT", 7]


def test_a_process_dies_with_its_parent(locked: Any) -> None:
    then = """
near, far = os.pipe()
parent = os.fork()
if not parent:
    ready, told = os.pipe()
    if not os.fork():
        linux.die_with_parent(); os.write(told, b"r"); time.sleep(50); os._exit(0)
    os.read(ready, 1)
    os._exit(0)
os.close(far)
tell(os.read(near, 1).decode())  # the end comes only when the last of them is gone
"""
    assert locked(then).only == ""


def test_who_is_not_dumpable_is_not_looked_into(locked: Any) -> None:
    then = "linux.dumpable(0); tell([linux.prctl(3), os.stat('/proc/self/mem').st_uid])"
    assert locked(then).only == [0, 0]
