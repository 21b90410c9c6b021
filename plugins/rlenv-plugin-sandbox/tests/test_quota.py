"""Sandboxes of several pools and processes within common bounds: they grow while programs wait, and
end when idle.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Exit, Profile, Session
from rlenv_plugin_sandbox.docker import Docker
from rlenv_plugin_sandbox.jail import Jail
from rlenv_plugin_sandbox.process import Process
from rlenv_plugin_sandbox.quota import gauges, shared
from rlenv_plugin_sandbox.session import Adapter

# for a state that will come: only a machine that is stuck takes so long, however busy it is
SECONDS = 600.0
FOREVER = 36_000.0  # for a program that a test ends itself
IDLE_S = 0.5
CROWD = 24
OTHER = """
import asyncio, sys
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.process import Process

async def forever(box):
    while True:
        session = await box.open(Profile(min_isolation="process", wall_s=36_000.0))
        await session.start("import time; time.sleep(%s)" % sys.argv[2])
        print("runs", flush=True)
        await session.finish()
        await session.close()

async def main():
    box = Process()
    await asyncio.gather(*[forever(box) for _ in range(int(sys.argv[1]))])

asyncio.run(main())
"""


def until(holds: Callable[[], object]) -> None:
    limit = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < limit, {key: count() for key, count in gauges().items()}
        time.sleep(0.01)


def counted(adapter: str) -> tuple[int, ...]:
    """How many are idle and busy, and how many programs wait."""
    return tuple(count() for (name, _), count in gauges().items() if name == adapter)


def zygotes(pid: int) -> list[int]:
    """The processes that are places of a process, idle or not, and were there at the same time."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += filter(is_zygote, map(int, thread.read_text().split()))
        except OSError:  # a thread has ended
            continue
    return [*filter(is_zygote, found)]


def is_zygote(pid: int) -> bool:
    try:
        return b"zygote.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return False


def containers() -> list[str]:
    api = pytest.importorskip("docker").APIClient(base_url=os.environ.get("DOCKER_HOST"))
    try:
        mine = f"/{os.getpid()}/"
        return [c["Id"] for c in api.containers() if mine in c["Labels"].get("rlenv.sandbox", "")]
    finally:
        api.close()


class Box:
    """An adapter, and how its places are seen from outside."""

    def __init__(self, name: str, make: Callable[[], Adapter[Any]], tier: str) -> None:
        self.name = name
        self.make = make
        self.tier = tier

    def places(self) -> int:
        return len(containers() if self.name == "docker" else zygotes(os.getpid()))

    async def run(self, box: Adapter[Any], program: str = "print(6 * 7)", **options: Any) -> Exit:
        session = await box.open(Profile(min_isolation=self.tier, **options))
        try:
            await session.start(program)
            return await session.finish()
        finally:
            await session.close()

    def whole(self, talk: Callable[[Adapter[Any]], Awaitable[Any]]) -> Any:
        """What somebody does with a box that is closed afterwards."""

        async def main() -> Any:
            box = self.make()
            try:
                return await asyncio.wait_for(talk(box), SECONDS)
            finally:
                await box.aclose()

        return asyncio.run(main())


BOXES = (
    Box("process", Process, "process"),
    Box("jail", Jail, "jail"),
    Box("docker", Docker, "container"),
)


@pytest.fixture(params=BOXES, ids=[each.name for each in BOXES])
def kind(request: pytest.FixtureRequest) -> Box:
    made: Box = request.param
    if made.name == "docker":
        pytest.importorskip("docker")
    try:
        made.whole(made.run)
    except ConfigError as problem:
        pytest.skip(str(problem))
    return made


@pytest.fixture
def process() -> Box:
    return BOXES[0]


@contextmanager
def watched(places: Callable[[], int]) -> Iterator[list[int]]:
    """How many places there were at each look; looks go on while the block runs."""
    seen = [places()]
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            seen.append(places())
            time.sleep(0.002)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def test_a_crowd_reaches_the_most_and_leaves_the_least(kind: Box) -> None:
    async def talk(box: Adapter[Any]) -> list[Exit]:
        most = asyncio.create_task(asyncio.to_thread(until, lambda: counted(kind.name)[1] == 3))
        program = "import time; time.sleep(0.05); print(6 * 7)"
        ends: list[Exit] = []
        while not most.done() or len(ends) < CROWD:
            ends += await asyncio.gather(*[kind.run(box, program) for _ in range(CROWD)])
        await most
        await asyncio.to_thread(until, lambda: counted(kind.name) == (1, 0, 0))
        await asyncio.to_thread(until, lambda: kind.places() == 1)
        return ends

    with shared("1:3", IDLE_S), watched(kind.places) as seen:
        ends = kind.whole(talk)
        assert counted(kind.name) == (0, 0, 0)

    assert {end.stdout for end in ends} == {b"42\n"}
    assert max(seen) == 3
    assert kind.places() == 0


def test_places_that_are_killed_while_the_pool_grows_are_made_anew(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> list[Exit]:
        program = "import time; time.sleep(0.1)"
        runs = [asyncio.create_task(process.run(box, program)) for _ in range(CROWD)]
        killed = 0
        while killed < 8:
            if runs[-1].done():  # a busy machine may have run them all between two looks
                runs += [asyncio.create_task(process.run(box, program)) for _ in range(CROWD)]
            for pid in zygotes(os.getpid()):
                os.kill(pid, signal.SIGKILL)
                killed += 1
            await asyncio.sleep(0.05)
        runs += [asyncio.create_task(process.run(box, program))]
        ends = await asyncio.gather(*runs, return_exceptions=True)
        assert (await process.run(box)).stdout == b"42\n"
        await asyncio.to_thread(until, lambda: counted("process") == (1, 0, 0))
        await asyncio.to_thread(until, lambda: process.places() == 1)
        (pid,) = zygotes(os.getpid())
        os.kill(pid, signal.SIGKILL)  # while it is idle: it is no longer counted, and not leased
        await asyncio.to_thread(until, lambda: counted("process") == (0, 0, 0))
        assert (await process.run(box)).stdout == b"42\n"
        return [end for end in ends if isinstance(end, Exit) and end.fault is None]

    with shared("1:4", IDLE_S), watched(process.places) as seen:
        sound = process.whole(talk)

    assert sound  # the others got a fault that may be retried
    assert max(seen) <= 4


def test_a_place_that_cannot_be_made_is_not_lost(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> None:
        wrong = [process.run(box, preload=("no_such_module",)) for _ in range(6)]
        for error in await asyncio.gather(*wrong, return_exceptions=True):
            assert isinstance(error, ConfigError)
        assert (await process.run(box)).stdout == b"42\n"

    with shared("0:2", IDLE_S):
        process.whole(talk)


def test_who_no_longer_waits_holds_nothing(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> None:
        for _ in range(3):
            program = f"import time; time.sleep({FOREVER})"
            tasks = [
                asyncio.create_task(process.run(box, program, wall_s=FOREVER)) for _ in range(8)
            ]
            await asyncio.to_thread(until, lambda: counted("process")[1:] == (2, 6))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(until, lambda: counted("process")[1:] == (0, 0))
        assert (await process.run(box)).stdout == b"42\n"

    with shared("0:2", IDLE_S), watched(process.places) as seen:
        process.whole(talk)

    assert max(seen) <= 2


def test_programs_of_several_profiles_take_turns_in_one_place(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> list[Exit]:
        return await asyncio.gather(*[process.run(box, hash_seed=n % 3) for n in range(12)])

    with shared("1", IDLE_S), watched(process.places) as seen:
        ends = process.whole(talk)

    assert [end.stdout for end in ends] == [b"42\n"] * 12
    assert max(seen) == 1


def test_who_needs_a_second_place_beside_the_first_never_waits_for_another_who_does(
    process: Box,
) -> None:
    async def pair(box: Adapter[Any]) -> bytes:
        first = await box.open(Profile(min_isolation="process"))
        second = await box.open(Profile(min_isolation="process", beside=True))
        said = b""
        for session in (first, second):
            await session.start("print(1)")
            said += (await session.finish()).stdout
            await session.close()
        return said

    async def talk(box: Adapter[Any]) -> list[bytes]:
        pairs = asyncio.gather(*[pair(box) for _ in range(8)])
        return await asyncio.wait_for(pairs, SECONDS)

    with shared("1:2", IDLE_S), watched(process.places) as seen:
        assert process.whole(talk) == [b"1\n1\n"] * 8

    assert max(seen) <= 4  # twice as many, as the port says


@contextmanager
def another(programs: int, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """A process that always has so many programs that run or wait."""
    words = [sys.executable, "-c", OTHER, str(programs), str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
        try:
            yield other
        finally:
            other.kill()


@pytest.mark.slow  # another process starts programs all the time
def test_a_process_that_always_has_programs_does_not_starve_another(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> None:
        for _ in range(3):
            run = process.run(box, hash_seed=1)
            assert (await asyncio.wait_for(run, SECONDS)).stdout == b"42\n"
            await asyncio.to_thread(until, lambda: counted("process")[1] == 2)  # both of the other

    with shared("0:2", IDLE_S), another(8, 0.02) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"runs\n"
        until(lambda: counted("process")[1] == 2)
        with watched(lambda: len(zygotes(other.pid)) + process.places()) as seen:
            process.whole(talk)

    assert max(seen) <= 2


def test_what_a_killed_process_held_is_free_again(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> Exit:
        return await asyncio.wait_for(process.run(box), SECONDS)

    with shared("2"), another(3, FOREVER) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"runs\n"
        until(lambda: counted("process") == (0, 2, 1))
        other.kill()
        other.wait()
        until(lambda: counted("process") == (0, 0, 0))
        assert process.whole(talk).stdout == b"42\n"


def test_an_idle_place_goes_to_the_process_that_waits(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> None:
        assert (await process.run(box)).stdout == b"42\n"
        assert counted("process") == (1, 0, 0)
        with another(1, FOREVER) as other:
            assert other.stdout is not None
            first = asyncio.to_thread(other.stdout.readline)
            assert await asyncio.wait_for(first, SECONDS) == b"runs\n"
            assert counted("process") == (0, 1, 0)
            assert process.places() == 0

    with shared("1"):
        process.whole(talk)


def test_pools_without_a_quota_are_as_large_as_before(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> int:
        profiles = [
            Profile(min_isolation="process", hash_seed=n // 2, beside=n % 2 > 0) for n in range(6)
        ]
        sessions: list[Session] = [await box.open(each) for each in profiles]
        for session in sessions:
            await session.close()
        return len(sessions)

    made = Box("process", lambda: Process(places=3), "process")
    assert made.whole(talk) == 6  # three, and three beside them
    with pytest.raises(KeyError):
        gauges()


def test_places_of_ones_own_do_not_count(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> tuple[int, ...]:
        assert (await process.run(box)).stdout == b"42\n"
        return counted("process")

    with shared("1:2"):
        assert Box("process", lambda: Process(places=1), "process").whole(talk) == (0, 0, 0)


def test_a_quota_that_is_gone_keeps_nobody_waiting(process: Box) -> None:
    async def talk(box: Adapter[Any]) -> list[Exit]:
        with shared("1"):
            first = await box.open(Profile(min_isolation="process"))
            others = [asyncio.create_task(process.run(box)) for _ in range(3)]
            await asyncio.to_thread(until, lambda: counted("process") == (0, 1, 3))
        ends = await asyncio.wait_for(asyncio.gather(*others), SECONDS)
        await first.close()
        return ends

    assert [end.stdout for end in process.whole(talk)] == [b"42\n"] * 3
