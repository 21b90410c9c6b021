"""Responses that people have graded, and what a judge says to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve, field, fields, frozen
from rlenv import Attempt, ConfigError, Environment, InputError, Slot, Task, Trajectory, Verdict
from rlenv.authoring import File
from rlenv.text import Thinking, visible

from rlenv_plugin_judge.judging import Judging
from rlenv_plugin_judge.stages.pairwise import Pairwise

__all__ = ["Judged", "Labeled", "judge_slot", "judged", "labeled"]


@frozen
class Labeled:
    """One row: the response with its task, its label in [0, 1], its text."""

    task: Task
    response: str | Trajectory
    label: float
    text: str


@frozen
class Judged:
    """Rows that were scored with their scores, how many were not, and both verdicts on every pair.

    ``pairs`` holds (score of the one shown first, score of the same response shown second).
    """

    rows: tuple[Labeled, ...]
    scores: tuple[float, ...]
    unscored: int = 0
    why: str = ""
    pairs: tuple[tuple[float, float], ...] = ()


@frozen(kw_only=True, slots=False)
class _Noting(Pairwise):
    """Pairs whose verdicts are kept order by order."""

    seen: dict[tuple[bytes, str, str], dict[str, float]] = field(init=False, factory=dict, eq=False)

    async def _ordered(self, shown: Attempt, then: Attempt, label: str) -> float:
        score = await super()._ordered(shown, then, label)
        first, second = sorted((shown.response, then.response))
        pair = self.seen.setdefault((shown.task.prompt.encode(), first, second), {})
        pair[label] = score if shown.response == first else 1.0 - score
        return score


def labeled(
    where: str, task: Task, response: str | Trajectory, label: object, thinking: Thinking
) -> Labeled:
    """A response that a person has graded.

    Args:
        where: what a message calls the row, as ``labels.jsonl: row 3``.
        task: the task that was answered.
        response: the response to it.
        label: the grade: a number in [0, 1], or true or false.
        thinking: what of a response judges do not read.

    Raises:
        InputError: naming the row, where the label is none.
    """
    if not isinstance(label, (bool, int, float)) or not 0 <= label <= 1:  # nan is in no interval
        raise InputError(
            f"{where}: label is a number from 0 to 1 or true or false, not {str(label)[:40]!r}"
        )
    text = response if isinstance(response, str) else response.final
    return Labeled(task, response, float(label), visible(text, thinking))


def judge_slot(env: Environment, wanted: str = "") -> Slot:
    """The slot of an environment whose stage is a judge.

    Raises:
        ConfigError: there is none, or ``wanted`` does not say which of several.
    """
    found = {path: slot for path, slot in env.stages.items() if isinstance(slot.stage, Judging)}
    names = ", ".join(found) or "none"
    if wanted and wanted not in found:
        raise ConfigError(f"--stage {wanted}: no judge has this name; there are: {names}")
    if not found:
        raise ConfigError(f"{env.name}: no stage of this environment is a judge (judge/…)")
    if len(found) > 1 and not wanted:
        raise ConfigError(f"{env.name} has several judges: say with --stage which of {names}")
    return found[wanted] if wanted else next(iter(found.values()))


def judged(slot: Slot, labeled: Sequence[Labeled], thinking: Thinking) -> Judged:
    """What the judge alone says, without the calibration that its stage has now."""
    stage = _plain(slot.stage)
    alone = Slot(slot.name, stage, weight=1.0, gate=0.0, timeout=slot.timeout)
    with Environment("calibration", [alone], thinking=thinking) as env:
        if hasattr(stage, "check_group"):
            return _in_groups(env, stage, labeled)
        pairs = [(row.task, row.response) for row in labeled]
        return _gathered(labeled, env.evaluate_many(pairs))


def _plain(stage: object) -> Judging:
    assert isinstance(stage, Judging)  # of a slot that judge_slot found
    if not isinstance(stage, Pairwise):
        return evolve(stage, calibration=File())
    own = {each.name: getattr(stage, each.name) for each in fields(Pairwise) if each.init}
    return _Noting(**{**own, "calibration": ""})


def _in_groups(env: Environment, stage: Judging, labeled: Sequence[Labeled]) -> Judged:
    groups: dict[str, list[Labeled]] = {}
    for row in labeled:
        groups.setdefault(row.task.id or row.task.prompt, []).append(row)
    kept = [group for group in groups.values() if len(group) > 1]
    if not kept:
        raise InputError("pairs need two labeled responses to a task at least; no task has them")
    verdicts = [
        verdict
        for group in kept
        for verdict in env.evaluate_group(group[0].task, [row.response for row in group])
    ]
    found = _gathered([row for group in kept for row in group], verdicts)
    if not isinstance(stage, _Noting):
        return found
    both = [said for said in stage.seen.values() if len(said) == 2]
    return evolve(found, pairs=tuple((said["forth"], said["back"]) for said in both))


def _gathered(labeled: Sequence[Labeled], verdicts: Iterable[Verdict]) -> Judged:
    kept = []
    scores = []
    why = ""
    unscored = 0
    for row, verdict in zip(labeled, verdicts, strict=True):
        if verdict.value is None:
            unscored += 1
            why = why or (verdict.fault.message if verdict.fault else "")
        else:
            kept.append(row)
            scores.append(verdict.value)
    return Judged(tuple(kept), tuple(scores), unscored, why)
