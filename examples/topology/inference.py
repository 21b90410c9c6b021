"""The policy as a service: `/generate` samples responses, `/weights` takes what the trainer has
learned.

The policy is a table: for each prompt ten logits, one for each digit that it may write.
"""

from __future__ import annotations

import math
import random
import sys

from service import serve


def probabilities(logits: list[float]) -> list[float]:
    weights = [math.exp(logit - max(logits)) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def main() -> None:
    chance = random.Random(int(sys.argv[1]))
    table = {}

    def answer(path: str, body):
        if path == "/weights":
            table.update(body)
            return {}
        at_start = [0.0] * 10
        weights = [probabilities(table.get(prompt, at_start)) for prompt in body["prompts"]]
        return [chance.choices("0123456789", each, k=body["n"]) for each in weights]

    serve(answer)


if __name__ == "__main__":
    main()
