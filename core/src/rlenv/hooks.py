"""The contract between rlenv and its plugins, in full.

A plugin is a module named by an entry point in group ``rlenv``; its functions carry
``@rlenv.hookimpl`` and its constant ``RLENV_API = 1`` says which major version of this contract it
was built for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen
from pluggy import HookimplMarker, HookspecMarker

from .model.values import StageResult, Task, Verdict

if TYPE_CHECKING:
    from .compose.composites import Composite
    from .compose.stages import Stages
    from .model.tasks import Tasks

API = 1  # major version of this contract

hookspec = HookspecMarker("rlenv")
hookimpl = HookimplMarker("rlenv")


@frozen
class Examples:
    """Responses whose worth the author is sure of.

    The laws, the audit and ``rlenv check`` use them.

    Args:
        right: (task, response) pairs that pass.
        wrong: (task, response) pairs that do not.
        options: what the stage is built with.
        gate_only: the stage checks a form, so constant responses may pass it.
    """

    right: Sequence[tuple[Task, str]]
    wrong: Sequence[tuple[Task, str]]
    options: Mapping[str, object] = field(factory=dict)
    gate_only: bool = False


@frozen
class Rewrite:
    """A change of a response's text.  ``keeps`` says whether its meaning, and so its score, stays.

    ``apply(task, response)`` returns the new response, or None where the rewrite does not apply.
    """

    name: str
    apply: Callable[[Task, str], str | None]
    keeps: bool


@frozen
class Attack:
    """A known exploit: ``build(task)`` returns a response that must not pass."""

    name: str
    build: Callable[[Task], str]


class EnvironmentView(Protocol):
    """What a hook is told of an environment; an ``Environment`` is one."""

    name: str
    root: Composite
    tasks: Tasks


@hookspec
def rlenv_stages() -> Stages:  # type: ignore[empty-body]
    """Short name → stage class, or ``"module:Class"``, which is imported when it is used."""


@hookspec
def rlenv_parts() -> Mapping[str, Mapping[str, object]]:  # type: ignore[empty-body]
    """``{port: {short name: target}}`` for what plugins share.

    Ports: ``sandbox``, ``constraint``, ``probe``, ``task-source``, ``tool``, ``context``,
    ``store``, ``transport``.
    """


@hookspec
def rlenv_examples() -> Mapping[str, Examples | Sequence[Examples]]:  # type: ignore[empty-body]
    """Short stage name → responses that are surely right and surely wrong."""


@hookspec
def rlenv_rewrites() -> Mapping[str, Sequence[Rewrite]]:  # type: ignore[empty-body]
    """Short stage name → rewrites that keep or change the meaning of a response."""


@hookspec
def rlenv_attacks() -> Mapping[str, Sequence[Attack]]:  # type: ignore[empty-body]
    """Short stage name → known exploits of this archetype."""


@hookspec
def rlenv_stage_finished(env: EnvironmentView, task: Task, result: StageResult) -> None:
    """Observe one stage's result, in the caller's process.

    Only for plugins named in ``observers``.
    """


@hookspec
def rlenv_verdict(env: EnvironmentView, task: Task, response: str, verdict: Verdict) -> None:
    """Observe one verdict, in the caller's process; only for plugins named in ``observers``."""


@hookspec
def rlenv_report_sections(env: EnvironmentView, public: bool) -> Sequence[tuple[str, str]]:  # type: ignore[empty-body]  # noqa: FBT001
    """(title, HTML) of sections for the report of a run, made with its environment.

    ``public`` reports leave this machine.

    The HTML may have tables, lists and SVG with ``fill="var(--ink)"``; scripts, styles, links and
    images are taken out, and classes other than ``note``, ``how``, ``n`` and ``scroll``.  At most
    200,000 characters.
    """
