"""Routes that trainers call as a remote reward model: OpenRLHF, slime and NeMo Gym.

None of them has a number for "unscored". OpenRLHF and slime ask again after 503, so a request with
an unscored response is 503 as a whole. NeMo Gym masks a sample, and its reward is then 0.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Annotated

import msgspec
from msgspec import Meta

from rlenv_serve.http.body import decode
from rlenv_serve.http.problems import Problem, invalid
from rlenv_serve.server.endpoint import Call, Endpoint
from rlenv_serve.verdicts import fault_kind
from rlenv_serve.verify.requests import Item, Messages, NewTask
from rlenv_serve.verify.run import Run

from .verify import judge_items

TAG = "compat"
LABEL = {
    "label": (
        "task: labels are ids of tasks; answer: they are answers, for keys that may bring them."
        " task by default"
    )
}
TASK_INDEX = "_ng_task_index"
MASK = "mask_sample"
LARGEST = 1e100  # of a number in metrics: squares of larger ones are no numbers
UNSCORED = {"unscored": "error: 503 in place of a masked sample with reward 0"}


class OpenRlhfRequest(msgspec.Struct):
    """A request of OpenRLHF: each query is its prompt and the response to it."""

    query: Annotated[list[str], Meta(min_length=1)]
    prompts: list[str]
    labels: list[object]


class OpenRlhfAnswer(msgspec.Struct):
    """The answer that OpenRLHF reads."""

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


class SlimeRequest(msgspec.Struct):
    """A request of slime for one sample."""

    prompt: str | Messages
    response: str
    label: object = None


class NemoRequest(msgspec.Struct):
    """A request of NeMo Gym: the request and the response of the Responses API, and the columns of
    the row beside them.
    """

    responses_create_params: dict[str, object]
    response: dict[str, object]
    task_id: str | None = None
    answer: object = None


class NemoRollouts(msgspec.Struct):
    """A request of NeMo Gym about rollouts that have ended: answers of ``/verify`` without their
    texts.
    """

    verify_responses: list[dict[str, object]]


class NemoMetrics(msgspec.Struct):
    """The answer that NeMo Gym reads: figures of each task, of all rollouts, and those to show."""

    group_level_metrics: list[dict[str, object]]
    agent_metrics: dict[str, object]
    key_metrics: dict[str, object]


async def openrlhf(call: Call) -> object:
    """Rewards of a batch.  A response that cannot be scored makes the batch 503: OpenRLHF asks
    again, and stops when it stays.
    """
    asked = call.read(OpenRlhfRequest)
    if not len(asked.query) == len(asked.prompts) == len(asked.labels):
        raise invalid("query, prompts and labels have one value for each response")
    rows = zip(asked.query, asked.prompts, asked.labels, strict=True)
    items = [
        Item(_task(call, prompt, label, index), _completion(query, prompt, index))
        for index, (query, prompt, label) in enumerate(rows)
    ]
    rewards = _rewards(run := await judge_items(call, call.path["env"], items))
    return OpenRlhfAnswer(
        rewards,
        rewards,
        {"passed": [float(reward >= run.served.env.pass_mark) for reward in rewards]},
    )


async def slime(call: Call) -> object:
    """The reward of one sample, a number.  One that cannot be scored is 503: slime asks ten times,
    and then stops.
    """
    asked = call.read(SlimeRequest)
    prompt = asked.prompt if isinstance(asked.prompt, str) else _last_question(asked.prompt)
    items = [Item(_task(call, prompt, asked.label, 0), asked.response)]
    return _rewards(await judge_items(call, call.path["env"], items))[0]


async def nemo(call: Call) -> object:
    """The request, with ``reward``, ``mask_sample``, ``failure_kind`` and ``failure_reason``."""
    asked = call.read(NemoRequest)
    told = decode(call.raw, _OPEN, call.server.limits.depth)
    given = asked.responses_create_params.get("input")
    prompt = given if isinstance(given, str) else _last_question(given)
    if asked.task_id is None and asked.answer is None:
        raise invalid(
            "a row has the column task_id, the id of a task, or for keys that may bring it the"
            " column answer"
        )
    task = NewTask(prompt, asked.answer) if asked.task_id is None else asked.task_id
    run = await judge_items(
        call, call.path["env"], [Item(task, _conversation(asked.response.get("output")))]
    )
    verdict = run.verdicts[0]
    if verdict.value is None and call.request.query_params.get("unscored") == "error":
        raise _unscored_problem(run)
    failed = verdict.value is None
    reason = "the verifier failed; this sample has no reward" if failed else None
    kind = f"rlenv:{fault_kind(verdict)}" if failed else None
    return {
        **told,
        "reward": verdict.value or 0.0,
        "mask_sample": failed,
        "failure_kind": kind,
        "failure_reason": reason,
    }


async def seed(_: Call) -> object:
    """A session of NeMo Gym, which needs none: each response is judged alone."""
    return {}


async def reverify(_: Call) -> object:
    """Say whether a rollout may be judged again: always, since a verdict needs nothing else."""
    return "stateless"


async def aggregate(call: Call) -> object:
    """Mean, maximum, minimum, median and standard deviation of each number of rollouts, by task and
    of all.  Masked samples have no numbers: they count in ``mask_sample`` alone."""
    # Another thread reckons: a request of 800 kB held the loop for a second.
    return await asyncio.to_thread(_metrics, call.read(NemoRollouts).verify_responses)


def _metrics(rows: Sequence[Mapping[str, object]]) -> NemoMetrics:
    """
    Raises:
        Problem: 422 for a row that does not number its task.
    """
    groups: dict[int, list[Mapping[str, object]]] = {}
    for row in rows:
        if not isinstance(index := row.get(TASK_INDEX, 0), int):
            raise invalid(f"{TASK_INDEX} is the number of a task, not {index!r:.80}")
        groups.setdefault(index, []).append(row)
    by_task = [
        _figures(groups[index]) | {TASK_INDEX: index, "num_rollouts": len(groups[index])}
        for index in sorted(groups)
    ]
    whole = _figures(rows)
    return NemoMetrics(
        by_task, whole, {name: value for name, value in whole.items() if name.startswith("mean/")}
    )


def _figures(rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    columns: dict[str, list[float]] = {}
    for row in rows:
        used = {MASK: row.get(MASK)} if row.get(MASK) else row
        for name, value in used.items():
            if (
                isinstance(value, int | float)
                and abs(value) < LARGEST
                and not name.startswith("_ng_")
            ):
                columns.setdefault(name, []).append(float(value))
    return {
        f"{name}/{column}": of(values)
        for name, of in FIGURES.items()
        for column, values in columns.items()
    }


def _task(call: Call, prompt: str, label: object, index: int) -> str | NewTask:
    match call.request.query_params.get("label", "task"), label:
        case "answer", _:
            return NewTask(prompt, label)
        case "task", str():
            return label
        case "task", _:
            raise invalid(
                f"labels[{index}] is the id of a task, not {label!r:.80}; add ?label=answer to the"
                " URL where labels are answers"
            )
    raise invalid("label in the query of the URL is task or answer")


def _completion(query: str, prompt: str, index: int) -> str:
    """The response alone: a verifier that reads the prompt too could find an answer there."""
    if not query.startswith(prompt):
        raise invalid(
            f"query[{index}] does not begin with prompts[{index}], so that its response cannot be"
            " told from it"
        )
    return query[len(prompt) :]


def _rewards(run: Run) -> list[float]:
    """
    Raises:
        Problem: 503 where one is unscored.
    """
    found = [run.verdicts[index].value for index in range(len(run.jobs))]
    if None in found:
        raise _unscored_problem(run)
    return [value for value in found if value is not None]


def _unscored_problem(run: Run) -> Problem:
    kinds = sorted({fault_kind(verdict) for verdict in run.verdicts.values() if not verdict.scored})
    return Problem(
        503,
        "unscored",
        f"the verifier failed ({', '.join(kinds)}), and this protocol has no value for that: ask"
        " again",
        Retry_After="5",
    )


def _last_question(messages: object) -> str:
    """The text of the last message of the user."""
    users = [each for each in _objects(messages) if each.get("role") == "user"]
    return _text(users[-1].get("content")) if users else ""


def _conversation(output: object) -> str | Messages:
    """The items of a response of the Responses API as messages; a single one as its text."""
    found = [message for each in _objects(output) if (message := _message(each))]
    if len(found) == 1 and "tool_calls" not in found[0]:
        return str(found[0]["content"])
    return found


def _message(item: Mapping[str, object]) -> dict[str, object] | None:
    match item.get("type", "message"):
        case "message":
            return {"role": "assistant", "content": _text(item.get("content"))}
        case "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            return {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": item.get("call_id"), "type": "function", "function": function}
                ],
            }
        case "function_call_output":
            return {
                "role": "tool",
                "tool_call_id": item.get("call_id"),
                "content": _text(item.get("output")),
            }
    return None  # reasoning, which no verifier reads


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in _objects(content)]
    return "".join(text for text in texts if isinstance(text, str))


def _objects(values: object) -> Iterator[Mapping[str, object]]:
    return (
        (each for each in values if isinstance(each, Mapping))
        if isinstance(values, list)
        else iter(())
    )


# `statistics.stdev` reckons with fractions: a request of 800 kB held the loop for two seconds.
FIGURES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "max": max,
    "min": min,
    "median": median,
    "std": lambda values: (
        math.dist(values, [fmean(values)] * len(values)) / math.sqrt(max(1, len(values) - 1))
    ),
}
_OPEN = msgspec.json.Decoder(dict[str, object])
ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        method="POST",
        path="/compat/openrlhf/{env}",
        handler=openrlhf,
        summary="Rewards as OpenRLHF asks for them",
        takes=OpenRlhfRequest,
        gives=OpenRlhfAnswer,
        tag=TAG,
        errors=(404, 503),
        query=LABEL,
    ),
    Endpoint(
        method="POST",
        path="/compat/slime/{env}",
        handler=slime,
        summary="A reward as slime asks for it",
        takes=SlimeRequest,
        gives=float,
        tag=TAG,
        errors=(404, 503),
        query=LABEL,
    ),
    Endpoint(
        method="POST",
        path="/compat/nemo/{env}/verify",
        handler=nemo,
        summary="A verification as NeMo Gym asks for it",
        takes=NemoRequest,
        gives=dict[str, object],
        tag=TAG,
        errors=(404, 503),
        query=UNSCORED,
    ),
    Endpoint(
        method="POST",
        path="/compat/nemo/{env}/seed_session",
        handler=seed,
        summary="A session of NeMo Gym, which needs nothing",
        takes=dict[str, object],
        gives=dict[str, object],
        tag=TAG,
    ),
    Endpoint(
        method="POST",
        path="/compat/nemo/{env}/aggregate_metrics",
        handler=aggregate,
        summary="Figures of rollouts as NeMo Gym asks for them",
        takes=NemoRollouts,
        gives=NemoMetrics,
        tag=TAG,
    ),
    Endpoint(
        method="GET",
        path="/compat/nemo/{env}/reverify_mode",
        handler=reverify,
        summary="Whether NeMo Gym may have rollouts judged again",
        takes=None,
        gives=str,
        tag=TAG,
    ),
)
