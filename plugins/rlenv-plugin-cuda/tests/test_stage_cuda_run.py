"""cuda/run: answers on their cases, by the backend that is chosen; and the bad input of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define, field
from rlenv import Environment, Slot, Task, VerifierFault
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Fault, Outcome, Verdict
from rlenv_plugin_cuda import choosing
from rlenv_plugin_cuda.artifacts import Launch, Program, Runs, Trial
from rlenv_plugin_cuda.cases import Case, cases_of
from rlenv_plugin_cuda.examples import VADD, examples, fenced
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.stages.diff import Diff
from rlenv_plugin_cuda.stages.run import Run

KERNEL: Any = VADD.info["kernel"]

RIGHT = examples()["diff"][0].right[0][1]


def settled(env: Environment, task: Task, response: str) -> Verdict:
    """A verdict, asked for again where a busy machine gave no time."""
    for _ in range(4):
        verdict = env.evaluate(task, response)
        if verdict.fault is None or not verdict.fault.transient:
            break
    return verdict


@define
class Played:
    """A backend that plays what it is told."""

    name: str
    why: str = ""
    faults: list[VerifierFault] = field(factory=list)
    asked: list[list[int]] = field(factory=list)
    breaks: int = -1
    refuses: str = ""

    def usable(self) -> str:
        return self.why

    async def run(self, _p: Program, _k: object, cases: Sequence[Case], _b: object) -> Runs:
        if self.faults:
            raise self.faults.pop()
        self.asked.append([case.elements for case in cases])
        if self.refuses:
            return Runs(self.name, refused=self.refuses, line=2)
        trials = [Trial(at, (b"",), launched=(Launch("k"),)) for at in range(len(cases))]
        if self.breaks >= 0:
            trials[self.breaks :] = [Trial(self.breaks, None, "race", "at 257", line=3)]
        return Runs(self.name, trials, isolation="jail")


def played(monkeypatch: pytest.MonkeyPatch, *backends: Played) -> None:
    by_name = {backend.name: backend for backend in backends}
    absent = Played("absent", "not here")
    monkeypatch.setattr(choosing, "backend", lambda _lang, name: by_name.get(name, absent))


def judged(response: str = RIGHT, **options: Any) -> tuple[Outcome, Runs]:
    attempt = Attempt(VADD, response)
    outcome = asyncio.run(Run(**options).check(attempt))
    return outcome, attempt.get(Runs)


def test_small_cases_are_interpreted_and_large_ones_lowered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    interpreter = Played("interpreter")
    njit = Played("njit")
    played(monkeypatch, interpreter, njit)
    outcome, runs = judged(small=800)
    cases = cases_of(kernel_of(VADD), Attempt(VADD, RIGHT).key())

    assert outcome.score == 1.0
    assert outcome.data["backend"] == runs.backend == "interpreter+njit"
    assert max(interpreter.asked[0]) <= 800 < min(njit.asked[0])
    assert [trial.case for trial in runs.trials] == list(range(len(cases)))


def test_a_gpu_is_taken_by_name_and_where_nothing_else_runs_a_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played(monkeypatch, Played("gpu"), Played("interpreter"))
    cases = cases_of(kernel_of(VADD), bytes(32))

    assert judged()[0].data["backend"] == "interpreter"
    assert judged(backend="gpu")[0].data["backend"] == "gpu"
    ((backend, places),) = choosing.chosen("cuda", "auto", cases, 1)
    assert backend.name == "gpu"
    assert places == list(range(len(cases)))
    assert choosing.lacking("triton", "gpu").startswith("backend 'gpu' runs no triton kernels")


def test_without_njit_large_cases_are_interpreted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, Played("interpreter"))

    assert judged(small=1)[0].data["backend"] == "interpreter"


def test_what_nothing_can_run_is_unscored_and_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played(monkeypatch, Played("gpu"), Played("interpreter", "no numpy"))
    with pytest.raises(VerifierFault, match=r"not run: no numpy") as caught:
        judged()

    assert caught.value.fault.kind == "unavailable"


def test_a_machine_that_breaks_for_a_moment_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = VerifierFault(Fault("crash", "lost", transient=True))
    played(monkeypatch, Played("interpreter", faults=[moment, moment]))
    assert judged()[0].score == 1.0

    played(monkeypatch, Played("interpreter", faults=[moment] * 3))
    with pytest.raises(VerifierFault, match="lost"):
        judged()
    played(monkeypatch, Played("interpreter", faults=[VerifierFault(Fault("error", "broken"))]))
    with pytest.raises(VerifierFault, match="broken"):
        judged()


def test_a_kernel_that_breaks_is_worth_nothing_and_the_rest_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played(monkeypatch, Played("interpreter", breaks=2))
    outcome, runs = judged(f"Look:\n\n{RIGHT}")

    assert outcome.score == 0.0
    assert "line 6: race: at …" in outcome.detail
    assert runs.trials[2].broken == "race"
    assert {trial.broken for trial in runs.trials[3:]} == {"skipped"}


def test_what_breaks_when_it_is_interpreted_is_not_lowered_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    njit = Played("njit")
    played(monkeypatch, Played("interpreter", breaks=0), njit)
    outcome, runs = judged(small=800)

    assert outcome.score == 0.0
    assert njit.asked == []
    assert {trial.broken for trial in runs.trials} == {"race", "skipped"}


def test_a_refusal_of_a_backend_is_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, Played("interpreter", refuses="it cannot be lowered"))
    outcome, _ = judged()

    assert (outcome.score, outcome.detail) == (0.0, "line 3: it cannot be lowered")


def test_what_breaks_the_rules_reaches_no_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = Played("interpreter")
    played(monkeypatch, interpreter)
    outcome, runs = judged("```python\nimport os\n```")

    assert (outcome.score, runs.backend, interpreter.asked) == (0.0, "none", [])
    assert outcome.detail.startswith("line 2: `os`")


def test_a_backend_that_is_demanded_and_not_here_is_an_error_at_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played(monkeypatch, Played("gpu", "no GPU: the driver answers nothing"))
    with pytest.raises(
        TaskError, match=r"task 'cuda-vadd': option backend = 'gpu' is demanded .* no GPU"
    ):
        Run(backend="gpu").validate(VADD)
    with pytest.raises(TaskError, match=r"backend 'triton' runs no numba kernels; .*interpreter"):
        Run(backend="triton").validate(VADD)
    with pytest.raises((ValueError, ConfigError)):
        Run(backend="tpu")


def bad(**change: Any) -> Task:
    kernel = {**KERNEL, **change}
    return Task(VADD.prompt, info={"kernel": kernel}, id="odd")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"inputs": [["a", "f3", ["n"]], ["b", "f4", ["n"]]]}, r"inputs\[0\].*'f3'.*f2"),
        ({"hidden": [{"m": 4}]}, r"hidden\[0\].*no size for n, so shapes do not resolve"),
        ({"hidden": [{"n": 0}]}, r"hidden\[0\].*integers from 1"),
        ({"outputs": [["o", "f4", ["n - 300"]]]}, r"hidden\[\d\]: o would have the shape"),
        ({"golden": "return [a / nothing]"}, r"golden: it raises NameError"),
        ({"golden": "return [(a + b)[1:]]"}, r"golden: its output o has the shape \(\d*,?\)"),
        ({"golden": "return [a, b]"}, r"golden: it returns 2 where a list of 1"),
        ({"golden": "return [a +"}, r"golden"),
        ({"golden": "no_such_package:function"}, r"golden.*no_such_package"),
        ({"golden": "return [a + np.random.rand(*a.shape)]"}, r"golden: it is not deterministic"),
        ({"tol": {"atol": 1e9}, "dists": ["normal"]}, r"tol: .*zeros"),
        ({"tol": {"rtol": -1}}, r"tol\.rtol: expected a finite number from 0"),
        ({"dists": ["gauss"]}, r"dists: 'gauss' is not known"),
        ({"lang": "opencl"}, r"lang: 'opencl' is not known; there are: cuda, numba"),
        ({"limits": {"register": 4}}, r"limits\.register: there is no such limit.*registers"),
        ({"limits": {"arch": "hopper"}}, r"limits\.arch: expected such as \"sm_90\""),
        ({"output_init": "ones"}, r"output_init"),
        ({"hiden": []}, r"hiden: there is no such key.*hidden"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused_at_load_with_its_id(
    change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=rf"(?s)task 'odd'.*info\.kernel\.{said}"):
        Environment("odd", [Slot("run", Run()), Slot("diff", Diff())], [bad(**change)])


def test_a_task_without_a_kernel_is_refused_at_load() -> None:
    with pytest.raises(ConfigError, match=r"info\.kernel"):
        Environment("odd", [Slot("run", Run())], [Task("?", id="odd")])


def test_diff_without_run_says_which_stage_is_missing() -> None:
    with pytest.raises(ConfigError, match="needs Runs"):
        Environment("odd", [Slot("diff", Diff())])


def test_a_right_kernel_is_run_in_the_jail_and_the_verdict_names_the_backend() -> None:
    with Environment("real", [Slot("run", Run(), weight=0.0), Slot("diff", Diff())]) as env:
        first = settled(env, VADD, RIGHT)
        again = settled(env, VADD, RIGHT)
        wrong = settled(
            env,
            VADD,
            fenced(
                "@cuda.jit\n"
                "def k(a, o):\n"
                "    o[cuda.grid(1)] = a[0]\n"
                "def run(a, b, o):\n"
                "    k[9, 64](a, o)"
            ),
        )
    outcome = first.results[0].outcome

    assert first.value == 1.0
    assert outcome is not None
    assert outcome.data["backend"] == "interpreter"
    assert outcome.data["isolation"] == "jail"
    assert [r.outcome for r in first.results] == [r.outcome for r in again.results]
    assert wrong.value == 0.0


@pytest.mark.parametrize(
    ("stage", "option", "value", "remedy"),
    [
        ("run", "host", "jailed", "launch their kernels by a plan"),
        ("compile", "host", "jailed", "launch their kernels by a plan"),
        ("run", "backend", "simulator", 'use backend = "interpreter"'),
        ("limits", "backend", "simulator", 'use backend = "interpreter"'),
        ("run", "backend", "interpretor", 'did you mean "interpreter"'),
    ],
)
def test_an_option_that_was_removed_says_what_to_use(
    stage: str, option: str, value: str, remedy: str
) -> None:
    slot = {"use": f"cuda/{stage}", "options": {option: value}}
    with pytest.raises(ConfigError) as caught:
        Environment.from_dict({"name": "old", "stage": [slot]})

    assert f"options.{option}" in str(caught.value)
    assert remedy in str(caught.value)


def test_backends_may_be_named_by_a_file_of_a_stranger() -> None:
    options = {"backend": "interpreter", "host": "plan"}
    config = {"name": "theirs", "stage": [{"use": "cuda/run", "options": options}]}
    with Environment.from_dict(config, code=False) as env:
        assert env.name == "theirs"
