"""``ORS`` at the root: the operations.  Those of an environment are also there without its name,
for the first one.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from rlenv_serve.server.endpoint import Endpoint, Handler

from . import calls, life, tasks

OF_SESSION = {life.SID: "of a session that /create_session gave to this tenant"}
GONE = (400, 404, 410, 503)
SESSIONS = frozenset(
    [
        "create",
        "ping",
        "delete",
        "delete_session",
        "task_tools",
        "prompt",
        "messages",
        "call",
        "score_group",
    ]
)


def _row(
    method: str, name: str, handler: Handler, takes: object, errors: tuple[int, ...] = ()
) -> Endpoint:
    summary = (handler.__doc__ or "").split("\n")[0].rstrip(".")
    headers = OF_SESSION if name in SESSIONS else {}
    return Endpoint(
        method,
        f"/{name}",
        handler,
        summary,
        takes,
        tag="ors",
        lenient=True,
        errors=errors,
        headers=headers,
    )


ROOT = (
    _row("GET", "version", tasks.version, None),
    _row("GET", "list_environments", tasks.names, None),
    _row("POST", "create_session", life.create_session, life.NewSession, (400,)),
    _row("POST", "create", life.create, life.NewEnvironment, (400, 404, 429, 503)),
    _row("POST", "ping", life.ping, None, GONE),
    _row("POST", "delete", life.delete, None, (400, 404)),
    _row("POST", "delete_session", life.delete, None, (400, 404)),
)
OF_TASKS = (
    _row("GET", "splits", tasks.splits, None, (404,)),
    _row("POST", "tasks", tasks.tasks, tasks.OfSplit, (400, 404)),
    _row("POST", "num_tasks", tasks.num_tasks, tasks.OfSplit, (400, 404)),
    _row("POST", "task", tasks.task, tasks.OfIndex, (400, 404)),
    _row("POST", "task_range", tasks.task_range, tasks.OfRange, (400, 404)),
)
OF_ENVIRONMENT = (
    *OF_TASKS,
    _row("GET", "tools", life.tools, None, (404,)),
    _row("GET", "task_tools", life.task_tools, None, GONE),
    _row("GET", "prompt", life.prompt, None, GONE),
    _row("GET", "messages", life.messages, None, GONE),
    _row("POST", "call", calls.call_tool, calls.ToolCall, (*GONE, 429)),
    _row("POST", "score_group", calls.score_group, calls.Group, (*GONE, 429)),
)
ENDPOINTS: Sequence[Endpoint] = (
    *ROOT,
    *OF_ENVIRONMENT,
    *(evolve(each, path=f"/{{env}}{each.path}") for each in OF_ENVIRONMENT),
    # OpenEnv has the routes of tasks too, below the address that its clients are given.
    *(evolve(each, path=f"/openenv/{{base}}/{{env}}{each.path}") for each in OF_TASKS),
)
