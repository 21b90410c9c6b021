"""From a response to launches, through a driver that has no device: memory, guards, clocks and
recovery are real.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest
from rlenv.model.errors import VerifierFault
from rlenv.model.values import Task
from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.toolchain import missing
from rlenv_plugin_cuda.cases import Case, cases_of
from rlenv_plugin_cuda.clocks import Measured
from rlenv_plugin_cuda.compare import differences
from rlenv_plugin_cuda.golden import golden_of
from rlenv_plugin_cuda.gpu import measuring, process
from rlenv_plugin_cuda.gpu.backend import Gpu
from rlenv_plugin_cuda.gpu.measuring import Gpu as Clock
from rlenv_plugin_cuda.lang_cuda.rules import joined
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.spec import Kernel

pytestmark = [
    pytest.mark.skipif(bool(missing("cuda")), reason="NVRTC is not installed"),
    pytest.mark.skipif(not shutil.which("cc"), reason="there is no compiler of C"),
]
TASK = {
    "lang": "cuda",
    "inputs": [["a", "f4", ["n"]], ["c", "scalar", []]],
    "outputs": [["o", "f4", ["n"]]],
    "golden": "return [a * c]",
    "hidden": [{"n": 300}, {"n": 31}],
    "tol": {"atol": 1e-6, "rtol": 1e-5},
}
BOX = Box("process", {}, "process", 4.0)


def answer(name: str) -> Program:
    text = f"""extern "C" __global__ void {name}(const float* a, float c, float* o, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = a[i] * c;
}}"""
    plan = f"def run(a, c, o):\n    {name}[(o.size + 127) // 128, 128](a, c, o, o.size)\n"
    return Program("cuda", joined(text, plan))


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    library = tmp_path_factory.mktemp("driver") / "libfake.so"
    source = Path(__file__).with_name("fake_cuda.c")
    words = ["cc", "-O1", "-w", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(words, check=True)
    return str(library)


@pytest.fixture
def driver(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOADED", [fake])
    monkeypatch.setattr(process, "_known", {})
    monkeypatch.setattr("rlenv_plugin_cuda.gpu.measuring.RUN_S", 0.3)
    # whoever shares the processor with a test makes its times vary
    monkeypatch.setattr("rlenv_plugin_cuda.speed.SPREAD", 1e9)
    monkeypatch.setattr("rlenv_plugin_cuda.speed.CLOCKS", 1e9)


@pytest.fixture
def kernel() -> Kernel:
    return kernel_of(Task(id="t", prompt="p", info={"kernel": TASK}))


@pytest.fixture
def cases(kernel: Kernel) -> tuple[Case, ...]:
    return cases_of(kernel, bytes(32))


def ran(name: str, kernel: Kernel, cases: tuple[Case, ...]) -> Runs:
    return asyncio.run(Gpu().run(answer(name), kernel, cases, BOX))


def timed(name: str, kernel: Kernel, cases: tuple[Case, ...], baseline: str = "honest") -> Measured:
    largest = [case for case in cases if case.sizes["n"] == 300]
    text = ""
    if baseline:
        source, _, plan = answer(baseline).source.partition("// launch:\n")
        plan = "\n".join(line.removeprefix("// ") for line in plan.splitlines())
        text = f"```cuda\n{source}\n```\n```python\n{plan}\n```\n"
    program = answer(name)
    return asyncio.run(Clock().measure(program, kernel, largest, BOX, baseline=text, cap=4.0))


@pytest.mark.usefixtures("driver")
def test_what_an_honest_kernel_writes_comes_back(kernel: Kernel, cases: tuple[Case, ...]) -> None:
    runs = ran("honest", kernel, cases)
    assert not runs.refused
    assert runs.isolation == "process"
    assert len(runs.trials) == len(cases)
    golden = golden_of(kernel)
    for case, trial in zip(cases, runs.trials, strict=True):
        assert trial.outputs is not None, trial.said
        found = differences(kernel, trial.outputs, golden(case.values, case.sizes))
        assert all(one.equal for one in found)
        assert trial.launched[0].arguments == ("f4[1]", "float", "f4[1]", "int")


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("beyond", "bounds"),
        ("before", "bounds"),
        ("input", "input"),
        ("trap", "trap"),
        ("endless", "endless"),
    ],
)
def test_what_a_kernel_must_not_do_is_its_own_fault_and_the_next_answer_runs(
    name: str, broken: str, kernel: Kernel, cases: tuple[Case, ...]
) -> None:
    runs = ran(name, kernel, cases)
    assert runs.trials[-1].broken == broken, runs.trials[-1]
    assert runs.trials[-1].outputs is None
    after = ran("honest", kernel, cases[:1])
    assert after.trials[0].outputs is not None


@pytest.mark.usefixtures("driver")
def test_a_kernel_that_writes_nothing_gives_back_noise(
    kernel: Kernel, cases: tuple[Case, ...]
) -> None:
    (trial,) = ran("nothing", kernel, cases[:1]).trials
    assert trial.outputs == cases[0].poison


@pytest.mark.usefixtures("driver")
def test_the_speed_of_a_kernel_against_itself_is_about_one(
    kernel: Kernel, cases: tuple[Case, ...]
) -> None:
    found = timed("honest", kernel, cases)
    assert not found.problem
    assert 0.0 <= found.score <= 1.0
    assert found.data["pairs"] >= 10
    assert found.data["gpu"] == "fake"


@pytest.mark.usefixtures("driver")
def test_without_a_baseline_the_speed_of_memory_is_one(
    kernel: Kernel, cases: tuple[Case, ...]
) -> None:
    found = timed("honest", kernel, cases, "")
    assert not found.problem
    assert "memory" in found.detail


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "is not right"),
        ("tired", "is not right"),
        ("input", "input"),
        ("beyond", "beyond the end"),
        ("trap", "trap"),
        ("endless", "endless"),
        ("moody", "is not right"),
    ],
)
def test_nothing_that_cheats_on_a_clock_is_paid(
    name: str, said: str, kernel: Kernel, cases: tuple[Case, ...]
) -> None:
    found = timed(name, kernel, cases)
    assert found.score == 0.0
    assert said in found.problem


def test_no_run_of_an_answer_meets_inputs_that_it_has_seen(cases: tuple[Case, ...]) -> None:
    largest = [case for case in cases if case.sizes["n"] == 300]
    drawn = [case.values["a"].tobytes() for case in [*measuring._sets(largest), *cases]]
    assert len(measuring._sets(largest)) == measuring.WARM + measuring.PAIRS
    assert len(set(drawn)) >= len(drawn) - 1  # of the cases of a run one comes twice


def test_large_inputs_are_used_in_turn(
    cases: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "HELD_BYTES", 1000)
    assert len(measuring._sets(cases[:1])) == measuring.SETS


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("baseline", ["nothing", "trap", "input"])
def test_a_baseline_that_is_wrong_is_nobody_elses_fault(
    baseline: str, kernel: Kernel, cases: tuple[Case, ...]
) -> None:
    with pytest.raises(VerifierFault):
        timed("honest", kernel, cases, baseline)


def test_a_driver_that_is_not_there_is_a_fault_with_the_remedy(
    kernel: Kernel, cases: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LOADED", ["libcuda-that-is-nowhere.so"])
    monkeypatch.setattr(process, "_known", {})
    with pytest.raises(VerifierFault, match="isolation = 'process'") as caught:
        ran("honest", kernel, cases)
    assert caught.value.fault.kind == "unavailable"


@pytest.mark.usefixtures("driver")
def test_a_plan_that_no_device_takes_is_refused_before_anything_is_launched(
    kernel: Kernel, cases: tuple[Case, ...]
) -> None:
    source = answer("honest").source.replace(", 128]", ", 2048]")
    runs = asyncio.run(Gpu().run(Program("cuda", source), kernel, cases, BOX))
    assert "2048" in runs.refused


NUMBA = """from numba import cuda, float32
@cuda.jit
def honest_scale(a, c, t):
    i = cuda.grid(1)
    if i < t.size:
        t[i] = a[i] * c
@cuda.jit
def honest_copy(t, o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = t[i]
def run(a, c, o):
    t = cuda.device_array(o.shape, float32)
    honest_scale[(o.size + 127) // 128, 128](a, c, t)
    honest_copy[(o.size + 127) // 128, 128, 0, 64](t, o)
"""


@pytest.mark.skipif(bool(missing("numba")), reason="the compilers of numba are not installed")
@pytest.mark.usefixtures("driver")
def test_kernels_of_numba_find_their_arguments_and_the_arrays_of_their_plan() -> None:
    kernel = kernel_of(Task(id="t", prompt="p", info={"kernel": {**TASK, "lang": "numba"}}))
    cases = cases_of(kernel, bytes(32))
    runs = asyncio.run(Gpu().run(Program("numba", NUMBA), kernel, cases, BOX))
    assert not runs.refused
    golden = golden_of(kernel)
    for case, trial in zip(cases, runs.trials, strict=True):
        assert trial.outputs is not None, trial.said
        found = differences(kernel, trial.outputs, golden(case.values, case.sizes))
        assert all(one.equal for one in found)
    answered = Clock().measure(
        Program("numba", NUMBA),
        kernel,
        cases[:1],
        BOX,
        baseline=f"```python\n{NUMBA}```\n",
        cap=4.0,
    )
    assert not asyncio.run(answered).problem
