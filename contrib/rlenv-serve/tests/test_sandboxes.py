"""``rlenv serve --sandboxes``: one pool for all processes of the server, and what /metrics shows of
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import env_file, serve
from serving import Client, until

pytest.importorskip("rlenv_plugin_sandbox")

# Each response is a program that runs in a sandbox of the worker that judges it.
FILES = {
    "env.toml": """
name = "programs"
[tasks]
path = "tasks.jsonl"
prompt = "prompt"
id = "id"
[[stage]]
use = "./reward.py:ran"
""",
    "tasks.jsonl": '{"id": "a", "prompt": "Print 42."}\n',
    "reward.py": """
from rlenv.sandbox import Profile, get


async def ran(response):
    session = await get("process").open(Profile(min_isolation="process", wall_s=60))
    try:
        await session.start(response)
        end = await session.finish()
        return float(end.stdout == b"42\\n")
    finally:
        await session.close()
""",
}
PROGRAM = "import time; time.sleep(0.05); print(6 * 7)"


@pytest.fixture
def env(tmp_path: Path) -> Path:
    return env_file(tmp_path, FILES)


def sandboxes(ask: Client) -> dict[str, int]:
    """How many of the sandboxes are idle and busy, and how many programs wait."""
    text = ask("GET", "/metrics").body.decode()
    states = re.findall(r'rlenv_sandboxes\{adapter="process",state="(\w+)"\} (\d+)', text)
    (waiting,) = re.findall(r'rlenv_sandboxes_waiting\{adapter="process"\} (\d+)', text)
    return {"waiting": int(waiting)} | {state: int(count) for state, count in states}


def below(pid: int) -> dict[int, bytes]:
    """The processes below this one, with the environments that they began with."""
    found: dict[int, bytes] = {}
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in map(int, thread.read_text().split()):
                found |= {child: Path(f"/proc/{child}/environ").read_bytes()} | below(child)
        except OSError:  # it has ended
            continue
    return found


def quota(environments: Iterable[bytes]) -> str:
    """The number of the set of semaphores that all of them share."""
    (found,) = {
        each for text in environments for each in re.findall(rb"RLENV_SANDBOX_QUOTA=(\d+)", text)
    }
    return str(found.decode())


def sets() -> list[str]:
    """The numbers of the kernel's sets of semaphores."""
    return [line.split()[1] for line in Path("/proc/sysvipc/sem").read_text().splitlines()]


def zygotes(pid: int) -> int:
    """How many processes below this one are sandboxes, at the same time, without the children of
    these, which begin as copies.
    """
    parents = {
        each: parent for each in below(pid) if is_zygote(each) and (parent := parent_of(each))
    }
    return sum(is_zygote(each) for each, parent in parents.items() if parent not in parents)


def parent_of(pid: int) -> int:
    """The parent of a process, 0 of one that has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def is_zygote(pid: int) -> bool:
    try:
        return b"guest/zygote.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return False


def judge(ask: Client, number: int) -> float:
    item = {"id": str(number), "task": "a", "response": PROGRAM}
    found = ask("POST", "/v1/verify", {"environment": "programs", "items": [item]})
    reward: float = found.body["results"][0]["reward"]
    return reward


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])  # 2 has more
def test_sandboxes_of_all_processes_keep_within_the_bounds(
    env: Path, tmp_path: Path, workers: int
) -> None:
    state = f"sqlite:{tmp_path}/state.db"
    with serve(
        str(env), "--sandboxes", "1:3", "--workers", str(workers), "--state", state
    ) as serving:
        ask = serving.ask
        pid = serving.process.pid
        seen = [0]
        assert sandboxes(ask) == {"idle": 0, "busy": 0, "waiting": 0}
        with ThreadPoolExecutor(16) as crowd:
            rewards = list[Future[float]]()

            def all_are_busy() -> bool:
                while sum(not each.done() for each in rewards) < 16:
                    rewards.append(crowd.submit(judge, ask, len(rewards)))
                seen.append(zygotes(pid))
                return sandboxes(ask)["busy"] == 3

            until(all_are_busy)
            assert {each.result() for each in rewards} == {1.0}
        until(lambda: sandboxes(ask)["busy"] == 0)
        assert 1 <= sandboxes(ask)["idle"] <= 3
        assert max(seen) <= 3
        ours = below(pid)
        number = quota(ours.values())
        assert number in sets()
        serving.end()
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in ours))
        assert number not in sets()
