"""Runs rubrics of verifiers 0.1 as its environments do: MathRubric, and Rubric with a function."""

import asyncio
from typing import Any

import verifiers as vf
from rollout_rewards import TIMEOUT, constraints, program, serve
from verifiers.types import State
from verifiers.utils.thread_utils import scale_executors

CORES = 2


async def follows(completion: Any, info: dict[str, Any]) -> float:
    return constraints(info, completion[-1]["content"])


async def passes(completion: Any, info: dict[str, Any]) -> float:
    argv = program(info["prompt"], info, completion[-1]["content"])
    async with running:
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*argv, stdout=quiet, stderr=quiet)
        try:
            return float(await asyncio.wait_for(process.wait(), TIMEOUT) == 0)
        except TimeoutError:
            process.kill()
            return 0.0


def state(row: dict[str, Any]) -> State:
    prompt = [{"role": "user", "content": row["prompt"]}]
    info = {**row["info"], "prompt": row["prompt"]}
    found = State(
        input={"prompt": prompt, "answer": row["answer"] or "", "info": info, "example_id": 0}
    )
    found["completion"] = [{"role": "assistant", "content": row["response"]}]
    found["task"] = {}
    found["timing"] = {}
    found["trajectory"] = []
    return found


async def scored(rows: list[dict[str, Any]], states: list[State]) -> None:
    await asyncio.gather(
        *(rubrics[row["kind"]].score_rollout(one) for row, one in zip(rows, states, strict=True))
    )


def prepare(rows: list[dict[str, Any]]) -> Any:
    states = [state(row) for row in rows]

    def score() -> list[float]:
        loop.run_until_complete(scored(rows, states))
        return [one["reward"] for one in states]

    return score


loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
running = asyncio.Semaphore(CORES)
rubrics = {
    "math": vf.MathRubric(),
    "constraints": vf.Rubric(funcs=[follows]),
    "code": vf.Rubric(funcs=[passes]),
}
scale_executors(128 * CORES)  # a process of Math-Verify for each core
serve(prepare)
