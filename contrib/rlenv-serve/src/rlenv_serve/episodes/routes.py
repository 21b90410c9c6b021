"""``/episodes``: the operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from rlenv import StageResult, Task
from starlette.responses import Response

from rlenv_serve.catalog import Catalog, Served
from rlenv_serve.http.endpoint import KEY, Call, Endpoint, idempotency_key
from rlenv_serve.http.problems import invalid, not_found
from rlenv_serve.sessions.actions import SUBMIT, Action, call, say
from rlenv_serve.sessions.answers import fault_kind, stage_rows
from rlenv_serve.settings import Name, Seed
from rlenv_serve.state.journal import Entry
from rlenv_serve.tools import offered

COUNTS = ("tests_passed", "total_tests")
HEADERS = {KEY: "a second request with this key is answered as the first was"}


class NewEpisode(msgspec.Struct):
    """What an episode begins with.

    Args:
        task_id: of a task; where several environments have it, as ``environment/task_id`` or with ``environment``.
        agent_id: what the client calls its policy.
        environment: its name on this server; it may be left out where only one has the task.
        seed: of all that is drawn in the episode.
    """

    task_id: str
    agent_id: Name = ""
    environment: str = ""
    seed: Seed = 0


class EpisodeState(msgspec.Struct):
    """An episode as its client sees it; ``stop_reason`` is null while it is open."""

    id: str
    task_id: str
    status: str
    steps: int
    stop_reason: str | None


class EpisodeBegun(msgspec.Struct):
    """A new episode: what the policy is given, and the tools that it may call (``action`` of a step is a tool's name)."""

    episode_id: str
    environment: str
    task_id: str
    agent_id: str
    observation: Sequence[Mapping[str, object]]
    tools: Sequence[Mapping[str, object]]
    value: object = None


class StepTaken(msgspec.Struct):
    """What a step was answered; ``reward`` is null before the end, and where the episode is unscored (``fault`` says why)."""

    episode_id: str
    step: int
    observation: Sequence[Mapping[str, object]]
    text: str
    done: bool
    stop_reason: str | None
    reward: float | None
    fault: str | None
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
    session = await call.server.sessions.begin(call.tenant, served, task, seed=asked.seed, agent=asked.agent_id, key=idempotency_key(call))  # fmt: skip
    return EpisodeBegun(session.id, served.name, str(task.id), session.begun.agent, session.first.messages, offered(served, session), session.first.value)  # fmt: skip


async def step(call: Call) -> object:
    """Take a step: ``{"action": TOOL, ...arguments}``, ``{"action": "submit", "answer": ...}``, or ``{"action": "message", "content": ...}``."""
    id_, action, key = call.path["id"], _action(call.read(dict)), idempotency_key(call)
    answer = await call.server.sessions.step(call.tenant, id_, action, key=key)
    return StepTaken(id_, answer.number, answer.messages, answer.text, answer.done, answer.stop or None, answer.reward, answer.fault or None, answer.value)  # fmt: skip


async def state(call: Call) -> object:
    """What was accepted of an episode."""
    return state_of(await call.server.sessions.entry(call.tenant, call.path["id"]))


async def reward(call: Call) -> object:
    """The reward.  An open episode ends with this, and is judged as it is."""
    entry, verdict = await call.server.sessions.verdict(call.tenant, call.path["id"])
    counts: tuple[int | None, int | None] = next(_counted(verdict.results), (None, None))
    served = call.server.catalog.get(entry.begun.environment)
    mark = served.env.pass_mark if served else 1.0
    passed = None if verdict.value is None else verdict.value >= mark
    stop = entry.ended.stop if entry.ended else ""
    return Reward(verdict.value, *counts, "done", passed, stop, fault_kind(verdict) or None, verdict.fingerprint, stage_rows(verdict))  # fmt: skip


async def delete(call: Call) -> object:
    """Forget an episode."""
    await call.server.sessions.delete(call.tenant, call.path["id"])
    return Response(status_code=204)


def _task(catalog: Catalog, asked: NewEpisode) -> tuple[Served, Task]:
    """The one task that was asked for.

    Raises:
        Problem: 404 when there is none; 422 when several environments have it.
    """
    id_, (name, _, rest) = asked.task_id, asked.task_id.partition("/")
    found = [each for each in catalog.values() if id_ in each.env.tasks.ids]
    if asked.environment:
        found = [catalog.named(asked.environment)]
    elif not found and name.lower() in catalog:
        found, id_ = [catalog[name.lower()]], rest
    elif not found and len(catalog) == 1:
        found = [*catalog.values()]  # whose error names the nearest task
    if not found:
        raise not_found(f"no environment has a task {id_!r:.80}")
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise invalid(f"several environments have a task {id_!r:.80}: name one of {names} as environment")  # fmt: skip
    return found[0], found[0].task(id_)


def _action(body: Mapping[str, object]) -> Action:
    """
    Raises:
        Problem: 422 for a body that is no action.
    """
    arguments = dict(body)
    name = arguments.pop("action", None)
    match name, arguments:
        case str(), {"value": value} if name == "value" and len(arguments) == 1:
            return Action("value", value=value)
        case "message", {"content": str(text)} if len(arguments) == 1:
            return say(text)
        case str(), _ if name and name not in ("message", "value"):
            return call(name, arguments)
    tools = f'{{"action": TOOL, ...arguments}}, {{"action": "{SUBMIT}", "answer": TEXT}}'
    raise invalid(f'a step is {tools}, {{"action": "message", "content": TEXT}} or {{"action": "value", "value": JSON}}')  # fmt: skip


def state_of(entry: Entry) -> EpisodeState:
    """An episode, from what the journal has of it."""
    stop = entry.ended.stop if entry.ended else None
    return EpisodeState(entry.begun.id, entry.begun.task, "done" if entry.ended else "open", entry.steps, stop)  # fmt: skip


def _counted(results: Sequence[StageResult]) -> Iterator[tuple[int, int]]:
    """``tests_passed`` and ``total_tests`` of the stages that count tests: the last first, each before its children."""
    for result in reversed(results):
        data = result.outcome.data if result.outcome else {}
        if all(type(data.get(name)) is int for name in COUNTS):
            yield data["tests_passed"], data["total_tests"]  # type: ignore[misc] # as just seen
        yield from _counted(result.children)


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint("POST", "/episodes", begin, "Begin an episode", NewEpisode, EpisodeBegun, 201, tag="episodes", errors=(404, 409, 503), headers=HEADERS),
    Endpoint("POST", "/episodes/{id}/steps", step, "Take a step", dict[str, object], StepTaken, tag="episodes", errors=(404, 409, 410, 504), headers=HEADERS),
    Endpoint("GET", "/episodes/{id}", state, "What was accepted of an episode", None, EpisodeState, tag="episodes", errors=(404,)),
    Endpoint("GET", "/episodes/{id}/reward", reward, "The reward; an open episode ends with this", None, Reward, tag="episodes", errors=(404, 409, 410, 504)),
    Endpoint("DELETE", "/episodes/{id}", delete, "Forget an episode", status=204, tag="episodes"),
)  # fmt: skip
