"""The environment as a service: `/verify` gets [prompt, response] pairs and answers with rewards,
null for unscored.
"""

from __future__ import annotations

from rlenv import Environment, Task
from service import serve

TASKS = [Task(f"Copy {digit}.", answer=str(digit)) for digit in range(10)]
ENV = {"name": "copy", "stage": [{"use": "core/equal"}]}


def main() -> None:
    with Environment("copy", Environment.from_dict(ENV).root, TASKS) as env:
        serve(lambda _, rows: [verdict.value for verdict in env.evaluate_many(rows)])


if __name__ == "__main__":
    main()
