"""Measures CPU seconds per scored rollout of verifiers ≥ 0.2 (its v1 API), as JSON.

A Python that has verifiers runs it.
"""

import asyncio
import gc
import json
import statistics
import sys
import time

import verifiers
import verifiers.v1 as vf
from verifiers.v1.trace import AgentInfo, Trace, TraceTask


class Trivial(vf.Task):
    @vf.reward
    async def right(self, trace: Trace) -> float:
        return 1.0 if trace.id else 0.0


def rollout() -> tuple[vf.Task, Trace]:
    data = vf.TaskData(idx=0, prompt="What is a half?")
    return Trivial(data), Trace(
        task=TraceTask(type="Trivial", data=data),
        agent=AgentInfo(config=vf.AgentConfig()),
    )


async def measure(n: int, repeats: int) -> dict[str, object]:
    score = []
    whole = []
    for _ in range(repeats):
        prepared = [rollout() for _ in range(n)]
        gc.collect()
        start = time.process_time()
        for task, trace in prepared:
            await task.score(trace)
        score.append((time.process_time() - start) / n)
        start = time.process_time()
        for _ in range(n):
            task, trace = rollout()
            await task.score(trace)
        whole.append((time.process_time() - start) / n)
        assert trace.reward == 1.0
    return {
        "version": verifiers.__version__,
        "score": statistics.median(score),
        "rollout": statistics.median(whole),
    }


print(json.dumps(asyncio.run(measure(int(sys.argv[1]), int(sys.argv[2])))))
