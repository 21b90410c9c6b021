"""``ORS`` at the root: the operations.  Those of an environment are also there without its name, for the first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlenv_serve.http.endpoint import Endpoint, Handler

from . import calls, life, tasks
from .requests import (
    SID,
    Group,
    NewEnvironment,
    NewSession,
    OfIndex,
    OfRange,
    OfSplit,
    ToolCall,
)  # fmt: skip

OF_SESSION = {SID: "of a session that /create_session gave to this tenant"}
GONE = (400, 404, 410, 503)
SESSIONS = frozenset(["create", "ping", "delete", "delete_session", "task_tools", "prompt", "messages", "call", "score_group"])  # fmt: skip


class _Row(NamedTuple):
    method: str
    name: str
    handler: Handler
    takes: object = None
    errors: tuple[int, ...] = ()


ROOT = (
    _Row("GET", "version", tasks.version),
    _Row("GET", "list_environments", tasks.names),
    _Row("POST", "create_session", life.create_session, NewSession, (400,)),
    _Row("POST", "create", life.create, NewEnvironment, (400, 404, 429, 503)),
    _Row("POST", "ping", life.ping, None, GONE),
    _Row("POST", "delete", life.delete, None, (400, 404)),
    _Row("POST", "delete_session", life.delete, None, (400, 404)),
)
OF_TASKS = (
    _Row("GET", "splits", tasks.splits, None, (404,)),
    _Row("POST", "tasks", tasks.tasks, OfSplit, (400, 404)),
    _Row("POST", "num_tasks", tasks.num_tasks, OfSplit, (400, 404)),
    _Row("POST", "task", tasks.task, OfIndex, (400, 404)),
    _Row("POST", "task_range", tasks.task_range, OfRange, (400, 404)),
)
OF_ENVIRONMENT = (
    *OF_TASKS,
    _Row("GET", "tools", life.tools, None, (404,)),
    _Row("GET", "task_tools", life.task_tools, None, GONE),
    _Row("GET", "prompt", life.prompt, None, GONE),
    _Row("GET", "messages", life.messages, None, GONE),
    _Row("POST", "call", calls.call_tool, ToolCall, (*GONE, 429)),
    _Row("POST", "score_group", calls.score_group, Group, (*GONE, 429)),
)


def _endpoint(row: _Row, path: str) -> Endpoint:
    summary = (row.handler.__doc__ or "").split("\n")[0].rstrip(".")
    headers = OF_SESSION if row.name in SESSIONS else {}
    return Endpoint(row.method, path, row.handler, summary, row.takes, tag="ors", lenient=True, errors=row.errors, headers=headers)  # fmt: skip


ENDPOINTS: Sequence[Endpoint] = (
    *(_endpoint(row, f"/{row.name}") for row in (*ROOT, *OF_ENVIRONMENT)),
    *(_endpoint(row, f"/{{env}}/{row.name}") for row in OF_ENVIRONMENT),
    # OpenEnv has the routes of tasks too, below the address that its clients are given.
    *(_endpoint(row, f"/openenv/{{base}}/{{env}}/{row.name}") for row in OF_TASKS),
)
