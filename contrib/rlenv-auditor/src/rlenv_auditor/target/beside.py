"""Verifiers that judge responses side by side: how they are called, and what they say of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from rlenv.compose.functions import READERS
from rlenv.model.errors import ConfigError
from rlenv.model.values import Task, Verdict

from .forms import Group
from .signatures import attempted, awaited

__all__ = ["SIDES", "Sides", "beside", "sider", "sides"]

SIDES = ("pairwise", "group")
Sides = Literal["", "pair", "named pair", "group"]
Judge = Callable[[Task, Group], Sequence[Any]]

FIRST = (
    "a",
    "first",
    "response_a",
    "response_1",
    "left",
    "chosen",
    "completion_a",
    "answer_a",
    "output_a",
)
SECOND = (
    "b",
    "second",
    "response_b",
    "response_2",
    "right",
    "rejected",
    "completion_b",
    "answer_b",
    "output_b",
)
NAMES = ("names", "labels", "slots")
MANY = ("responses", "completions", "candidates", "outputs", "group")
TIE = ("tie", "draw", "both", "neither", "equal", "c")


def sider(function: Callable[..., Any], signature: str) -> Callable[[Task, Any], Any]:
    """``(task, Group) -> {"score", "rewards"}`` for a function that compares.

    Raises:
        ConfigError: the function cannot be called so.
    """
    judge = _pairwise(function) if signature == "pairwise" else _grouped(function)
    return _asking(judge)


def sides(function: Callable[..., Any], signature: str) -> Sides:
    """What it judges: a group, a pair, or a pair whose slots are named by who asks."""
    if signature == "group":
        return "group"
    named = any(name in NAMES for name in inspect.signature(function).parameters)
    return "named pair" if named else "pair"


def beside(
    evaluate_group: Callable[[Task, Sequence[str]], Sequence[Verdict]],
) -> Callable[[Task, Any], Any]:
    """The same for an environment whose stages judge groups."""

    def judge(task: Task, group: Group) -> Sequence[Any]:
        verdicts = evaluate_group(task, list(group.responses))
        broken = next((one.fault for one in verdicts if one.value is None), None)
        if broken is not None:
            raise RuntimeError(f"{broken.kind}: {broken.message}")
        return [one.value for one in verdicts]

    return _asking(judge)


def _asking(judge: Judge) -> Callable[[Task, Any], Any]:
    def ask(task: Task, response: Any) -> Any:
        group = response if isinstance(response, Group) else Group((str(response), ""))
        rewards = [float(one) for one in judge(task, group)]
        if len(rewards) != len(group.responses):
            raise TypeError(f"{len(rewards)} rewards for {len(group.responses)} responses")
        return {"score": rewards[group.of], "rewards": rewards}

    return ask


def _role(name: str) -> str:
    """What a parameter of that name is given; other names stand for themselves."""
    for role, names in (("first", FIRST), ("second", SECOND), ("names", NAMES)):
        if name in names:
            return role
    return name


def _pairwise(function: Callable[..., Any]) -> Judge:
    """``f(prompt, a, b)``: the share of the first in [0, 1], "A", "B" or "tie", or the name of the
    better slot.
    """
    known = {name: _role(name) for name in inspect.signature(function).parameters}
    if not {"first", "second"} <= set(known.values()):
        raise ConfigError(
            f"{function.__qualname__}: a pairwise judge takes two responses, called {FIRST[0]} and"
            f" {SECOND[0]}, or {FIRST[2]} and {SECOND[2]}; it has"
            f" {', '.join(known) or 'no parameters'}"
        )

    def judge(task: Task, group: Group) -> Sequence[Any]:
        a, b = group.responses
        names = list(group.names) or ["A", "B"]
        given = _given(task, known, {"first": a, "second": b, "names": names})
        share = _share(awaited(function(**given)), names)
        return [share, 1.0 - share]

    return judge


def _given(task: Task, known: Mapping[str, str], own: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments: the responses, and what any function may ask for by name."""
    asked = {kind: reader(attempted(task, "")) for kind, reader in READERS.items()} | dict(own)
    return {name: asked[kind] for name, kind in known.items() if kind in asked}


def _share(said: Any, names: Sequence[str]) -> float:
    """Of the first response, in [0, 1]."""
    if isinstance(said, Mapping):
        said = said.get("winner", said.get("better", said.get("score")))
    if isinstance(said, str):
        word = said.strip()
        if word in names or word.upper() in ("A", "B"):
            return float(word == names[0] or (word not in names and word.upper() == "A"))
        if word.casefold() in TIE:
            return 0.5
        raise TypeError(f"a name of {', '.join(names)} or tie was expected, not {said!r:.80}")
    share = float(said)
    if not 0.0 <= share <= 1.0:
        raise TypeError(f"the share of the first response is in [0, 1], not {share!r}")
    return share


def _grouped(function: Callable[..., Any]) -> Judge:
    """``f(prompt, responses) -> one reward for each``."""
    known = {
        name: "many" if name in MANY else name for name in inspect.signature(function).parameters
    }
    if "many" not in known.values():
        raise ConfigError(
            f"{function.__qualname__}: a judge of groups takes a list called {', '.join(MANY[:3])};"
            f" it has {', '.join(known) or 'no parameters'}"
        )

    def judge(task: Task, group: Group) -> Sequence[Any]:
        given = _given(task, known, {"many": list(group.responses)})
        said = awaited(function(**given))
        if not isinstance(said, Sequence) or isinstance(said, (str, bytes)):
            raise TypeError(f"a list of rewards was expected, not {said!r:.80}")
        return said

    return judge
