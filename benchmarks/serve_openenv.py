"""Steps of OpenEnv's official client per second: ``rlenv serve`` with keys and each journal, and
the official server.

    build/trainers/openenv/bin/python benchmarks/serve_openenv.py [--rounds 7] [--steps 600]
    [--clients 1]

All serve the same game, in which a message is answered by its length, each in a process of its own.
Rounds alternate, so that a load of the machine falls on all.  A ratio is that of one round; of the
rounds, the median.  CPU time of the servers does not depend on the client, which takes most of a
step.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Any

EPISODE = 50  # steps
TEXT = "a message of a policy, " * 8


def serve_ours(folder: Path, state: str) -> None:
    """Our server as `rlenv serve --state` runs it, until it is stopped."""
    import uvicorn
    from rlenv import Environment, Task, stage
    from rlenv_plugin_agent import Harness
    from rlenv_serve import Catalog, Keys, Served, Server, application
    from rlenv_serve.state import open_journal

    def user(action: object) -> str:
        return "Begin." if action is None else f"{len(str(action))} characters"

    @stage(where="inline")
    def zero() -> float:
        return 0.0

    harness = Harness("multi-turn", user=user, turn_limit=10_000)
    env = Environment("game", zero, [Task("Play.", id="t")], tables={"harness": harness})
    keys = Keys.from_file(folder / "keys.toml")
    journal = open_journal(state)
    server = Server(Catalog([Served("game", env)]), keys=keys, journal=journal)
    uvicorn.run(
        application(server),
        port=int((folder / "port").read_text()),
        log_level="error",
        access_log=False,
        ws_per_message_deflate=False,
    )


def serve_official(folder: Path) -> None:
    """The official server, until it is stopped."""
    import uvicorn
    from openenv.core.env_server import Action, Environment, Observation, State
    from openenv.core.env_server.http_server import create_fastapi_app

    class Say(Action):  # type: ignore[misc] # OpenEnv has an environment of its own
        message: str

    class Seen(Observation):  # type: ignore[misc] # as above
        text: str = ""

    class Game(Environment):  # type: ignore[misc] # as above
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self._state = State(episode_id="e", step_count=0)

        def reset(self, episode_id: str | None = None, **_: Any) -> Seen:
            self._state = State(episode_id=episode_id, step_count=0)
            return Seen(text="Begin.", done=False, reward=None)

        def step(self, action: Say, **_: Any) -> Seen:
            self._state.step_count += 1
            return Seen(text=f"{len(action.message)} characters", done=False, reward=None)

        @property
        def state(self) -> State:
            return self._state

    app = create_fastapi_app(Game, Say, Seen, max_concurrent_envs=64)
    uvicorn.run(app, port=int((folder / "port").read_text()), log_level="error", access_log=False)


SERVERS = {
    "memory": lambda folder: serve_ours(folder, "memory:"),
    "sqlite": lambda folder: serve_ours(folder, f"sqlite:{folder / 'journal.db'}"),
    "official": serve_official,
}


async def play(url: str, headers: dict[str, str], steps: int) -> None:
    """Whole episodes of the official client."""
    from openenv.core.generic_client import GenericEnvClient

    async with GenericEnvClient(base_url=url, headers=headers) as env:
        for _ in range(steps // EPISODE):
            await env.reset(seed=0)
            for _ in range(EPISODE):
                found = await env.step({"message": TEXT})
                assert found.observation["text"] == f"{len(TEXT)} characters"


def rate(url: str, headers: dict[str, str], steps: int, clients: int) -> float:
    """Steps a second of so many clients at the same time."""

    async def all_of_them() -> None:
        await asyncio.gather(*(play(url, headers, steps // clients) for _ in range(clients)))

    started = time.perf_counter()
    asyncio.run(all_of_them())
    return steps / (time.perf_counter() - started)


def cpu(pid: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(name: str, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A server that answers, and its address."""
    import socket
    from urllib.request import Request, urlopen

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "port").write_text(str(port))
    process = subprocess.Popen([sys.executable, __file__, "--serve", name, "--folder", str(folder)])
    url = f"http://127.0.0.1:{port}" + ("" if name == "official" else "/openenv/game")
    for _ in range(600):
        try:
            with urlopen(Request(f"{url}/health"), timeout=5):
                return process, url
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{name} does not answer")


def compare(rounds: int, steps: int, clients: int) -> None:
    """Print the figures of all servers."""
    from rlenv_serve.http.keys import add_key

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        key = add_key(folder / "keys.toml", "bench", answers=False, operator=False)
        headers = {"Authorization": f"Bearer {key}"}
        servers = {name: started(name, folder) for name in SERVERS}
        try:
            rates: dict[str, list[float]] = {name: [] for name in SERVERS}
            seconds: dict[str, list[float]] = {name: [] for name in SERVERS}
            for n in range(rounds + 1):  # the first is for warming up
                for name in sorted(SERVERS, reverse=n % 2 == 1):
                    process, url = servers[name]
                    before = cpu(process.pid)
                    found = rate(url, headers, steps, clients)
                    if n:
                        rates[name].append(found)
                        seconds[name].append((cpu(process.pid) - before) / steps)
            report(rates, seconds, clients)
        finally:
            for process, _ in servers.values():
                process.terminate()
                process.wait(30)


def report(rates: dict[str, list[float]], seconds: dict[str, list[float]], clients: int) -> None:
    """One line a server, with its ratios to the official one."""

    def shown(found: Sequence[float]) -> str:
        return f"{statistics.median(found):8,.0f} (from {min(found):,.0f} to {max(found):,.0f})"

    print(
        f"load average {os.getloadavg()[0]:.1f}, {clients} client(s), medians of"
        f" {len(rates['official'])} rounds"
    )
    for name in SERVERS:
        micro = statistics.median(seconds[name]) * 1e6
        pairs = [
            own / official for own, official in zip(rates[name], rates["official"], strict=True)
        ]
        used = [
            official / own for own, official in zip(seconds[name], seconds["official"], strict=True)
        ]
        print(
            f"{name:9} {shown(rates[name])} steps/s, {micro:,.0f} µs of CPU a step;"
            f" {statistics.median(pairs):.2f} × steps/s, {statistics.median(used):.2f} × steps per"
            " CPU second"
        )


def main() -> None:
    """Compare, or serve for a comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--serve", choices=SERVERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.steps < given.clients * EPISODE:
        parser.error(
            f"--steps {given.steps} is less than an episode of {EPISODE} steps for each of"
            f" {given.clients} clients: give --steps {given.clients * EPISODE} or more"
        )
    if given.serve:
        SERVERS[given.serve](given.folder)
    else:
        compare(given.rounds, given.steps, given.clients)


if __name__ == "__main__":
    main()
