"""How much the tasks of a group differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from attrs import fields, frozen
from rlenv import Environment, Task

from rlenv_train.environments import leaves

from .sampling import shares


@frozen
class Member:
    """One environment of a group.

    Attributes:
        archetypes: the plugins of its stages, such as ``math`` or ``code``; ``function`` for
            functions.
        share: of the samples, in [0, 1].
        families: different kinds of tasks: ``info["family"]``, or else the prompt with every number
            replaced by 0.
        duplicates: tasks whose prompt an earlier task of this environment has, but for case and
            spaces.
        shared: tasks whose prompt a task of another environment has.
    """

    name: str
    archetypes: tuple[str, ...]
    share: float
    tasks: int
    families: int
    duplicates: int
    shared: int


@frozen
class Diversity:
    """What `EnvironmentGroup.diversity` found; ``str`` is a table."""

    members: tuple[Member, ...]

    def __str__(self) -> str:
        names = [field.name for field in fields(Member)]
        rows = [names, *([_cell(getattr(m, name)) for name in names] for m in self.members)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        left = [f"{{:<{w}}}" if at < 2 else f"{{:>{w}}}" for at, w in enumerate(widths)]
        return "\n".join("  ".join(left).format(*row) for row in rows)


def diversity(
    environments: Mapping[str, Environment],
    tasks: Mapping[str, Sequence[Task]],
    ratios: Mapping[str, float],
) -> Diversity:
    """The report of these environments."""
    share = shares(tasks, ratios)
    prompts = {name: Counter(map(_plain, found)) for name, found in tasks.items()}
    owners = Counter(prompt for found in prompts.values() for prompt in found)
    made = []
    for name, found in tasks.items():
        both = sum(n for prompt, n in prompts[name].items() if owners[prompt] > 1)
        families = len(set(map(_family, found)))
        again = len(found) - len(prompts[name])
        kinds = tuple(sorted(set(archetypes(environments[name]))))
        made.append(
            Member(
                name=name,
                archetypes=kinds,
                share=share[name],
                tasks=len(found),
                families=families,
                duplicates=again,
                shared=both,
            )
        )
    return Diversity(tuple(made))


def archetypes(env: Environment) -> Iterator[str]:
    """The plugin of each stage; "function" for what no plugin provides."""
    for _, slot in leaves(env):
        plugin, slash, _ = slot.kind.partition("/")
        yield plugin if slash and ":" not in slot.kind else "function"


def _plain(task: Task) -> str:
    return " ".join(task.prompt.split()).casefold()


def _family(task: Task) -> str:
    named = task.info.get("family")
    return str(named) if named is not None else re.sub(r"\d+(\.\d+)?", "0", _plain(task))


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:.2f}" if isinstance(value, float) else str(value)
