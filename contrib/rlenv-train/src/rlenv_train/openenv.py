"""An environment as a rubric of OpenEnv, which has no value for an unscored response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from rlenv import ConfigError, Fault, Verdict, VerifierFault

from .environments import AnyEnvironment
from .metrics import reason
from .single import Asked, Judge

if TYPE_CHECKING:
    from openenv.core.rubrics import Rubric


class Observation(Protocol):
    """What rlenv reads of an observation of OpenEnv."""

    @property
    def metadata(self) -> Mapping[str, object]: ...


def openenv_rubric(
    env: AnyEnvironment,
    *,
    response: str = "message",
    id: str = "id",  # noqa: A002 - the field's name
    is_async: bool = False,
) -> Rubric:
    """The environment as a ``Rubric`` of OpenEnv: ``rubric(action, observation)`` is the reward of
    the action.

    An unscored response raises VerifierFault, so that the step fails.  NaN would pass OpenEnv's
    gates, and clients count a reward of None as 0.

    Args:
        env: an Environment with tasks, the path of an env.toml, or the name of an installed
            environment.
        response: the field of the action that holds the response, a text or messages.
        id: the key of the observation's metadata that holds the id of a task.  Clients see the
            metadata, so nothing else is read there.
        is_async: the rubric is awaited, as ``step_async`` does; otherwise a call waits for the
            verdict.

    Raises:
        ConfigError: when the environment has no tasks, or a stage compares the responses to one
            task.
    """
    from openenv.core.rubrics import Rubric

    judge = Judge(env, "OpenEnv", id)
    if not judge.env.tasks:
        lack = f"{judge.env.name} has no tasks, and what an observation holds is sent to the policy"
        raise ConfigError(f"{lack}; put the tasks into the environment")

    class RlenvRubric(Rubric):  # type: ignore[misc] # OpenEnv is not installed with rlenv
        def forward(self, action: object, observation: Observation) -> float:
            self.last_score = None  # where this response has none, that of another is not shown
            return _reward(judge.verdict(_asked(action, observation, response, id)))

    class AsyncRlenvRubric(Rubric):  # type: ignore[misc] # as above
        async def forward(self, action: object, observation: Observation) -> float:
            self.last_score = None
            asked = _asked(action, observation, response, id)
            return _reward(await judge.averdict(asked))

    return AsyncRlenvRubric() if is_async else RlenvRubric()


def _asked(action: object, observation: Observation, field: str, key: str) -> Asked:
    said = getattr(action, field, None)
    name = observation.metadata.get(key)
    if not isinstance(said, (str, list, tuple)):
        raise ConfigError(f"an action has no text in {field!r}; name its field with response=")
    if name is None:
        raise ConfigError(f"the metadata of an observation has no {key!r}, the id of its task")
    return Asked("", said, info={key: name})


def _reward(verdict: Verdict) -> float:
    if verdict.value is None:
        kind = verdict.fault.kind if verdict.fault else "error"
        raise VerifierFault(Fault(kind, f"the response is unscored: {reason(verdict)}"))
    return verdict.value
