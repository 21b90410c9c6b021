"""What a program could tell another that runs at the same time, through the files that both see."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rlenv.sandbox import Profile

LOCKED = """
import fcntl
names = [sys.executable or "/bin/sh", os.__file__, "/dev/null", "/dev/zero", "/usr", "/"]
flags = [os.O_RDWR if name == "/dev/null" else os.O_RDONLY for name in names]
fds = [os.open(name, flag) for name, flag in zip(names, flags)]
def locks(how):
    found = [attempt(lambda: fcntl.flock(fd, how)) for fd in fds]
    return found + [attempt(lambda: fcntl.lockf(fd, how)) for fd in fds]
"""
HOLD = (
    LOCKED
    + """
locks(fcntl.LOCK_EX | fcntl.LOCK_NB)
os.write(3, b"\\x01\\0\\0\\0x"); os.read(3, 1)
"""
)
LOOK = (
    LOCKED
    + """
free = [
    struct.unpack(
        "hhqqi4x", fcntl.fcntl(fd, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    )[0]
    for fd in fds
]
tell([locks(fcntl.LOCK_EX | fcntl.LOCK_NB), free])
"""
)


def test_no_program_sees_the_locks_of_another(place: Any) -> None:
    async def talk() -> list[bytes]:
        from rlenv_plugin_sandbox.jail import Jail

        jail = Jail(places=2)
        said = []
        first = await jail.open(Profile())
        second = await jail.open(Profile())
        try:
            for holds in (False, True):
                if holds:
                    await first.start(place.tools + HOLD)
                    await first.recv(16, 10.0)
                await second.start(place.tools + LOOK)
                end = await second.finish()
                assert end.status == 0, end.stderr
                said.append(end.stdout)
            await first.finish(0)
        finally:
            await first.close()
            await second.close()
            await jail.aclose()
        return said

    alone, beside = asyncio.run(talk())
    assert alone == beside


def test_an_inode_of_the_system_keeps_no_hint_and_gives_no_notice(place: Any) -> None:
    program = """
import fcntl
fds = [os.open(name, os.O_RDONLY) for name in ("/usr", os.__file__, "/dev/null")]
calls = [(1024, 0), (1025, 0), (1026, 1)] + [
    (number, (5).to_bytes(8, "little")) for number in (1035, 1036, 1037, 1038)
]
tell([attempt(lambda: fcntl.fcntl(fd, *each)) for fd in fds for each in calls])
"""
    assert set(place.said(program)) == {"refused"}


USUAL = """
import dbm.dumb, fcntl, mailbox, mmap, multiprocessing, shelve, sqlite3, tempfile
for mode in ("delete", "wal"):
    base = sqlite3.connect("/tmp/%s.db" % mode, timeout=1)
    other = sqlite3.connect("/tmp/%s.db" % mode, timeout=1)
    base.execute("pragma journal_mode = " + mode)
    base.execute("create table t (x)")
    for n in range(3):
        with base: base.execute("insert into t values (1)")
        with other: other.execute("insert into t values (2)")
    assert base.execute("select sum(x) from t").fetchone() == (9,)
    base.close(); other.close()
    again = sqlite3.connect("/tmp/%s.db" % mode)
    assert again.execute("select count(*) from t").fetchone() == (6,)
with (
    tempfile.NamedTemporaryFile() as a,
    tempfile.TemporaryFile() as b,
    tempfile.TemporaryDirectory() as c,
):
    a.write(b"x")
    b.write(b"x")
    fcntl.flock(a, fcntl.LOCK_EX)
    fcntl.lockf(b, fcntl.LOCK_EX)
    assert os.path.exists(c) and os.stat(a.name).st_size >= 0
with shelve.open("/tmp/shelf") as shelf: shelf["a"] = 1
box = mailbox.mbox("/tmp/box"); box.lock(); box.add("From: a\\n\\nb"); box.unlock()
lock, total = multiprocessing.Lock(), multiprocessing.Value("i", 0, lock=False)
def add():
    for _ in range(200):
        with lock: total.value += 1
workers = [multiprocessing.get_context("fork").Process(target=add) for _ in range(4)]
for each in workers: each.start()
for each in workers: each.join()
assert total.value == 800
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    assert list(pool.map(abs, range(5))) == list(range(5))
tell("worked")
"""


@pytest.mark.parametrize("workspace_mb", [0, 8])
def test_what_libraries_do_with_locks_works(place: Any, workspace_mb: int) -> None:
    assert place.said(USUAL, workspace_mb=workspace_mb) == "worked"
