"""The same response gets the same verdict wherever and however it is verified."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from rlenv import Environment, Verdict

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "everyday"
Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(EXAMPLE / "env.toml") as environment:
        yield environment


@pytest.fixture(scope="module")
def pairs(env: Environment) -> Pairs:
    given = [
        json.loads(line) for line in (EXAMPLE / "responses.jsonl").read_text("utf-8").splitlines()
    ]
    return [(env.tasks.by_id(row["task"]).prompt, row["response"]) for row in given]


@pytest.fixture(scope="module")
def expected(env: Environment, pairs: Pairs) -> list[Verdict]:
    return [env.evaluate(prompt, response) for prompt, response in pairs]


def test_twice_in_the_main_thread(env: Environment, pairs: Pairs, expected: list[Verdict]) -> None:
    assert [env.evaluate(*pair) for pair in pairs] == expected


def test_in_reverse_order(env: Environment, pairs: Pairs, expected: list[Verdict]) -> None:
    assert [env.evaluate(*pair) for pair in reversed(pairs)] == expected[::-1]


def test_in_other_threads(env: Environment, pairs: Pairs, expected: list[Verdict]) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda pair: env.evaluate(*pair), pairs)) == expected


def test_in_an_event_loop(env: Environment, pairs: Pairs, expected: list[Verdict]) -> None:
    async def every() -> list[Verdict]:
        return await asyncio.gather(*(env.aevaluate(*pair) for pair in pairs))

    assert asyncio.run(every()) == expected


def test_in_a_batch(env: Environment, pairs: Pairs, expected: list[Verdict]) -> None:
    assert list(env.evaluate_many(pairs)) == expected


@pytest.mark.parametrize("workers", [1, 2])
def test_in_workers(env: Environment, pairs: Pairs, expected: list[Verdict], workers: int) -> None:
    assert list(env.evaluate_many(pairs, workers=workers)) == expected


def test_isolated(pairs: Pairs, expected: list[Verdict]) -> None:
    with Environment.from_file(EXAMPLE / "env.toml", isolate=True) as isolated:
        values = [verdict.value for verdict in isolated.evaluate_many(pairs)]

    assert values == [verdict.value for verdict in expected]


def test_from_a_thread_while_an_event_loop_runs(
    env: Environment, pairs: Pairs, expected: list[Verdict]
) -> None:
    async def main() -> list[Verdict]:
        return await asyncio.to_thread(lambda: [env.evaluate(*pair) for pair in pairs])

    assert asyncio.run(main()) == expected


REWARDS = """
import json, sys
from rlenv import Environment
with Environment.from_file(sys.argv[1] + "/env.toml") as env:
    for line in open(sys.argv[1] + "/responses.jsonl", encoding="utf-8"):
        row = json.loads(line)
        print(env.verify(env.tasks.by_id(row["task"]), row["response"]))
"""


@pytest.mark.parametrize(
    "surroundings",
    [
        {"PYTHONHASHSEED": "0", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        {
            "PYTHONHASHSEED": "4242",
            "TZ": "America/New_York",
            "LC_ALL": "C.UTF-8",
            "PYTHONUTF8": "0",
        },
    ],
    ids=["one", "another"],
)
def test_in_another_process_with_other_surroundings(
    surroundings: dict[str, str], expected: list[Verdict], tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", REWARDS, str(EXAMPLE)],
        cwd=tmp_path,
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        check=True,
    )

    assert [float(line) for line in ran.stdout.split()] == [verdict.value for verdict in expected]
    assert list(tmp_path.iterdir()) == []


LEFT_BEHIND = """
import os, sys, time
from pathlib import Path
from rlenv import Environment

def others():
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if os.environ["RLENV_TEST_MARK"].encode() in place.read_bytes():
                found.append(place.parent.name)
        except OSError:
            continue
    return sorted(set(found) - {str(os.getpid())})

with Environment.from_file(sys.argv[1] + "/env.toml", isolate=True) as env:
    pairs = [(task, chr(92) + "boxed{1}") for task in env.tasks]
    assert all(verdict.scored for verdict in env.evaluate_many(pairs, workers=2))
    assert others(), "no worker was seen"
until = time.monotonic() + 5
while others() and time.monotonic() < until:
    time.sleep(0.02)
print(others())
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc to see processes")
def test_a_closed_environment_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND, str(EXAMPLE)],
        cwd=tmp_path,
        env={**os.environ, "RLENV_TEST_MARK": uuid4().hex, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []
