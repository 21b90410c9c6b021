"""How other people's verifiers are called: by the names of their parameters, or as their framework does."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from rlenv.errors import ConfigError
from rlenv.values import Task

__all__ = ["SIGNATURES", "caller"]

Call = Callable[[Task, str], Any]

# What a parameter of a plain function means, by its name.
PROMPT = ("prompt", "question", "problem", "query", "instruction", "input")
RESPONSE = (
    "response",
    "completion",
    "output",
    "solution_str",
    "solution",
    "prediction",
    "text",
    "generation",
    "pred",
)
ANSWER = ("answer", "ground_truth", "gold", "target", "reference", "label", "expected")
INFO = ("info", "extra_info", "metadata", "row", "entry", "doc")


def _plain(function: Callable[..., Any]) -> Call:
    """``f(prompt, response)``, ``f(response, answer)``, …: parameters are known by their names."""
    parameters = inspect.signature(function).parameters.values()
    keywords = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    roles = {p.name: _role(p.name) for p in named}
    unknown = [p.name for p in named if not roles[p.name] and p.default is p.empty]
    if not any(role == "response" for role in roles.values()):
        if len(named) in (2, 3) and len(unknown) == len(named):
            positions = ("prompt", "response", "answer")[: len(named)]
            return lambda task, response: function(
                *(_value(role, task, response) for role in positions)
            )
        raise ConfigError(
            f"{_name(function)}: none of its parameters ({', '.join(roles) or 'it has none'}) is called like a response: "
            f"{', '.join(RESPONSE[:4])}; choose a framework with --as"
        )
    if unknown:
        raise ConfigError(
            f"{_name(function)}: no value is known for its parameter {unknown[0]!r}; choose --as, or wrap it"
        )

    def call(task: Task, response: str) -> Any:
        given: dict[str, Any] = dict(task.info) if keywords else {}
        given |= {name: _value(role, task, response) for name, role in roles.items() if role}
        return function(**given)

    return call


def _role(name: str) -> str:
    for role, names in (
        ("prompt", PROMPT),
        ("response", RESPONSE),
        ("answer", ANSWER),
        ("info", INFO),
    ):
        if name.rstrip("_") in names:
            return role
    return "task" if name == "task" else ""


def _value(role: str, task: Task, response: str) -> Any:
    if role == "info":
        return dict(task.info)
    return {"prompt": task.prompt, "response": response, "answer": task.answer, "task": task}[role]


def _trl(function: Callable[..., Any]) -> Call:
    """TRL's GRPO: ``f(prompts, completions, **columns) -> list``; every column of the data set as a list."""

    def call(task: Task, response: str) -> Any:
        columns = {str(key): [value] for key, value in task.info.items()}
        for name in ("answer", "ground_truth", "solution"):
            if task.answer is not None:
                columns.setdefault(name, [task.answer])
        extra: dict[str, Any] = {
            "completion_ids": [[0] * max(1, len(response) // 4)],
            "trainer_state": None,
        }
        extra |= {"log_extra": lambda *_: None, "log_metric": lambda *_: None}
        given = columns | extra if _takes_any(function) else _known(function, columns | extra)
        return _only(
            _awaited(function(prompts=[_chat(task)], completions=[_reply(task, response)], **given))
        )

    return call


def _chat(task: Task) -> Any:
    return list(task.info["messages"]) if "messages" in task.info else task.prompt


def _reply(task: Task, response: str) -> Any:
    """A conversation gets a conversation back."""
    return [{"role": "assistant", "content": response}] if "messages" in task.info else response


def _verl(function: Callable[..., Any]) -> Call:
    """verl: ``compute_score(data_source, solution_str, ground_truth, extra_info) -> float | {"score": …}``."""

    def call(task: Task, response: str) -> Any:
        given = {
            "data_source": task.info.get("data_source", "audit"),
            "solution_str": response,
            "ground_truth": task.answer,
            "extra_info": {"num_turns": 2, **task.info.get("extra_info", {})},
        }
        said = _awaited(function(**given))
        return said.get("score") if isinstance(said, Mapping) else said

    return call


def _verifiers(function: Any) -> Call:
    """verifiers (v0): a reward function whose parameters are injected by name, or a Rubric."""
    score = getattr(function, "score_rollout", None)

    def names(task: Task, response: str) -> dict[str, Any]:
        prompt = (
            _chat(task) if "messages" in task.info else [{"role": "user", "content": task.prompt}]
        )
        completion = [{"role": "assistant", "content": response}]
        info = dict(task.info)
        state = {
            "prompt": prompt, "completion": completion, "answer": task.answer, "info": info, "task": "audit", "turn": 1,
            "trajectory": [], "timing": {}, "responses": [],
        }  # fmt: skip
        parser = getattr(function, "parser", None)
        return {
            "prompt": prompt, "completion": completion, "answer": task.answer, "state": state, "info": info, "task": "audit",
            "parser": parser, **{k: v for k, v in info.items() if k not in state},
        }  # fmt: skip

    def call(task: Task, response: str) -> Any:
        given = names(task, response)
        if score is not None:
            state = given["state"]
            said = _awaited(score(state))
            return state.get("reward", getattr(said, "reward", said))
        return _awaited(function(**(given if _takes_any(function) else _known(function, given))))

    return call


def _reasoning_gym(dataset: Any) -> Call:
    """reasoning-gym: ``dataset.score_answer(answer, entry)``; the entry is the task's own."""

    def call(task: Task, response: str) -> Any:
        entry = {"question": task.prompt, "answer": task.answer, "metadata": dict(task.info)}
        return dataset.score_answer(answer=response, entry=entry)

    return call


def _inspect(scorer: Any) -> Call:
    """Inspect: an async scorer of a task's state and its target, or the factory that makes one."""
    names = ("model", "scorer", "solver")
    model, scoring, solving = (import_module(f"inspect_ai.{name}") for name in names)
    factory = not inspect.iscoroutinefunction(scorer) and not inspect.signature(scorer).parameters
    made = scorer() if factory else scorer
    number = scoring.value_to_float()

    def call(task: Task, response: str) -> Any:
        target = scoring.Target(_targets(task))
        state = solving.TaskState(
            model=model.ModelName("mockllm/model"), sample_id=task.id or "1", epoch=1, input=task.prompt,
            messages=[model.ChatMessageUser(content=task.prompt)], metadata=dict(task.info), target=target,
            output=model.ModelOutput.from_content("mockllm/model", response),
        )  # fmt: skip
        said = _awaited(made(state, target))
        return None if said is None else number(said.value)

    return call


def _targets(task: Task) -> Any:
    answer = task.answer
    if isinstance(answer, (list, tuple)):
        return [str(one) for one in answer]
    return "" if answer is None else str(answer)


SIGNATURES: Mapping[str, Callable[[Any], Call]] = {
    "plain": _plain, "trl": _trl, "verl": _verl, "verifiers": _verifiers, "reasoning-gym": _reasoning_gym, "inspect": _inspect,
}  # fmt: skip


def caller(function: Any, signature: str) -> Call:
    """``(task, response) -> whatever the verifier returns`` for a function of this signature.

    Raises:
        ConfigError: no such signature, or the function cannot be called so.
    """
    if signature not in SIGNATURES:
        raise ConfigError(f"--as {signature}: there are {', '.join(SIGNATURES)}")
    call = SIGNATURES[signature](function)
    return lambda task, response: _awaited(call(task, response))


def _awaited(said: Any) -> Any:
    if not inspect.isawaitable(said):
        return said

    async def wait() -> Any:
        return await said

    return asyncio.run(wait())


def _only(said: Any) -> Any:
    if isinstance(said, (list, tuple)) and len(said) == 1:
        return said[0]
    raise TypeError(f"a list of one reward was expected, not {said!r:.80}")


def _takes_any(function: Any) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def _known(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    names = inspect.signature(function).parameters
    return {key: value for key, value in given.items() if key in names}


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
