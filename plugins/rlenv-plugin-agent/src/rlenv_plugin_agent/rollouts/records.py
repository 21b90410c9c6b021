"""Rollouts as rows of JSON: what ``json.dumps`` writes and ``from_row`` reads again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import asdict, frozen
from rlenv import ConfigError, Outcome, Task, Tokens, Trajectory, Verdict
from rlenv.authoring import Problems, build, plain

from rlenv_plugin_agent.episodes.steps import Stop, Turn
from rlenv_plugin_agent.tools.observations import Call
from rlenv_plugin_agent.tools.subagent import Child

from .single import Rollout

SCHEMA: Literal["rlenv.rollout/1"] = "rlenv.rollout/1"


def to_row(rollout: Rollout) -> dict[str, object]:
    """Return a rollout as a row of JSON values.  It has the answer of the task and all that the
    verdict says: it is for the operator.

    The final state is left out, and values of the task and verdict that JSON does not have become
    text.

    Args:
        rollout: of any environment; ``fingerprint`` of the row is that of its verdict.
    """
    return {
        "schema": SCHEMA,
        "fingerprint": rollout.verdict.fingerprint,
        "task": plain(asdict(rollout.task)),
        "seed": rollout.seed,
        "start": rollout.start,
        "stop": rollout.stop,
        "seconds": rollout.seconds,
        "messages": [plain(each) for each in rollout.trajectory.messages],
        "tokens": tokens_rows(rollout.trajectory.tokens),
        "trace": [plain(each) for each in rollout.trace],
        "verdict": plain(asdict(rollout.verdict)),
        "children": [_child_row(each) for each in rollout.children],
    }


def _child_row(child: Child) -> dict[str, object]:
    messages = [plain(each) for each in child.messages]
    own = asdict(child, recurse=False)
    return {**own, "messages": messages, "tokens": tokens_rows(child.tokens)}


def tokens_rows(tokens: Sequence[Tokens]) -> list[dict[str, object]]:
    """Return the ids and log-probabilities of calls of the policy, as JSON has them.

    Args:
        tokens: of a trajectory; ``plain`` would leave out what is beyond some 500,000 values.
    """
    return [asdict(each, recurse=False) for each in tokens]


@frozen
class _Row:
    """A row as ``to_row`` writes it, with its types."""

    schema: Literal["rlenv.rollout/1"]
    fingerprint: str
    task: Task
    seed: int
    stop: Stop
    seconds: float
    messages: list[dict[str, object]]
    tokens: list[Tokens]
    trace: list[tuple[float, float, int, bool, list[tuple[str, float, str]], list[tuple[str, str]]]]
    verdict: Verdict
    children: tuple[Child, ...]
    start: str = ""


def from_row(row: object) -> Rollout:
    """Return the rollout that ``to_row`` wrote.

    Args:
        row: what ``json.loads`` made of a line.

    Raises:
        ConfigError: it is not such a row; the message says where.
    """
    problems = Problems()
    try:
        made = build(_Row, row, "", problems)
        if not problems.found:
            return _rollout(made)
    except (TypeError, ValueError) as error:
        problems.add("", str(error))
    raise ConfigError(f"not a rollout: {'; '.join(problems.lines())}"[:1000])


def _rollout(row: _Row) -> Rollout:
    """Make a rollout of the row.

    Raises:
        ValueError: a reward or a trajectory that cannot be.
    """
    if row.verdict.value is not None:
        Outcome(row.verdict.value)  # raises for what is no reward
    trace = tuple(
        Turn(
            waited=waited,
            seconds=seconds,
            tokens=tokens,
            exact=exact,
            calls=tuple([Call(*call) for call in calls]),
            marks=tuple(marks),
        )
        for waited, seconds, tokens, exact, calls, marks in row.trace
    )
    trajectory = Trajectory(row.messages, row.tokens)
    return Rollout(
        task=row.task,
        trajectory=trajectory,
        trace=trace,
        verdict=row.verdict,
        stop=row.stop,
        seconds=row.seconds,
        seed=row.seed,
        children=row.children,
        start=row.start,
    )
