"""An environment as a scorer of Inspect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .environments import AnyEnvironment
from .metrics import reason, stage_scores
from .single import Asked, Judge

if TYPE_CHECKING:
    from inspect_ai.scorer import Score, Scorer, Target
    from inspect_ai.solver import TaskState


def inspect_scorer(env: AnyEnvironment, *, id: str = "id") -> Scorer:  # noqa: A002 - the field's name
    """The environment as a scorer of Inspect, whose score of an unscored response is
    ``Score.unscored``.

    The target is the task's answer and the metadata its info.  An environment that has tasks finds
    its own by the sample's id, else by its input.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        id: the key of the metadata that holds the id of a task; without it, it is the sample's id.

    Raises:
        ConfigError: when a stage compares the responses to one task.
    """
    from inspect_ai.scorer import Score, mean, scorer, stderr

    judge = Judge(env, "Inspect", id)

    @scorer(metrics=[mean(), stderr()], name="rlenv")  # type: ignore[untyped-decorator] # Inspect is not installed with rlenv
    def rlenv() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            info = dict(state.metadata)
            if judge.env.tasks and state.sample_id in judge.env.tasks.ids:
                info.setdefault(id, state.sample_id)
            response = state.output.completion
            verdict = await judge.averdict(Asked(state.input_text, response, target.text, info))
            scores = stage_scores(verdict)
            if verdict.value is None:
                why = reason(verdict)
                return Score.unscored(reason="scoring_failed", explanation=why, metadata=scores)
            said = "; ".join(f"{path}: {found:.3g}" for path, found in scores.items())
            return Score(value=verdict.value, answer=response, explanation=said, metadata=scores)

        return score

    return rlenv()
