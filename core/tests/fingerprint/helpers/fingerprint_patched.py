"""Functions whose globals a script may set to other values."""

from collections.abc import Callable

import rlenv

LIMIT = 1
TABLE = {"limit": 1}


def made() -> Callable[[str], float]:
    return lambda response: float(len(response) > LIMIT)


def looks_up() -> Callable[[str], float]:
    return lambda response: float(len(response) > TABLE["limit"])


@rlenv.stage(where="inline")
def here(response: str) -> float:
    return float(len(response) > LIMIT)
