"""Score a data set with Ray Data: `map_batches` with a class, of which each actor makes one object.

Ray Data reads, schedules and writes. Use it where responses are a data set already; `RayWorkers`
(ray_core.py) checks that all nodes have the same code, and retries single rows.
"""

from __future__ import annotations

import ray
from rlenv import Environment

ENV = {"name": "capitals", "stage": [{"use": "core/equal"}]}


class Score:
    """Adds the columns ``reward`` (NaN where there is none) and ``unscored`` to a batch."""

    def __init__(self) -> None:
        self.env = Environment.from_dict(ENV)

    def __call__(self, batch):
        import numpy as np
        from rlenv import Task

        columns = batch["prompt"], batch["answer"], batch["response"]
        rows = [(Task(str(p), str(a)), str(r)) for p, a, r in zip(*columns, strict=True)]
        rewards = [verdict.value for verdict in self.env.evaluate_many(rows)]
        batch["unscored"] = np.array([reward is None for reward in rewards])
        batch["reward"] = np.array([np.nan if reward is None else reward for reward in rewards])
        return batch


def main() -> None:
    items = [
        {"prompt": "Capital of France?", "answer": "Paris", "response": text}
        for text in ("Paris", "paris", "Lyon", "") * 50
    ]
    scored = ray.data.from_items(items).map_batches(Score, batch_size=32, concurrency=2)
    found = scored.to_pandas()
    print(len(found), "rows,", int(found["unscored"].sum()), "unscored")
    print(found.groupby("response")["reward"].mean().to_dict())


if __name__ == "__main__":
    main()
