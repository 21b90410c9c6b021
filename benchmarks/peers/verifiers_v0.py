"""Measures CPU seconds per scored rollout of verifiers 0.1 (its Rubric), as JSON.

A Python that has verifiers runs it.
"""

import asyncio
import gc
import json
import statistics
import sys
import time

import verifiers as vf
from verifiers.types import State


async def right(completion: object) -> float:
    return 1.0 if completion else 0.0


def rollout() -> State:
    row = {
        "prompt": [{"role": "user", "content": "What is a half?"}],
        "answer": "1/2",
        "example_id": 0,
    }
    state = State(input=row)
    state["completion"] = [{"role": "assistant", "content": "1/2"}]
    state["task"] = {}
    state["timing"] = {}
    state["trajectory"] = []
    return state


async def measure(n: int, repeats: int) -> dict[str, object]:
    rubric = vf.Rubric(funcs=[right])
    single = []
    batch = []
    for _ in range(repeats):
        states = [rollout() for _ in range(n)]
        gc.collect()
        start = time.process_time()
        for state in states:
            await rubric.score_rollout(state)
        single.append((time.process_time() - start) / n)
        assert states[-1]["reward"] == 1.0
        states = [rollout() for _ in range(n)]
        start = time.process_time()
        await rubric.score_group(states)
        batch.append((time.process_time() - start) / n)
    return {
        "version": vf.__version__,
        "score": statistics.median(single),
        "batch": statistics.median(batch),
    }


print(json.dumps(asyncio.run(measure(int(sys.argv[1]), int(sys.argv[2])))))
