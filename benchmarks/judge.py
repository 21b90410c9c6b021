"""Calls to judges: how much of a server's own throughput the transport reaches, and what the cache
saves.

The server is the tests' own, in a process of its own, each answer taking some milliseconds as a
model's does.  Its throughput is what the plainest possible client gets in the same run: one
ready-made request written to as many open sockets as may be in flight.  Beside it, where aiohttp is
installed, what it gets with one ready-made body, as a peer's client would that neither makes
prompts nor reads verdicts.  All go in turn, several times; the median ratios count. Usage: python
benchmarks/judge.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import asyncio
import json
import math
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table
from rlenv_plugin_judge.protocol.ask import ask
from rlenv_plugin_judge.protocol.envelope import seal
from rlenv_plugin_judge.protocol.verdict import Field
from rlenv_plugin_judge.transport.client import Client
from rlenv_plugin_judge.transport.endpoint import Endpoint

SERVER = ROOT / "plugins/rlenv-plugin-judge/tests/server/judge_http.py"
FIELDS = (Field("score", low=0, high=10),)
ESSAY = "A judge weighs what stands here and nothing else. " * 40
KEY = b"benchmark of the judge's transport"


@contextmanager
def serving(seconds: float) -> Iterator[int]:
    """The port of a server in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "port"
        server = subprocess.Popen([sys.executable, str(SERVER), str(told), str(seconds)])
        try:
            while not (told.exists() and told.read_text()):
                time.sleep(0.05)
            yield int(told.read_text())
        finally:
            server.kill()
            server.wait()


async def plainest(port: int, calls: int, in_flight: int) -> float:
    """Calls a second of sockets and bytes alone."""
    messages = seal("Is it good?", {"response": ESSAY}, FIELDS, KEY, 0).messages
    whole = {"model": "honest", "messages": messages, "max_tokens": 2048, "temperature": 0}
    body = json.dumps(whole).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    links = [await asyncio.open_connection("127.0.0.1", port) for _ in range(in_flight)]
    left = iter(range(calls))

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in left:
            writer.write(head.encode() + body)
            told = await reader.readuntil(b"\r\n\r\n")
            length = int(told.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)

    began = time.perf_counter()
    await asyncio.gather(*(use(*link) for link in links))
    rate = calls / (time.perf_counter() - began)
    for _, writer in links:
        writer.close()
        await writer.wait_closed()
    return rate


async def peer(port: int, calls: int, in_flight: int) -> float:
    """Calls a second of aiohttp, with a ready-made body; nan where it is not installed."""
    try:
        import aiohttp
    except ImportError:
        return math.nan
    messages = seal("Is it good?", {"response": ESSAY}, FIELDS, KEY, 0).messages
    whole = {"model": "honest", "messages": messages, "max_tokens": 2048, "temperature": 0}
    body = json.dumps(whole).encode()
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    gate = asyncio.Semaphore(in_flight)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight)) as session:

        async def one(_: int) -> None:
            async with gate, session.post(url, data=body) as response:
                await response.json()

        await asyncio.gather(*map(one, range(in_flight)))
        began = time.perf_counter()
        await asyncio.gather(*map(one, range(calls)))
        return calls / (time.perf_counter() - began)


async def ours(client: Client, calls: int, first: int) -> float:
    """Verdicts a second: envelope, call, reading; every response another one."""

    async def one(i: int) -> None:
        material = {"response": f"{i}: {ESSAY}"}
        await ask(client, instructions="Is it good?", material=material, fields=FIELDS, key=KEY)

    began = time.perf_counter()
    await asyncio.gather(*(one(first + i) for i in range(calls)))
    return calls / (time.perf_counter() - began)


async def compare(port: int, calls: int, in_flight: int, rounds: int, cache: str) -> list[float]:
    """Medians: calls a second of sockets, of aiohttp, ours, both ratios, ours from the cache; our
    CPU ms a call.
    """
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "honest", key_env=None)
    client = Client([endpoint], concurrency=in_flight, cache=cache)
    rows = []
    await ours(client, in_flight, -in_flight)  # connections are opened once, as the sockets' are
    for i in range(rounds):
        plain = await plainest(port, calls, in_flight)
        other = await peer(port, calls, in_flight)
        cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        rate = await ours(client, calls, i * calls)
        cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu
        sent = client.spent.calls
        again = await ours(client, calls, i * calls)
        assert client.spent.calls == sent, "the second run is free"
        rows.append((plain, other, rate, rate / plain, rate / other, again, 1000 * cpu / calls))
    await client.close()
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--milliseconds", type=float, nargs="+", default=[0, 20, 50, 200])
    options = parser.parse_args()
    table = Table(title=f"{options.calls} calls, {options.in_flight} in flight")
    columns = (
        "an answer takes",
        "sockets",
        "aiohttp",
        "ours",
        "of sockets",
        "of aiohttp",
        "from cache",
        "our CPU",
    )
    for column in columns:
        table.add_column(column, justify="right")
    for taken in options.milliseconds:
        with serving(taken / 1000) as port, tempfile.TemporaryDirectory() as folder:
            cache = str(Path(folder) / "cache")
            calls = (port, options.calls, options.in_flight, options.rounds, cache)
            own, other, *got, again, cpu = asyncio.run(compare(*calls))
        rate, ratio, ratio_peer = got
        speeds = [f"{x:.0f}/s" for x in (own, other, rate)]
        rest = (f"{ratio:.0%}", f"{ratio_peer:.0%}", f"{again:.0f}/s", f"{cpu:.2f} ms")
        table.add_row(f"{taken:g} ms", *speeds, *rest)
    Console().print(table)


if __name__ == "__main__":
    main()
