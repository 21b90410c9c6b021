"""CUDA C++ on the CPU: honest kernels are paid, wrong and hostile ones earn 0, and each for the
reason that it has.
"""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from cpp_corpus import KERNEL, PLAN, TASKS, answers
from rlenv import Environment, Task, Verdict
from rlenv.sandbox import ChannelEnded, Exit
from rlenv_plugin_cuda import choosing
from rlenv_plugin_cuda.artifacts import Runs, Trial
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import cases_of
from rlenv_plugin_cuda.gpu.plans import Plan, Step
from rlenv_plugin_cuda.lang_cuda import native
from rlenv_plugin_cuda.lang_cuda.backend import ORDERS, _trial, _trials
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.stages.diff import Diff

pytestmark = pytest.mark.skipif(bool(native.lacking()), reason=native.lacking())
STAGES = [
    {"use": "cuda/compile", "options": {"compiler": "none"}},
    {"use": "cuda/run", "weight": 0, "options": {"budget": 2.0}},
    {"use": "cuda/diff"},
]
HONEST = [*answers("honest-cuda.md"), *answers("honest-cuda-run.md")]
WRONG = [*answers("wrong-cuda-run.md")]
MORE = pytest.mark.slow  # a compiler and a process each
FEW = (  # one of each kind; `make test-full` has all
    "sum: last block",
    "softmax: a warp",
    "matmul: two results",
    "histogram: a byte",
    "scan: Blelloch",
    "vadd: a lock",
    "sum: no barrier in the loop",
    "sum: the barrier of half",
    "sum: shuffles of some",
    "vadd: no guard",
    "vadd: an empty",
    "histogram: bins",
    "vadd: the input",
    "stencil: a local",
    "vadd: a constructor computes",
    "vadd: the channel",
    "vadd: right in the first",
)


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_dict({"name": "kernels", "stage": STAGES}) as made:
        yield made


def some(rows: list[tuple[str, Task, str]]) -> list[Any]:
    """The rows as parameters; all but a few are slow."""
    return [
        pytest.param(*row, id=row[0], marks=[] if row[0].startswith(FEW) else [MORE])
        for row in rows
    ]


def reason(verdict: Verdict) -> str:
    """What stopped a response, as its title in the corpus has it."""
    run = {result.stage: result.outcome for result in verdict.results}.get("run")
    if run is None or "cases" not in run.data:
        return "refused"
    broken: Any = run.data.get("broken", {})
    return next((what for what in broken if what != "skipped"), "wrong")


def response(code: str, plan: str = PLAN) -> str:
    return f"```cuda\n{code}\n```\n\n```python\n{plan}\n```\n"


def vadd(**more: object) -> Task:
    return Task("Add.", info={"kernel": {**TASKS["vadd"], "lang": "cuda", **more}}, id="vadd")


def test_the_corpora_are_as_large_as_is_said() -> None:
    assert len(HONEST) >= 42
    assert len(WRONG) >= 70


@pytest.mark.parametrize(("title", "task", "said"), some(HONEST))
def test_an_honest_kernel_is_paid(env: Environment, title: str, task: Task, said: str) -> None:
    assert (title, env.evaluate(task, said).value) == (title, 1.0)


@pytest.mark.parametrize(("title", "task", "said"), some(WRONG))
def test_a_wrong_kernel_earns_nothing_for_its_reason(
    env: Environment, title: str, task: Task, said: str
) -> None:
    verdict = env.evaluate(task, said)

    assert (verdict.value, title) == (0.0, title)
    assert reason(verdict) in title.rpartition("[")[2].strip("]").split(" or ")


def test_a_verdict_says_what_was_checked_and_where_it_broke(env: Environment) -> None:
    verdict = env.evaluate(vadd(), response(KERNEL.replace("if (i < n) ", "")))
    data: Any = {one.stage: one.outcome for one in verdict.results if one.outcome}["run"].data

    assert (data["backend"], data["line"], data["broken"]["bounds"]) == ("cuda-cpu", 4, 1)
    assert data["checked"]["orders"] == ORDERS
    assert "weak memory" in data["checked"]["missed"]


def test_a_task_of_halves_needs_a_device_and_is_unscored_without(env: Environment) -> None:
    arrays = {"inputs": [["a", "f2", ["n"]], ["b", "f2", ["n"]]], "outputs": [["o", "f2", ["n"]]]}
    verdict = env.evaluate(vadd(**arrays, tol={"rtol": 1e-2}), response(KERNEL))

    assert verdict.value is None
    assert verdict.fault is not None
    assert verdict.fault.kind == "unavailable"


def test_the_same_response_gets_the_same_verdict_again(env: Environment) -> None:
    title, task, said = HONEST[3]
    first, again = (env.evaluate(task, said) for _ in range(2))

    assert (title, first.value, first.results) == (title, again.value, again.results)


def test_without_a_compiler_the_backend_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "apt install g++" in native.lacking()
    assert "g++" in choosing.lacking("cuda", "cpu")
    assert "g++" in choosing.lacking("cuda", "auto")

    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert "x86-64" in native.lacking()


@pytest.mark.parametrize(
    ("here", "dtype", "small", "chosen"),
    [
        ({"cpu"}, "f4", 10, [["cuda-cpu", 3]]),
        ({"cpu", "gpu"}, "f4", 10_000, [["cuda-cpu", 3]]),
        ({"cpu", "gpu"}, "f4", 10, [["cuda-cpu", 1], ["gpu", 2]]),
        ({"cpu", "gpu"}, "f2", 10_000, [["gpu", 3]]),
        ({"gpu"}, "f4", 10_000, [["gpu", 3]]),
    ],
)
def test_the_cpu_has_the_small_cases_and_a_device_the_large_and_the_halves(
    monkeypatch: pytest.MonkeyPatch, here: set[str], dtype: str, small: int, chosen: list[Any]
) -> None:
    absent = {"cpu", "gpu"} - here
    monkeypatch.setattr(choosing, "lacking", lambda _, name: "no" if name in absent else "")
    arrays = {"inputs": [["a", dtype, ["n"]]], "outputs": [["o", dtype, ["n"]]]}
    hidden = [{"n": 1}, {"n": 100}, {"n": 200}]
    kernel = kernel_of(vadd(**arrays, golden="return [a]", hidden=hidden, dists=["normal"]))
    cases = [next(c for c in cases_of(kernel, b"k" * 32) if c.sizes == sizes) for sizes in hidden]
    parts = choosing.chosen("cuda", "auto", cases, small)

    assert [[one.name, len(places)] for one, places in parts] == chosen


SIZES = [4, 8]
RIGHT = bytes(8) + bytes(range(12)) * ORDERS


def trial(frame: bytes) -> Trial:
    return _trial(Trial(0, None), frame, SIZES)


def test_outputs_come_back_once_for_each_order_that_differs() -> None:
    same = trial(RIGHT)
    other = trial(RIGHT[:-1] + b"!")

    assert (same.outputs, same.orders) == ((bytes(range(4)), bytes(range(4, 12))), ())
    assert other.orders == ((bytes(range(4)), bytes(range(4, 11)) + b"!"),)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        bytes(8),
        RIGHT[:-1],
        RIGHT + b"\0",
        b"\2" + RIGHT[1:],
        b"\1" + bytes(7),
        b'{"score": 1}',
    ],
)
def test_a_frame_of_another_form_is_the_answers_loss(frame: bytes) -> None:
    assert (trial(frame).outputs, trial(frame).broken) == (None, "lost")


def test_what_a_process_says_of_itself_is_cut_and_is_only_words() -> None:
    said = trial(struct.pack("<3Q", 1, 1 << 63, 0) + b"x" * 99 + b":" + b"\xff\n" * 999)

    assert (said.outputs, len(said.broken), len(said.said) <= 300) == (None, 40, True)


class Dead:
    """A session whose program ended before it read anything, and what it said before."""

    def __init__(self, said: bytes) -> None:
        self.said = said

    async def send(self, _: bytes) -> None:
        raise ChannelEnded("the program no longer reads")

    async def recv(self, _: int, __: float) -> bytes:
        if not self.said:
            raise ChannelEnded("the program closed its channel, or ended")
        return self.said

    async def finish(self, _: float) -> Exit:
        return Exit(-11, "signal")


@pytest.mark.parametrize(
    ("said", "broken"),
    [(b"", "crash"), (struct.pack("<3Q", 1, 0, 0) + b"shared:too much", "shared")],
    ids=["nothing", "why"],
)
def test_a_program_that_ends_before_it_is_asked_is_the_answers_loss(
    said: bytes, broken: str
) -> None:
    kernel = kernel_of(vadd(hidden=[{"n": 3}], dists=["normal"]))
    cases: Any = [
        (case, Plan((), (Step("k", "", (1, 1, 1), (1, 1, 1), 0, ()),)))
        for case in cases_of(kernel, b"k" * 32)
    ]
    session: Any = Dead(said)
    trials, place = asyncio.run(_trials(session, b"2", ["k"], cases, Box()))

    assert ([one.broken for one in trials], place) == ([broken], 0)


def test_every_order_of_threads_has_to_be_right() -> None:
    task = vadd(hidden=[{"n": 3}], dists=["normal"])
    kernel = kernel_of(task)
    key = b"k" * 32
    cases = cases_of(kernel, key)
    golden = [(case.values["a"] + case.values["b"]).tobytes() for case in cases]
    right = [Trial(place, (want,), orders=[(want,)]) for place, want in enumerate(golden)]
    wrong = [evolve(right[0], orders=[(golden[0],), (bytes(12),)]), *right[1:]]

    class Given:
        task = vadd(hidden=[{"n": 3}], dists=["normal"])
        response = ""

        def __init__(self, trials: list[Trial]) -> None:
            self.runs = Runs("cuda-cpu", trials)

        def get(self, _: type) -> Runs:
            return self.runs

        def key(self) -> bytes:
            return key

    given: list[Any] = [Given(right), Given(wrong)]
    assert [Diff().check(one).score for one in given] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("extern __shared__ float s[];", "float *const s = (float *)rl_dynamic;"),
        (
            "extern __shared__ __align__(16) unsigned char s[];",
            "unsigned char *const s = (unsigned char *)rl_dynamic;",
        ),
        (
            "extern __align__(16) __shared__ T<int> s [ ];",
            "T<int> *const s = (T<int> *)rl_dynamic;",
        ),
        ("extern __shared__\nfloat s[];", "float *const s = (float *)rl_dynamic;\n"),
        ("static __shared__ float s[4];", "       __shared__ float s[4];"),
        ("// extern __shared__ float s[];", "// extern __shared__ float s[];"),
        ("__shared__ float s[4];", "__shared__ float s[4];"),
        (
            "static __shared__ int a; extern __shared__ int b[];",
            "       __shared__ int a; int *const b = (int *)rl_dynamic;",
        ),
    ],
)
def test_shared_arrays_of_a_launchs_size_are_rewritten_on_their_line(
    source: str, made: str
) -> None:
    assert native.rewritten(source) == made


def test_the_header_has_no_file_of_the_system() -> None:
    header = (native.SHIM / native.HEADER).read_text("utf-8")

    assert re.findall(r"#\s*include", header) == []
