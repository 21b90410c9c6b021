"""How long a small tenant of ``rlenv serve`` waits beside one that floods it: ``POST /v1/verify``,
one response at a time.

The other tenant always has requests of 64 responses under way.  Verifiers run in workers, and wait
or use the CPU for 5 ms. The tenant asks alone and beside the other in turns of 50 requests, so that
what else the machine does falls on both.  The goal is a p99 within 1.5 times that of the tenant
alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import asyncio
import tempfile
import time
from contextlib import suppress
from statistics import quantiles

from rlenv import Environment, Task

from benchmarks import trivial
from benchmarks.connection import JSON, Connection, encoded, serve, serving
from benchmarks.core import Row, table

GOAL = 1.5
SECONDS = 0.005
FLOOD = 64  # responses in a request of the other tenant
FLOODS = 4  # such requests at a time
BLOCK = 50  # requests in a turn
VERIFIERS = {"waits": trivial.pause, "uses the CPU": trivial.spin}


def serve_slow(verifier: str, keys: str) -> None:
    """Serve on a free port, which is printed."""
    from rlenv_serve import Catalog, Keys, Served, Server, application

    with Environment("slow", VERIFIERS[verifier], [Task("?", id="t")]) as env:
        serve(application(Server(Catalog([Served("slow", env)]), keys=Keys.from_file(keys))))


class Tenant:
    """Sends requests on one connection, one after the other."""

    def __init__(self, port: int, key: str, items: int) -> None:
        self._connection = Connection(port)
        body = {"environment": "slow", "items": [{"task": "t", "response": str(SECONDS)}] * items}
        self._request = encoded("POST", "/v1/verify", body, f"X-API-Key: {key}", JSON)

    async def ask(self) -> float:
        """The seconds that one request takes."""
        began = time.perf_counter()
        body = await self._connection.ask(self._request)
        assert b'"reward":null' not in body, body
        return time.perf_counter() - began

    async def flood(self) -> None:
        """Ask for ever."""
        while True:
            await self.ask()


async def measured(port: int, keys: list[str], count: int) -> tuple[list[float], list[float]]:
    """Seconds of a small tenant's requests, alone and beside the other."""
    small = Tenant(port, keys[0], 1)
    alone = list[float]()
    beside = list[float]()
    for _ in range(BLOCK):  # warm
        await small.ask()
    while len(beside) < count:
        alone += [await small.ask() for _ in range(BLOCK)]
        floods = [asyncio.create_task(Tenant(port, keys[1], FLOOD).flood()) for _ in range(FLOODS)]
        await asyncio.sleep(0.2)
        beside += [await small.ask() for _ in range(BLOCK)]
        for each in floods:
            each.cancel()
            with suppress(asyncio.CancelledError):
                await each
        await asyncio.sleep(0.2)  # requests without a client end
    return alone, beside


def p(seconds: list[float], percent: int) -> float:
    return quantiles(seconds, n=100)[percent - 1] * 1e3


def rows(verifier: str, keys: list[str], file: str, count: int) -> list[Row]:
    with serving(__file__, "--serve", verifier, file) as (port, _):
        alone, beside = asyncio.run(measured(port, keys, count))
    made = []
    for percent in (50, 99):
        first = p(beside, percent)
        second = p(alone, percent)
        goal, met = (f"≤ {GOAL:g}×", first / second <= GOAL) if percent == 99 else ("", None)
        made.append(
            Row(
                f"a verifier that {verifier}, p{percent} of {len(beside)}",
                first,
                f"alone {second:.1f} ms",
                first / second,
                goal,
                met,
                "ms",
            )
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--serve",
        nargs=2,
        metavar=("VERIFIER", "KEYS"),
        help="serve, and print the port; used by this script",
    )
    parser.add_argument("--quick", action="store_true", help="few samples: shows that it runs")
    options = parser.parse_args()
    if options.serve:
        serve_slow(*options.serve)
        return
    from rlenv_serve.http.keys import add_key

    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/keys.toml"
        keys = [add_key(file, name, answers=False, operator=False) for name in ("small", "large")]
        count = 100 if options.quick else 1_000
        print(table([row for verifier in VERIFIERS for row in rows(verifier, keys, file, count)]))


if __name__ == "__main__":
    main()
