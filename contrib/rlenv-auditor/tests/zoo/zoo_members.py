"""How a member of the zoo is described: by what is wrong with it, or as sound; and on which tasks
it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import frozen

__all__ = ["MEMBERS", "Member", "broken", "environment", "sound"]

V = TypeVar("V", bound=Callable[..., Any])


@frozen
class Member:
    """One verifier.

    Args:
        name: module:function, as the audit is told.
        hole: what is wrong with it; "" for a sound one.
        tasks: the name of a file of tasks beside this one.
        archetype: what it is taken for; "" where the audit is not told.
        signature: how it is called.
        patience: seconds for a response; a sound verifier is given all that a busy machine needs.
        model: of a judge, its character (see zoo_judges).
    """

    name: str
    hole: str
    tasks: str
    archetype: str = ""
    signature: str = ""
    patience: float = 2.0
    model: str = ""


MEMBERS: list[Member] = []


def broken(
    hole: str,
    tasks: str = "numbers",
    archetype: str = "",
    signature: str = "",
    patience: float = 2.0,
) -> Callable[[V], V]:
    """A verifier with one hole."""
    return _member(hole, tasks, archetype, signature, patience)


def sound(tasks: str = "numbers", archetype: str = "", signature: str = "") -> Callable[[V], V]:
    """A verifier without one, as far as its author knows."""
    return _member("", tasks, archetype, signature, 60.0)


def _member(
    hole: str, tasks: str, archetype: str, signature: str, patience: float
) -> Callable[[V], V]:
    def keep(function: V) -> V:
        name = f"{function.__module__}:{function.__name__}"
        MEMBERS.append(Member(name, hole, tasks, archetype, signature, patience))
        return function

    return keep


def environment(path: str, hole: str = "", model: str = "") -> None:
    """A member that is an env.toml beside this file; sound where it has no hole."""
    MEMBERS.append(Member(path, hole, "", patience=60.0, model=model))
