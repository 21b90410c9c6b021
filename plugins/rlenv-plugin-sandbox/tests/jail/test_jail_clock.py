"""What a busy machine does to a program in the jail: a tenth of a processor, by the quota of its
control group.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Exit, Profile
from rlenv_plugin_sandbox.jail import Jail

LIMIT = 0.3
WORK = "sum(range(1_000_000)) and print('done')"


def ends(program: str) -> tuple[Exit, float]:
    """How a program ends that gets 10 of 100 milliseconds, and the seconds on its clock."""

    async def whole() -> tuple[Exit, float]:
        jail = Jail(places=1)
        session: Any = await jail.open(Profile())
        try:
            group = session._place.group
            quota = Path(group.folders.get("cpu", "/"), "cpu.cfs_quota_us") if group else None
            if quota is None or not quota.exists():
                pytest.skip("no control group of this machine limits CPU by a quota")
            quota.write_text("10000")
            await session.start(program, cpu_s=LIMIT, wall_s=LIMIT)
            end = await session.finish()
            return end, session.clock()
        finally:
            await session.close()
            await jail.aclose()

    try:
        return asyncio.run(whole())
    except ConfigError as problem:
        pytest.skip(str(problem))


def test_a_good_program_is_not_stopped_by_others() -> None:
    end, clock = ends(WORK)

    assert (end.reason, end.stdout) == ("exit", b"done\n")
    assert clock < LIMIT


def test_an_endless_program_is_stopped_when_it_had_its_time() -> None:
    end, clock = ends("while True: pass")

    assert end.fault is None
    assert end.reason in ("cpu", "wall")
    assert end.cpu > 0.5 * LIMIT
    assert end.wall - clock > 2 * LIMIT


@pytest.mark.parametrize("pause", ["1e-9", "10"])
def test_who_gives_up_the_processor_is_stopped_sooner(pause: str) -> None:
    more = []
    for _ in range(4):  # other load only adds to the time, so that one run within it is enough
        end, clock = ends(f"import time\nwhile True: time.sleep({pause})")
        assert end.fault is None
        assert end.reason in ("cpu", "wall")
        more.append(end.wall - clock - 28 * end.cpu)
        if more[-1] <= 0.1:
            break

    assert min(more) <= 0.1
