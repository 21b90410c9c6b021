"""Range and contract: what a stage returns, and what it says of itself."""

from __future__ import annotations

import json
import pickle
from typing import Any

from attrs import evolve
from rlenv.compose.composites import Composite, Pipeline, Slot
from rlenv.compose.stages import ATTRIBUTES, attribute, value_problems
from rlenv.engine.plan import Plan
from rlenv.model.errors import RlenvError
from rlenv.model.record import dumps
from rlenv.model.values import StageResult, Task
from rlenv.runtime.pickling import pickled
from rlenv.runtime.serialization import decode_result, encode_result
from rlenv.workers import wire
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict

from rlenv_testing.bench import Bench, Pair, said
from rlenv_testing.drawn import everything
from rlenv_testing.law import broken, case, for_each, law, require, skip
from rlenv_testing.probing import probe
from rlenv_testing.subject import Subject


@law
def test_contract(subject: Subject) -> None:
    """A stage says truthfully what it is, so that environments that name it load and lay it out
    rightly.
    """
    stage = subject.stage
    if not isinstance(stage, Composite):
        phases = {str(attribute(stage, "phase")) for _ in range(3)}
        require(len(phases) == 1, "its phase is another one each time", ("phases", phases))
        _declared(stage)
    try:
        plan = Plan(Pipeline([*_makers(subject), Slot("stage", stage, weight=1.0)]))
    except RlenvError as err:
        broken(f"no environment takes it: {err}")
    for task in subject.tasks:
        problem = plan.check_task(task)
        require(problem is None, f"it refuses a task of its examples: {problem}", ("task", task))
        subject.counted += 1


def _makers(subject: Subject) -> list[Slot]:
    return [Slot(f"before-{i}", stage, weight=0.0) for i, stage in enumerate(subject.before)]


def _declared(stage: Any) -> None:
    declared = {name: getattr(stage, name) for name in ATTRIBUTES if hasattr(stage, name)}
    for problem in value_problems(declared):
        broken(problem)
    uses = declared.get("uses") or ()
    known = ("prompt", "answer", "info", "id", "split")
    paths = all(path.partition(".")[0] in known for path in uses)
    require(paths, "uses is a tuple of paths such as 'answer' and 'info.tests'", ("uses", uses))


@law
def test_range(subject: Subject) -> None:
    """A reward is a finite float in [0, 1]: NaN, True, 1.5 or None would poison a training run."""

    def kept(pair: Pair) -> None:
        result = subject.result(*pair)
        fault = result.fault
        sound = fault is None or fault.kind != "contract"
        require(sound, "it returned no Outcome with a score in [0, 1]", *case(pair, result))

    everything(subject, kept)


@law
def test_serializable(subject: Subject) -> None:
    """What a stage says survives JSON and the pipe to a worker, so that a verdict can be kept and
    replayed.
    """

    @for_each(subject, subject.mixture)
    def _(task: Task, response: str) -> None:
        result = subject.result(task, response)
        outcome = result.outcome
        if outcome is None:
            return
        try:
            json.dumps([outcome.detail, dict(outcome.data), dict(outcome.private)], allow_nan=False)
            whole = verdict_from_dict(json.loads(dumps(verdict_to_dict(_verdict(result)))))
            body = wire.dump(encode_result(result))
            sent = evolve(decode_result(wire.load(body), {result.stage}), children=result.children)
        except Exception as err:  # noqa: BLE001 - data may hold anything
            what = f"its outcome is not made of JSON values: {type(err).__name__}: {err}"
            broken(what, *case((task, response), result))
        same = said(whole.results[0]) == said(result) == said(sent)
        require(same, "its outcome is another one after JSON", *case((task, response), result))


def _verdict(result: StageResult) -> Any:
    from rlenv.model.values import Verdict

    return Verdict(None, (result,))


@law
def test_travels(subject: Subject) -> None:
    """A stage can be sent to a worker and says the same there, so that batches can use every
    core.
    """
    if getattr(subject.stage, "where", "worker") == "caller":
        skip("it runs in the caller's process only")
    try:
        twin = pickle.loads(pickled(subject.stage))  # noqa: S301 - our own bytes
    except Exception as err:  # noqa: BLE001 - pickling runs code of the stage
        broken(f"it cannot be pickled: {type(err).__name__}: {err}")
    other = evolve(subject, stage=twin, memory={})
    subject.bench  # noqa: B018 - no law is checked where no environment takes it
    home = Bench(subject.stage, subject.mixture, before=subject.before, here=True)
    try:
        for pair in subject.mixture[:10]:
            mine = home.result(*pair)
            theirs = other.result(*pair)
            subject.counted += 1
            shown = *case(pair, mine), ("copy", theirs)
            require(_same(subject, mine, theirs), "its copy says something else", *shown)
    finally:
        home.close()
        other.close()


def _same(subject: Subject, one: StageResult, other: StageResult) -> bool:
    return not getattr(subject.stage, "deterministic", True) or said(one) == said(other)


@law
def test_uses(subject: Subject) -> None:
    """What a stage needs of a task is in its ``uses``, so that a task without it is rejected before
    a run.
    """
    if isinstance(subject.stage, Composite):
        skip("a composite uses what its stages use")
    uses = [path.split(".") for path in getattr(subject.stage, "uses", ())]
    heads = {path[0] for path in uses}

    @for_each(subject, subject.right)
    def _(task: Task, response: str) -> None:
        bare = _bare(task, uses)
        if bare == task:
            return
        before = subject.result(task, response)
        after = subject.result(bare, response, task)
        missing = "answer" if "answer" not in heads and task.answer is not None else "info"
        same = missing == "info" or (after.outcome and after.outcome.score) == (
            before.outcome and before.outcome.score
        )
        faulted = after.fault is not None and before.fault is None
        what = f"it needs task.{missing}, which it does not name in uses"
        require(same and not faulted, what, *case((bare, response), after))


def _bare(task: Task, uses: list[list[str]]) -> Task:
    heads = {path[0] for path in uses}
    keys = {path[1] for path in uses if path[0] == "info" and len(path) > 1}
    kept = (
        task.info
        if ["info"] in uses
        else {key: value for key, value in task.info.items() if key in keys}
    )
    return evolve(task, answer=task.answer if "answer" in heads else None, info=kept)


@law
def test_artifacts(subject: Subject) -> None:
    """A stage puts the artifacts it makes and takes those it needs, so that the order of a pipeline
    is checked truly.
    """
    if isinstance(subject.stage, Composite):
        skip("a composite makes what its stages make")
    stage = subject.stage
    if not hasattr(stage, "check") or getattr(stage, "where", "worker") == "caller":
        skip("only plain checks can be watched")
    makes = {kind.__qualname__ for kind in getattr(stage, "makes", ())}
    needs = {kind.__qualname__ for kind in getattr(stage, "needs", ())}
    seen = probe(subject)
    took = seen.got - makes - {kind.__qualname__ for kind in getattr(stage, "takes", ())}
    for what, odd in (
        ("it puts an artifact that it does not name in makes", seen.put - makes),
        ("it never puts an artifact that it names in makes", makes - seen.put),
        ("it takes an artifact that it does not name in needs", took - needs),
        ("it never takes an artifact that it names in needs", needs - seen.got),
    ):
        require(not odd, what, ("artifacts", sorted(odd)))
