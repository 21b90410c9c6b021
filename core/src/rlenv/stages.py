"""What a plugin writes: a stage.  Any class with ``phase`` and ``check`` (or ``check_group``) is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, Union, runtime_checkable

from .values import Outcome, Task, Trajectory

PHASES = ("parse", "compile", "execute", "diff", "constrain", "judge")
PLACES = ("worker", "caller", "inline")
DEFAULT_TIMEOUT = 30.0

A = TypeVar("A")


class Attempt:
    """One response under verification.  Typed artifacts travel from stage to stage with it.

    Attributes:
        task: the task, with the answer; for the verifier only.
        response: the text that the policy wrote; of a trajectory, its last assistant message.
        trajectory: the whole conversation, where there is one.
    """

    __slots__ = ("_artifacts", "response", "task", "trajectory")

    def __init__(
        self,
        task: Task,
        response: str,
        trajectory: Trajectory | None = None,
        artifacts: dict[type, Any] | None = None,
    ) -> None:
        self.task = task
        self.response = response
        self.trajectory = trajectory
        self._artifacts = artifacts

    def get(self, kind: type[A]) -> A:
        """The artifact of this type that an earlier stage made.

        Raises:
            LookupError: when none was made.
        """
        artifact = self.find(kind)
        if artifact is None:
            raise LookupError(f"no {kind.__name__} was made by an earlier stage")
        return artifact

    def find(self, kind: type[A]) -> A | None:
        """The artifact of this type, or None."""
        return None if self._artifacts is None else self._artifacts.get(kind)

    def put(self, artifact: object) -> None:
        """Hand an artifact to later stages; its type is its name."""
        if self._artifacts is None:
            self._artifacts = {}
        self._artifacts[type(artifact)] = artifact

    @property
    def artifacts(self) -> Mapping[type, Any]:
        """Everything that was put so far, by type."""
        return self._artifacts or {}

    def key(self) -> bytes:
        """32 bytes drawn from the secret, the task and the response: the seed of random test inputs.

        The same response to the same task always gets the same key; no policy can predict it.
        """
        from .secret import attempt_key

        return attempt_key(self.task, self.response)


@runtime_checkable
class Stage(Protocol):
    """The least a stage has.  Everything else is optional and has the default written here.

    where: "worker" (a killable process, the default), "caller" (async only) or "inline" (bounded by size).
    uses: what it needs of a task, as paths: ("answer", "info.tests").
    at_once: how many of its async checks one worker runs at a time; the clocks of those that wait stand.
    needs, makes: artifact types taken from earlier stages and handed to later ones.
    takes: artifact types it uses where an earlier stage made them, and does without elsewhere.
    default_gate, default_timeout: what its slot gets when it names none.
    deterministic: False for what is measured or sampled.
    validate(task): raises TaskError; runs over all tasks when they load.
    survey(tasks): runs once over all tasks when they are sound; what it returns, one line each, are
        warnings of the environment.
    tells: paths of a task's info that its prompt says too ("info.constraints"), and that are no secret.
    survey_if_alone: True asks for the survey only where no stage of another phase has a say in the value.
    check_group(attempts): one Outcome per attempt, judged together.
    """

    phase: ClassVar[str]

    def check(self, attempt: Attempt, /) -> Outcome | Awaitable[Outcome]: ...


class GroupStage(Protocol):
    """A stage that judges the responses to one task together."""

    phase: ClassVar[str]

    def check_group(
        self, attempts: Sequence[Attempt], /
    ) -> Sequence[Outcome] | Awaitable[Sequence[Outcome]]: ...


AnyStage: TypeAlias = Union[Stage, GroupStage]
StageType: TypeAlias = Callable[..., AnyStage]
Stages: TypeAlias = Mapping[str, Union[StageType, str]]  # "module:Class" defers a heavy import
