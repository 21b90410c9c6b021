"""``train/reasoning-gym``: the tasks of reasoning-gym and what scores them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import ClassVar, cast

from attrs import field, frozen
from rlenv import Attempt, Outcome, Task
from rlenv.authoring import Safe, Unsafe, plain

from .imported import Imported

_WITH_TUPLES = ("arc_agi", "rearc")  # compare boards of tuples, which JSON makes lists


@frozen(slots=False)
class ReasoningGym(Imported):
    """The score of a data set of reasoning-gym, ``score_answer(answer, entry)``.

    The answer is the visible response without blanks around it.

    Args:
        dataset: the name of the data set, such as ``leg_counting``.
        arguments: the configuration of the data set.
        tag: the tag that the answer is in, such as ``answer``; "" for the whole response.
    """

    requires: ClassVar[tuple[str, ...]] = ("package:reasoning_gym",)

    dataset: Unsafe[str]
    arguments: Unsafe[Mapping[str, object]] = field(factory=dict)
    tag: Safe[str] = ""

    def check(self, attempt: Attempt) -> Outcome | None:
        """The score of the answer."""
        from reasoning_gym.utils import extract_answer

        task = attempt.task
        text = attempt.visible
        entry = {"question": task.prompt, "answer": task.answer, "metadata": dict(task.info)}
        answer = extract_answer(text, self.tag) if self.tag else text.strip()
        found = self.outcome(self.score(answer, entry))
        return found and attempt.with_hidden(found)

    def score(self, answer: str | None, entry: Mapping[str, object]) -> object:
        """The score of an answer to an entry, whose metadata may come from JSON."""
        info = entry["metadata"]
        exact = _tuples(info) if self.dataset in _WITH_TUPLES else info
        return self._score(answer, {**entry, "metadata": exact})

    @cached_property
    def _score(self) -> Callable[..., object]:
        from reasoning_gym import create_dataset

        made = create_dataset(self.dataset, **{"size": 1, **self.arguments})
        return cast("Callable[..., object]", made.score_answer)


def _tuples(value: object) -> object:
    """The value with tuples for lists."""
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


def reasoning_gym_tasks(
    dataset: Unsafe[str],
    size: int = 500,
    seed: int = 0,
    system_prompt: Safe[str] = "",
    **arguments: object,
) -> Iterator[Task]:
    """The tasks of a data set of reasoning-gym.

    Args:
        dataset: its name.
        size: how many tasks.
        seed: what they are drawn from.
        system_prompt: a name in ``reasoning_gym.utils.SYSTEM_PROMPTS``, such as ``default``, or a
            text.
        arguments: further configuration of the data set.
    """
    from reasoning_gym import create_dataset
    from reasoning_gym.utils import SYSTEM_PROMPTS

    made = create_dataset(dataset, size=size, seed=seed, **arguments)
    for number, entry in enumerate(made):
        prompt = entry["question"]
        info = {k: plain(v) for k, v in entry["metadata"].items()}
        if system_prompt:
            said = {"system": SYSTEM_PROMPTS.get(system_prompt, system_prompt), "user": prompt}
            info["messages"] = [{"role": role, "content": text} for role, text in said.items()]
        yield Task(prompt, entry["answer"], info, f"{dataset}-{seed}-{number}")
