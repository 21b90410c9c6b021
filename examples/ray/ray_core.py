"""Score rollouts with Ray Core: `evaluate_many` on actors that rlenv starts, on every node of the
cluster.
"""

from __future__ import annotations

from rlenv import Environment, Task
from rlenv_ray import RayWorkers


def right(response, answer):
    return answer in response.split()


def main() -> None:
    tasks = [Task(f"What is {n} + {n}?", answer=str(2 * n), id=str(n)) for n in range(100)]
    rows = ((task, f"It is {2 * int(task.id or 0)}") for task in tasks * 5)
    with Environment("sums", right, tasks) as env, RayWorkers() as cluster:
        verdicts = list(env.evaluate_many(rows, on=cluster))
    print(len(verdicts), "verdicts, mean reward", sum(v.reward for v in verdicts) / len(verdicts))


if __name__ == "__main__":
    main()
