"""``/episodes``: the operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from rlenv import StageResult, Task
from starlette.responses import Response

from rlenv_serve.catalog import Catalog, Served
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.limits import Name, Seed
from rlenv_serve.http.problems import invalid, not_found
from rlenv_serve.server.endpoint import KEY, Call, Endpoint, idempotency_key
from rlenv_serve.sessions.actions import SUBMIT, Action, call, say
from rlenv_serve.sessions.admission import Admission
from rlenv_serve.sessions.lost import status_of
from rlenv_serve.state.journal import Entry
from rlenv_serve.tools import error_of, tool_schemas
from rlenv_serve.verdicts import fault_kind, stage_rows

PUBLIC = Tenant()  # the reward is the same for all who may ask for it
COUNTS = ("tests_passed", "total_tests")
HEADERS = {KEY: "a second request with this key is answered as the first was"}


class NewEpisode(msgspec.Struct, forbid_unknown_fields=True):
    """The body that begins an episode.

    Args:
        task_id: of a task; where several environments have it, as ``environment/task_id`` or with
            ``environment``.
        agent_id: what the client calls its policy.
        environment: its name on this server; it may be left out where only one has the task.
        seed: of all that is drawn in the episode.
    """

    task_id: str
    agent_id: Name = ""
    environment: str = ""
    seed: Seed = 0


class EpisodeState(msgspec.Struct):
    """An episode as its client sees it.

    Args:
        id: of the episode.
        task_id: of its task.
        status: ``open``, ``done``, or ``lost`` where it cannot go on.
        steps: that were accepted.
        stop_reason: null while it is open.
        reason: why it is lost; null where it is not.
    """

    id: str
    task_id: str
    status: Literal["open", "done", "lost"]
    steps: int
    stop_reason: str | None
    reason: str | None


class EpisodeBegun(msgspec.Struct):
    """A new episode: what the policy is given, and the tools that it may call (``action`` of a step
    is a tool's name).
    """

    episode_id: str
    environment: str
    task_id: str
    agent_id: str
    observation: Sequence[Mapping[str, object]]
    tools: Sequence[Mapping[str, object]]
    value: object = None


class StepError(msgspec.Struct):
    """The failure of a tool.

    Args:
        code: ``tool_not_found``, ``invalid_args``, ``timeout`` or ``execution_error``.
        message: what the policy was told.
    """

    code: str
    message: str


class StepTaken(msgspec.Struct):
    """The answer to a step.

    ``reward`` is null before the end, and where the episode is unscored (``fault`` says why).
    ``error`` is null unless a tool failed; the step counts all the same, and the observation tells
    the policy.
    """

    episode_id: str
    step: int
    observation: Sequence[Mapping[str, object]]
    text: str
    done: bool
    stop_reason: str | None
    reward: float | None
    fault: str | None
    error: StepError | None
    value: object = None


class Reward(msgspec.Struct):
    """The end of an episode; ``reward`` is null where it is unscored, and ``fault`` says why."""

    reward: float | None
    tests_passed: int | None
    total_tests: int | None
    status: str
    passed: bool | None
    stop_reason: str
    fault: str | None
    fingerprint: str
    stages: Sequence[Mapping[str, object]]


async def begin(call: Call) -> object:
    """Begin an episode."""
    asked = call.read(NewEpisode)
    served, task = _task(call.server.catalog, asked)
    session = await call.server.sessions.begin(
        call.tenant, served, task, seed=asked.seed, agent=asked.agent_id, key=idempotency_key(call)
    )
    return EpisodeBegun(
        episode_id=session.id,
        environment=served.name,
        task_id=str(task.id),
        agent_id=session.begun.agent,
        observation=session.first.messages,
        tools=tool_schemas(served, session),
        value=session.first.value,
    )


async def step(call: Call) -> object:
    """Take a step: ``{"action": TOOL, ...arguments}``, ``{"action": "submit", "answer": ...}``, or
    ``{"action": "message", "content": ...}``.
    """
    id_ = call.path["id"]
    action = _action(call.read(dict))
    key = idempotency_key(call)
    answer = await call.server.sessions.step(call.tenant, id_, action, key=key)
    failed = error_of(answer)
    return StepTaken(
        episode_id=id_,
        step=answer.number,
        observation=answer.messages,
        text=answer.text,
        done=answer.done,
        stop_reason=answer.stop or None,
        reward=answer.reward,
        fault=answer.fault or None,
        error=StepError(failed["error_type"], failed["message"]) if failed else None,
        value=answer.value,
    )


async def state(call: Call) -> object:
    """Return what was accepted of an episode; an operator may ask for that of any tenant."""
    sessions = call.server.sessions
    id_ = call.path["id"]
    owner = await sessions.owner(call.tenant, id_)
    return state_of(await sessions.entry(owner, id_), sessions.admission)


async def reward(call: Call) -> object:
    """The reward.  An open episode ends with this, and is judged as it is; an operator may ask for
    that of any tenant.
    """
    sessions = call.server.sessions
    id_ = call.path["id"]
    entry, verdict = await sessions.verdict(await sessions.owner(call.tenant, id_), id_)
    counts: tuple[int | None, int | None] = next(_test_counts(verdict.results), (None, None))
    passed_tests, total_tests = counts
    served = call.server.catalog.get(entry.begun.environment)
    mark = served.env.pass_mark if served else 1.0
    passed = None if verdict.value is None else verdict.value >= mark
    stop = entry.ended.stop if entry.ended else ""
    return Reward(
        reward=verdict.value,
        tests_passed=passed_tests,
        total_tests=total_tests,
        status="done",
        passed=passed,
        stop_reason=stop,
        fault=fault_kind(verdict) or None,
        fingerprint=verdict.fingerprint,
        stages=stage_rows(verdict, PUBLIC),
    )


async def delete(call: Call) -> object:
    """End and forget an episode; an operator may do so with that of any tenant."""
    sessions = call.server.sessions
    id_ = call.path["id"]
    if not await sessions.delete(await sessions.owner(call.tenant, id_), id_):
        raise not_found(f"there is no episode {id_!r:.80}")
    return Response(status_code=204)


def _task(catalog: Catalog, asked: NewEpisode) -> tuple[Served, Task]:
    """The one task that was asked for.

    Raises:
        Problem: 404 when there is none; 422 when several environments have it.
    """
    id_ = asked.task_id
    name, _, rest = asked.task_id.partition("/")
    found = [each for each in catalog.values() if each.env.tasks.get(id_)]
    if asked.environment:
        found = [catalog.lookup(asked.environment)]
    elif not found and name.lower() in catalog:
        found = [catalog[name.lower()]]
        id_ = rest
    elif not found and len(catalog) == 1:
        found = [*catalog.values()]  # whose error names the nearest task
    if not found:
        raise not_found(f"no environment has a task {id_!r:.80}")
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise invalid(
            f"several environments have a task {id_!r:.80}: name one of {names} as environment"
        )
    return found[0], found[0].task(id_)


def _action(body: Mapping[str, object]) -> Action:
    """
    Raises:
        Problem: 422 for a body that is not an action.
    """
    arguments = dict(body)
    name = arguments.pop("action", None)
    match name, arguments:
        case str(), {"value": value} if name == "value" and len(arguments) == 1:
            return Action("value", value=value)
        case "message", {"content": str() | None as text} if len(arguments) == 1:
            return say(text)
        case str(), _ if name and name not in ("message", "value"):
            return call(name, arguments)
    tools = f'{{"action": TOOL, ...arguments}}, {{"action": "{SUBMIT}", "answer": TEXT}}'
    raise invalid(
        f'a step is {tools}, {{"action": "message", "content": TEXT}} or {{"action": "value",'
        ' "value": JSON}'
    )


def state_of(entry: Entry, admission: Admission) -> EpisodeState:
    """Return an episode, from what the journal has of it.

    Args:
        entry: of the journal.
        admission: says whether it is lost.
    """
    found = status_of(entry, admission)
    return EpisodeState(
        id=entry.begun.id,
        task_id=entry.begun.task,
        status=found.name,
        steps=found.steps,
        stop_reason=found.stop,
        reason=found.reason,
    )


def _test_counts(results: Sequence[StageResult]) -> Iterator[tuple[int, int]]:
    """``tests_passed`` and ``total_tests`` of the stages that count tests: the last first, each
    before its children.
    """
    for result in reversed(results):
        data = result.outcome.data if result.outcome else {}
        if all(type(data.get(name)) is int for name in COUNTS):
            yield data["tests_passed"], data["total_tests"]  # type: ignore[misc] # as just seen
        yield from _test_counts(result.children)


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        method="POST",
        path="/episodes",
        handler=begin,
        summary="Begin an episode",
        takes=NewEpisode,
        gives=EpisodeBegun,
        status=201,
        tag="episodes",
        errors=(404, 409, 503),
        headers=HEADERS,
    ),
    Endpoint(
        method="POST",
        path="/episodes/{id}/steps",
        handler=step,
        summary="Take a step",
        takes=dict[str, object],
        gives=StepTaken,
        tag="episodes",
        errors=(404, 409, 410, 504),
        headers=HEADERS,
    ),
    Endpoint(
        method="GET",
        path="/episodes/{id}",
        handler=state,
        summary="What was accepted of an episode",
        takes=None,
        gives=EpisodeState,
        tag="episodes",
        errors=(404,),
    ),
    # A monitor that looks with HEAD must not end an episode.
    Endpoint(
        method="GET",
        path="/episodes/{id}/reward",
        handler=reward,
        summary="The reward; an open episode ends with this",
        takes=None,
        gives=Reward,
        tag="episodes",
        errors=(404, 409, 410, 504),
        head=False,
    ),
    Endpoint(
        "DELETE",
        "/episodes/{id}",
        delete,
        "End and forget an episode",
        status=204,
        tag="episodes",
        errors=(404,),
    ),
)
