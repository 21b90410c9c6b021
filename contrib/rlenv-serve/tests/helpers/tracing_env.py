"""What the tests of traces judge with."""

from __future__ import annotations

from typing import Any

from rlenv import Environment
from serving import TASKS, Client, same

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def nested() -> Environment:
    inner = Environment("inner", [same, same]).root
    return Environment("nested", [same, inner], TASKS)


def verify(ask: Client, response: str, environment: str = "nested", **headers: str) -> Any:
    body = {"environment": environment, "items": [{"task": "t0", "response": response}]}
    return ask("POST", "/v1/verify", body, **headers)
