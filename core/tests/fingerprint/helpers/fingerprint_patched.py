"""Functions whose globals a script may set to other values."""

import rlenv

LIMIT = 1
TABLE = {"limit": 1}


def made():
    return lambda response: float(len(response) > LIMIT)


def looks_up():
    return lambda response: float(len(response) > TABLE["limit"])


@rlenv.stage(where="inline")
def here(response):
    return float(len(response) > LIMIT)
