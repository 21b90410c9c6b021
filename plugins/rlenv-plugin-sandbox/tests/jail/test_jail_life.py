"""What is left when a zygote, a judge or a program ends in an unusual way."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Profile, Session
from rlenv_plugin_sandbox.jail import Jail, cgroups
from rlenv_plugin_sandbox.process import Process

JUDGE = """
import asyncio, sys
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.jail import Jail

async def main():
    jail = Jail()
    session = await jail.open(Profile())
    await session.start("import os, time\\nif os.fork(): os.setsid\\ntime.sleep(60)")
    print(session._place._process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def descendants(pid: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            found += [child, *descendants(child)]
    return found


def wait_for(done: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.02)
    return done()


def test_a_zygote_that_is_killed_in_a_run_is_a_fault_and_its_place_is_made_anew(
    cell: Any, alive: Callable[[int], bool]
) -> None:
    async def talk(session: Session) -> Any:
        await session.start("import time; time.sleep(60)")
        first = session._place._process.pid  # type: ignore[attr-defined]
        below = descendants(first)
        os.kill(first, signal.SIGKILL)
        end = await session.finish()
        assert wait_for(lambda: not any(map(alive, below)))
        return end

    end = cell.drive(talk)
    assert (end.status, end.reason) == (None, "lost")
    assert end.fault is not None
    assert end.fault.transient
    assert cell.end("print(1)").stdout == b"1\n"


def test_an_idle_zygote_that_died_is_not_leased(cell: Any, alive: Callable[[int], bool]) -> None:
    (pid,) = cell.zygotes()
    both = [pid, *descendants(pid)]
    os.kill(pid, signal.SIGKILL)
    assert wait_for(lambda: not any(map(alive, both)))

    assert cell.end("print(1)").stdout == b"1\n"


def test_nothing_outlives_a_judge_that_is_killed(alive: Callable[[int], bool]) -> None:
    judge = subprocess.Popen(
        [sys.executable, "-c", JUDGE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert judge.stdout is not None
    line = judge.stdout.readline()
    if not line:
        judge.wait()
        judge.stdout.close()
        pytest.skip("no jail here")
    zygote = int(line)
    assert wait_for(lambda: len(descendants(zygote)) >= 3)
    below = [zygote, *descendants(zygote)]
    judge.kill()
    judge.wait()
    judge.stdout.close()

    assert wait_for(lambda: not any(map(alive, below)))


def test_groups_of_dead_owners_are_swept() -> None:
    if not cgroups.homes():
        pytest.skip("no control group can be made here")
    dead = subprocess.Popen(["true"])
    dead.wait()
    folders = [home / f"rlenv-{dead.pid}-0" for home in set(cgroups.homes().values())]
    mine = [home / f"rlenv-{os.getpid()}-999999" for home in set(cgroups.homes().values())]
    for folder in (*folders, *mine):
        folder.mkdir()
    cgroups.sweep()
    kept = [folder.exists() for folder in mine]
    for folder in mine:
        folder.rmdir()

    assert not any(folder.exists() for folder in folders)
    assert all(kept)


def test_an_order_to_kill_that_comes_late_harms_no_later_run(cell: Any) -> None:
    async def talk(session: Session) -> list[Any]:
        ends = []
        for n in range(10):
            await session.start("pass")
            slot = session._place  # type: ignore[attr-defined]
            await asyncio.sleep(0.02 if n % 2 else 0.0)
            slot.kill()
            ends.append(await session.finish())
            slot.kill()
        await session.start("print('whole')")
        return [*ends, await session.finish()]

    ends = cell.drive(talk)
    assert all(end.fault is None for end in ends)
    assert ends[-1].stdout == b"whole\n"


def test_a_run_that_is_ended_at_once_is_ended(cell: Any) -> None:
    async def talk(session: Session) -> list[Any]:
        ends = []
        for _ in range(10):
            await session.start("import time; time.sleep(60)")
            ends.append(await session.finish(0))
        return ends

    before = time.monotonic()
    ends = cell.drive(talk)
    assert {end.reason for end in ends} <= {"killed", "lost"}
    assert time.monotonic() - before < 55  # so none was waited for


def test_a_canceled_finish_leaves_no_program_behind(cell: Any, alive: Any) -> None:
    async def whole() -> list[int]:
        session = await cell.jail.open(Profile())
        await session.start("import time; time.sleep(60)")
        below = descendants(session._place._process.pid)
        waiting = asyncio.create_task(session.finish())
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await session.close()
        return below

    below = asyncio.run(whole())
    assert wait_for(lambda: not any(map(alive, below)))
    assert cell.end("print(1)").stdout == b"1\n"


def test_limits_that_this_process_has_do_not_bind_the_zygote(cell: Any, root: None) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, hard))
    try:
        end = cell.end(
            "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[0])", memory_mb=100
        )
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    assert int(end.stdout) != 8 << 30


def test_few_places_of_other_profiles_stay_warm(cell: Any) -> None:
    for seed in range(8):
        cell.end("pass", hash_seed=seed)

    assert len(cell.zygotes()) <= 5


def count_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def cgroup_folders() -> int:
    found = [home.glob(f"rlenv-{os.getpid()}-*") for home in set(cgroups.homes().values())]
    return sum(len(list(folders)) for folders in found)


def own_mounts() -> list[str]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if line.startswith(("rlenv ", "tmp "))]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.slow  # a leak shows after 400 runs only
def test_many_runs_leave_nothing() -> None:
    jail = Jail()

    async def some(count: int) -> None:
        for n in range(count):
            session = await jail.open(Profile())
            await session.start(
                "import os; open('x', 'w').write('y'); os.fork()" if n % 7 == 0 else "pass"
            )
            assert (await session.finish()).fault is None
            await session.close()

    async def whole() -> tuple[list[int], list[int]]:
        await some(30)
        gc.collect()
        before = [count_descriptors(), cgroup_folders(), resident()]
        await some(400)
        gc.collect()
        after = [count_descriptors(), cgroup_folders(), resident()]
        (slot,) = jail.pool._idle
        assert slot._process is not None
        assert len(descendants(slot._process.pid)) <= 2  # pid 1 and the child that waits
        await jail.aclose()
        return before, after

    groups = cgroup_folders()
    mounts = own_mounts()
    try:
        before, after = asyncio.run(whole())
    except Exception as problem:
        if type(problem).__name__ in ("NoJail", "ConfigError"):
            pytest.skip(f"no jail here: {problem}")
        raise
    # Threads of earlier tests may open some; one of each run would be 400.
    assert after[0] < before[0] + 20
    assert after[1] <= before[1]
    assert after[2] - before[2] < 4 << 20
    assert cgroup_folders() <= groups
    assert own_mounts() == mounts


def test_a_place_that_cannot_be_made_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ConfigError):
        asyncio.run(Process().open(Profile(preload=("no_such_module",), min_isolation="process")))

    assert list(tmp_path.iterdir()) == []


def test_a_sound_place_is_not_lost_where_another_of_its_kind_broke(cell: Any) -> None:
    async def whole() -> tuple[list[int], list[int]]:
        sessions = [await cell.jail.open(Profile()) for _ in range(2)]
        for session in sessions:
            await session.close()
        sound, broken = cell.zygotes()
        os.kill(broken, signal.SIGKILL)  # the one that is taken first
        while any(slot._word() is None for slot in list(cell.jail.pool._idle)[1:]):
            await asyncio.sleep(0.01)
        session = await cell.jail.open(Profile())
        await session.close()
        return [sound], cell.zygotes()

    before, after = asyncio.run(whole())
    assert after == before
