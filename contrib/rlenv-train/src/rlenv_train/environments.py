"""What an adapter takes as its environment, and the stages in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import TypeAlias

from rlenv import Composite, Environment, Slot

AnyEnvironment: TypeAlias = Environment | str | PathLike[str]


def open_environment(env: AnyEnvironment) -> Environment:
    """The environment itself, or the one that a path or an installed name means.

    Raises:
        ConfigError, PluginError: as ``Environment.load`` does.
    """
    return env if isinstance(env, Environment) else Environment.load(str(env))


def leaves(env: Environment) -> Iterator[tuple[str, Slot]]:
    """(path, slot) of every stage that is not a composite; of a group, those of its members, which
    may be groups.
    """
    members: Mapping[str, Environment] | None = getattr(env, "environments", None)
    for member in (members or {}).values():
        yield from leaves(member)
    for path, slot in env.stages.items() if members is None else ():
        if not isinstance(slot.stage, Composite):
            yield path, slot
