"""A verifier that is broken: it never ends, whatever it is asked."""

from rlenv import stage
from rlenv.runtime import budget

budget.FIRST = 2.0  # in the worker that imports this: seconds for its check of an empty response


@stage(budget=0.5, default_timeout=1.0)
def never(response: str) -> float:
    while True:
        pass
