"""Runs torch.allclose on the arrays of `benchmarks/cuda.py`, in one thread.

Prints median CPU milliseconds as JSON.
"""

import json
import statistics
import sys
import time

import numpy as np
import torch

torch.set_num_threads(1)
sizes, repeat = json.loads(sys.argv[1])
found = {"torch": torch.__version__}
for n in sizes:
    rng = np.random.default_rng(0)
    want = rng.standard_normal(n, dtype="f4")
    got = want * (1 + np.float32(1e-6) * rng.standard_normal(n, dtype="f4"))
    a = torch.from_numpy(got)
    b = torch.from_numpy(want)
    times = []
    for _ in range(repeat + 1):
        start = time.process_time()
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-6)
        times.append(time.process_time() - start)
    found[str(n)] = statistics.median(times[1:]) * 1e3
print(json.dumps(found))
