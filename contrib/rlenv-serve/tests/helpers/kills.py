"""Servers, or their store, killed again and again under load; nothing that was acknowledged may be
lost or doubled.

As a script: ``python kills.py sqlite|redis sqlite|postgresql server|journal|trajectories KILLS``,
with the stores of the
journal and of trajectories, prints what was done and how long it took to be ready again.
"""

from __future__ import annotations

import asyncio
import http.client
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, Self

from attrs import define, field
from commands import COMMAND, env_file
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import Answered, Client, reserved_port, until

FILES = {
    "env.toml": (
        """
name = "counting"
[tasks]
path = "tasks.jsonl"
prompt = "prompt"
answer = "answer"
id = "id"
[harness]
kind = "tool-use"
tools = ["./tools.py:count"]
[[stage]]
use = "core/equal"
"""
    ),
    "tasks.jsonl": '{"id": "a", "prompt": "Count.", "answer": "right"}\n',
    "tools.py": (
        '''
from rlenv_plugin_agent import ToolContext, tool

@tool(where="inline", deterministic=True)
def count(context: ToolContext) -> int:
    """How many messages the policy wrote before."""
    return context.turn
'''
    ),
}
LATE = 120.0  # seconds in which a request must be answered, kills included


class Killed(Protocol):
    """What is killed: a server, or the store of one."""

    def kill(self) -> None:
        """End it, and start it anew."""


def environment(folder: Path) -> Path:
    """An env.toml in a folder."""
    return env_file(folder, FILES)


class Process:
    """``rlenv serve`` on a port of its own, which stays the same; it runs for a block.

    Args:
        env: the env.toml.
        state: the URL.
        trajectories: the URL.
        *more: arguments of the command.
    """

    def __init__(self, env: Path, state: str, trajectories: str = "memory:", *more: str) -> None:
        self.port = reserved_port()
        self.ready = list[float]()
        self.command = [*COMMAND, "serve", str(env), "--port", str(self.port), "--state", state]
        self.command += ["--trajectories", trajectories, *more]

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        started = time.perf_counter()
        self.process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL)
        while not is_ready(self.port):
            assert self.process.poll() is None, "the server did not start"
            assert time.perf_counter() - started < LATE
            time.sleep(0.01)
        self.ready.append(time.perf_counter() - started)

    def kill(self) -> None:
        """``kill -9``, and start it anew."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()

    def end(self) -> None:
        """As an operator ends it."""
        self.process.terminate()
        assert self.process.wait(LATE) == 0


@contextmanager
def two_servers(env: Path, state: str, trajectories: str) -> Iterator[list[Process]]:
    """Servers on the same stores, which end in order unless the block raises."""
    servers = [Process(env, state, trajectories) for _ in range(2)]
    with servers[0], servers[1]:
        yield servers
        for each in servers:
            each.end()


def is_ready(port: int) -> bool:
    try:
        return Client(port)("GET", "/readyz").status == 200
    except (OSError, http.client.HTTPException):
        return False


@define
class Load:
    """Clients that play episodes, one request after the other, and send each again until it is
    answered.

    Args:
        ports: of the servers; each request goes to any of them.
    """

    ports: Sequence[int]
    played: dict[str, list[tuple[str, object, Answered]]] = field(factory=dict)
    failed: list[str] = field(factory=list)
    retried: int = 0
    stopped: threading.Event = field(factory=threading.Event)

    @property
    def steps(self) -> int:
        """How many were acknowledged."""
        return sum(map(len, [*self.played.values()]))

    def is_past(self, steps: int) -> bool:
        """Whether more were acknowledged, or none will be."""
        return self.steps > steps or bool(self.failed)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        """Ask until it is answered."""
        until = time.monotonic() + LATE
        while True:
            try:
                got = Client(random.choice(self.ports))(method, path, body, **headers)
            except (OSError, http.client.HTTPException):
                got = None
            if got is not None and got.status != 503:
                return got
            assert time.monotonic() < until, f"{method} {path}: not answered for {LATE} s: {got}"
            self.retried += 1
            time.sleep(0.02)

    def play(self, seed: int) -> None:
        """Episodes, until it is to stop."""
        try:
            draw = random.Random(seed)
            for number in itertools.count():
                self.episode(f"{seed}.{number}", draw)
                if self.stopped.is_set():
                    return
        except BaseException as error:
            self.failed.append(f"{type(error).__name__}: {error}")

    def episode(self, name: str, draw: random.Random) -> None:
        """One episode: calls that each must give their number, and an answer."""
        begun = self.ask("POST", "/episodes", {"task_id": "a"}, Idempotency_Key=name)
        assert begun.status == 201, begun
        path = f"/episodes/{begun.body['episode_id']}"
        steps = draw.randint(2, 12)
        said = draw.choice(["right", "wrong"])
        bodies = [{"action": "count"}] * steps + [{"action": "submit", "answer": said}]
        for number, body in enumerate(bodies, 1):
            key = f"{name}.{number}"
            got = self.ask("POST", f"{path}/steps", body, Idempotency_Key=key)
            assert got.status == 200, (number, got)
            assert got.body["step"] == number, (number, got)
            assert got.body["text"] == (str(number - 1) if number <= steps else ""), (number, got)
            self.played.setdefault(path, []).append((key, body, got))
        assert got.body["reward"] == float(said == "right"), got

    def check(self) -> int:
        """Every acknowledged step and reward is there once, and is answered as it was; how many
        steps.
        """
        for path, steps in self.played.items():
            state = self.ask("GET", path).body
            assert (state["status"], state["steps"]) == ("done", len(steps)), state
            assert self.ask("GET", f"{path}/reward").body["reward"] == steps[-1][2].body["reward"]
            for key, body, got in steps[:: max(1, len(steps) - 1)]:
                again = self.ask("POST", f"{path}/steps", body, Idempotency_Key=key)
                assert (again.status, again.body) == (got.status, got.body), (again, got)
        return self.steps


@contextmanager
def under_load(ports: Sequence[int], clients: int) -> Iterator[Load]:
    """Clients that play until the block ends; then all they did is checked."""
    load = Load(ports)
    threads = [threading.Thread(target=load.play, args=(each,)) for each in range(clients)]
    for each in threads:
        each.start()
    try:
        yield load
    finally:
        load.stopped.set()
        for each in threads:
            each.join(2 * LATE)
    assert not load.failed, load.failed


def kill_under_load(
    ports: Sequence[int], killed: Callable[[], object], kills: int, pause: float = 0.5
) -> tuple[Load, int]:
    """The load, and how many steps were acknowledged, each exactly once."""
    draw = random.Random(kills)
    with under_load(ports, clients=6) as load:
        for _ in range(kills):
            until(partial(load.is_past, load.steps + 12))
            time.sleep(draw.uniform(0, pause))
            killed()
            assert not load.failed, load.failed
        time.sleep(pause)
    return load, load.check()


def check_trajectories(load: Load, url: str) -> int:
    """Every episode that was played has one trajectory, with its reward; how many."""
    rewards = {
        path.rpartition("/")[2]: steps[-1][2].body["reward"] for path, steps in load.played.items()
    }
    store = TrajectoryStore(url)
    until = time.monotonic() + LATE
    while len(rows := [*store.scan()]) < len(rewards) and time.monotonic() < until:
        time.sleep(0.2)  # a server brings them from the journal
    asyncio.run(store.close())
    assert sorted(row.id for row in rows) == sorted(rewards)
    assert all(row.reward == rewards[row.id] for row in rows)
    return len(rows)


def main(journal: str, trajectories: str, what: str, kills: int) -> None:
    from stores import state_of, trajectories_of

    with (
        tempfile.TemporaryDirectory() as folder,
        state_of(journal, Path(folder)) as (state, restart_journal),
        trajectories_of(trajectories, Path(folder)) as (url, restart_trajectories),
        two_servers(environment(Path(folder)), state, url) as servers,
    ):
        turns = itertools.cycle(servers)
        restarts = {
            "server": lambda: next(turns).kill(),
            "journal": restart_journal,
            "trajectories": restart_trajectories,
        }
        started = time.perf_counter()
        load, steps = kill_under_load([each.port for each in servers], restarts[what], kills)
        rows = check_trajectories(load, url)
        ready = [each for server in servers for each in server.ready[1:]]
        slowest = f", ready again in {max(ready):.2f} s at most" if ready else ""
        print(
            f"{journal} and {trajectories}, {kills} kills of the {what} in"
            f" {time.perf_counter() - started:.0f} s: {len(load.played):,} episodes and {steps:,}"
            f" steps acknowledged, each there once, and {rows:,} trajectories; {load.retried:,}"
            f" requests sent again{slowest}"
        )


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
