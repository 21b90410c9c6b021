"""The law of sandboxes: a program reads the same numbers whatever the run before it did."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from rlenv.sandbox import Session
from sandbox_numbers import KERNEL, READ, WRITE, numbers

PYTHON = os.path.realpath(sys.executable)
KINDS: dict[str, dict[str, Any]] = {
    "python": {},
    "workspace": {"workspace_mb": 4, "workspace_files": 2000},
    "native": {"runtime": "native"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_run_reads_a_number_that_another_wrote(box: Any, kind: str) -> None:
    native = kind == "native"
    box.needs("numbers", *(["native"] if native else []))
    if native and box.end([PYTHON, "-c", "pass"], runtime="native").status != 0:
        pytest.skip("programs there see another interpreter")

    async def talk(session: Session) -> list[dict[str, Any]]:
        # The content of a workspace is the session's, which is to be the same for each run.
        empty = await session.workspace.snapshot() if kind == "workspace" else ""
        found = []
        for source in (READ, READ, WRITE, READ, WRITE, WRITE, READ):
            await session.start([PYTHON, "-Ic", source] if native else source)
            end = await session.finish()
            assert end.status == 0, (end, end.stdout, end.stderr)
            if source == READ:
                found.append(numbers(end.stdout, KERNEL))
            if empty:
                await session.workspace.restore(empty)
        return found

    first, *rest = box.drive(talk, pids=64, **KINDS[kind])
    for other in rest:
        differing = {n: (first[n], other[n]) for n in first if first[n] != other[n]}
        assert differing == {}


def test_a_container_that_cannot_be_renewed_serves_for_one_run(box: Any) -> None:
    if not box.name.startswith("docker"):
        pytest.skip("there is no container")

    async def talk(session: Any) -> tuple[set[str], set[bytes]]:
        places = set()
        said = set()
        for _ in range(3):
            await session.start(
                "import os; open('f', 'w'); print(os.stat('f').st_ino, os.getpid())"
            )
            end = await session.finish()
            said.add(end.stdout)
            places.add(session._place.id)
            session._place.about["renewed"] = False
        return places, said

    places, said = box.drive(talk)
    assert (len(places), len(said)) == (3, 1)
