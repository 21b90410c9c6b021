"""How other people's verifiers are called: by the names of their parameters, or as their framework
does.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from rlenv.compose.composites import as_stage
from rlenv.compose.functions import FunctionStage, function_stage
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError
from rlenv.model.values import Task, Trajectory

__all__ = ["SIGNATURES", "attempted", "awaited", "caller", "converses"]

Call = Callable[[Task, Any], Any]  # of a task and a text, or a Trajectory: a conversation

MESSAGES = ("messages", "conversation", "history", "episode", "transcript")


def _plain(function: Callable[..., Any]) -> Call:
    """A function as rlenv itself calls it, by the names of its parameters; ``messages`` is the
    whole conversation.
    """
    named = [name for name in _parameters(function) if name in MESSAGES]

    def stage(messages: object) -> FunctionStage:
        return function_stage(function, dict.fromkeys(named, messages))

    try:
        alone: Any = stage(()) if named else as_stage(function)
    except ConfigError as error:
        raise ConfigError(
            f"{str(error).partition('; in an env.toml')[0]}; or say how it is called with --as"
        ) from error
    if not named:
        return lambda task, response: alone.check(attempted(task, response))
    return lambda task, response: stage([*_asked(task, response), *_turns(response)]).check(
        attempted(task, response)
    )


def attempted(task: Task, response: Any) -> Attempt:
    """What a function asks for by name is read from this."""
    talk = response if isinstance(response, Trajectory) else None
    return Attempt(task, _final(response), talk)


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _final(response: Any) -> str:
    return response.final if isinstance(response, Trajectory) else str(response)


def _asked(task: Task, response: Any) -> list[Any]:
    """What came before the policy's first word; a conversation brings its own."""
    if isinstance(response, Trajectory):
        return []
    return list(task.messages)


def _turns(response: Any) -> list[Any]:
    if isinstance(response, Trajectory):
        return [dict(message) for message in response.messages]
    return [{"role": "assistant", "content": response}]


def _completed(response: Any) -> list[Any]:
    """What the policy and its tools said, without what the policy was told at first."""
    turns = _turns(response)
    first = next(
        (n for n, turn in enumerate(turns) if turn.get("role") not in ("system", "user")),
        len(turns),
    )
    return turns[first:]


def _trl(function: Callable[..., Any]) -> Call:
    """TRL's GRPO: ``f(prompts, completions, **columns) -> list``; every column of the data set as a
    list.
    """

    def call(task: Task, response: Any, *, chat: bool = False) -> Any:
        columns = {str(key): [value] for key, value in task.info.items()}
        for name in ("answer", "ground_truth", "solution"):
            if task.answer is not None:
                columns.setdefault(name, [task.answer])
        extra: dict[str, Any] = {
            "completion_ids": [[0] * max(1, len(_final(response)) // 4)],
            "trainer_state": None,
        }
        extra |= {"log_extra": lambda *_: None, "log_metric": lambda *_: None}
        given = columns | extra if _takes_any(function) else _known(function, columns | extra)
        chat = chat or "messages" in task.info  # a conversation gets a conversation back
        messages: Any = task.info.get("messages", task.messages)
        prompt: Any = list(messages) if chat else task.prompt
        reply: Any = _completed(response) if chat else _final(response)
        try:
            return _only(awaited(function(prompts=[prompt], completions=[reply], **given)))
        except (TypeError, IndexError) as error:  # it reads messages, of a data set that has none
            if chat or "string ind" not in str(error):
                raise
            return call(task, response, chat=True)

    return call


def _verl(function: Callable[..., Any]) -> Call:
    """verl: ``compute_score(data_source, solution_str, ground_truth, extra_info) -> float |
    {"score": …}``.
    """

    def call(task: Task, response: Any) -> Any:
        extra: Any = task.info.get("extra_info", {})
        given = {
            "data_source": task.info.get("data_source", "audit"),
            "solution_str": _final(response),
            "ground_truth": task.answer,
            "extra_info": {"num_turns": 2, **extra},
        }
        said = awaited(function(**given))
        return said.get("score") if isinstance(said, Mapping) else said

    return call


def _verifiers(function: Any) -> Call:
    """verifiers (v0): a reward function whose parameters are injected by name, or a Rubric."""
    score = getattr(function, "score_rollout", None)

    def names(task: Task, response: Any) -> dict[str, Any]:
        prompt = list(task.messages)
        completion = _completed(response)
        info = dict(task.info)
        state = {
            "prompt": prompt,
            "completion": completion,
            "answer": task.answer,
            "info": info,
            "task": "audit",
            "turn": 1,
            "trajectory": [],
            "timing": {},
            "responses": [],
        }
        parser = getattr(function, "parser", None)
        return {
            "prompt": prompt,
            "completion": completion,
            "answer": task.answer,
            "state": state,
            "info": info,
            "task": "audit",
            "parser": parser,
            **{k: v for k, v in info.items() if k not in state},
        }

    def call(task: Task, response: Any) -> Any:
        given = names(task, response)
        if score is not None:
            state = given["state"]
            said = awaited(score(state))
            return state.get("reward", getattr(said, "reward", said))
        return awaited(function(**(given if _takes_any(function) else _known(function, given))))

    return call


def _reasoning_gym(dataset: Any) -> Call:
    """reasoning-gym: ``dataset.score_answer(answer, entry)``; the entry is the task's own.

    The answer comes without blanks around it, as the package's ``extract_answer`` and those who
    train on it hand it over.
    """

    def call(task: Task, response: Any) -> Any:
        entry = {"question": task.prompt, "answer": task.answer, "metadata": dict(task.info)}
        return dataset.score_answer(answer=_final(response).strip(), entry=entry)

    return call


def _inspect(scorer: Any) -> Call:
    """Inspect: an async scorer of a task's state and its target, or the factory that makes one."""
    names = ("model", "scorer", "solver")
    model, scoring, solving = (import_module(f"inspect_ai.{name}") for name in names)
    factory = not inspect.iscoroutinefunction(scorer) and not inspect.signature(scorer).parameters
    made = scorer() if factory else scorer
    number = scoring.value_to_float()

    def call(task: Task, response: Any) -> Any:
        target = scoring.Target(_targets(task))
        state = solving.TaskState(
            model=model.ModelName("mockllm/model"),
            sample_id=task.id or "1",
            epoch=1,
            input=task.prompt,
            messages=[model.ChatMessageUser(content=task.prompt)],
            metadata=dict(task.info),
            target=target,
            output=model.ModelOutput.from_content("mockllm/model", _final(response)),
        )
        said = awaited(made(state, target))
        return None if said is None else number(said.value)

    return call


def _targets(task: Task) -> Any:
    answer = task.answer
    if isinstance(answer, (list, tuple)):
        return [str(one) for one in answer]
    return "" if answer is None else str(answer)


SIGNATURES: Mapping[str, Callable[[Any], Call]] = {
    "plain": _plain, "trl": _trl, "verl": _verl, "verifiers": _verifiers,
    "reasoning-gym": _reasoning_gym, "inspect": _inspect,
}  # fmt: skip


def caller(function: Any, signature: str) -> Call:
    """``(task, response) -> whatever the verifier returns`` for a function of this signature.

    Raises:
        ConfigError: no such signature, or the function cannot be called so.
    """
    if signature not in SIGNATURES:
        raise ConfigError(
            f"--as {signature}: there are {', '.join([*SIGNATURES, 'pairwise', 'group'])}"
        )
    call = SIGNATURES[signature](function)
    return lambda task, response: awaited(call(task, response))


def awaited(said: Any) -> Any:
    """The value itself, waited for where it is a coroutine."""
    if not inspect.isawaitable(said):
        return said

    async def wait() -> Any:
        return await said

    return asyncio.run(wait())


def converses(function: Any, signature: str) -> bool:
    """Whether a function asks for whole conversations.

    Those of TRL and verifiers are given messages also where an episode is one question and one
    reply: there the tasks tell, or a person.
    """
    names = {*MESSAGES, "trajectory"}
    return signature == "plain" and not names.isdisjoint(_parameters(function))


def _only(said: Any) -> Any:
    if isinstance(said, (list, tuple)) and len(said) == 1:
        return said[0]
    raise TypeError(f"a list of one reward was expected, not {said!r:.80}")


def _takes_any(function: Any) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def _known(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    names = inspect.signature(function).parameters
    return {key: value for key, value in given.items() if key in names}
