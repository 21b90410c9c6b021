"""numba kernels through libNVVM and ptxas in the jail, without a GPU."""

import asyncio
from collections.abc import Callable, Iterator, Mapping

import pytest
from rlenv.model.errors import VerifierFault
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.artifacts import Program, Report, Resources
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building import builder, places, toolchain
from rlenv_plugin_cuda.building.builder import build
from rlenv_plugin_cuda.building.ptx import shapes
from rlenv_plugin_cuda.building.report import worst
from rlenv_plugin_cuda.spec import Array, Kernel

pytestmark = pytest.mark.skipif(bool(toolchain.missing("numba")), reason=toolchain.missing("numba"))
IMPORTS = "import math\nimport numpy as np\nfrom numba import cuda, float32, float64, int32\n"
INPUT = Array("a", "f4", ("n",))
OUTPUT = Array("o", "f4", ("n",))
PLAIN = "i = cuda.grid(1)\nif i < o.size:\n    o[i] = a[i]"
Compile = Callable[..., Report]


def task(*inputs: Array, hidden: tuple[Mapping[str, int], ...] = ({"n": 1}, {"n": 257})) -> Kernel:
    return Kernel("numba", inputs or (INPUT,), (OUTPUT,), "return [a]", hidden=hidden)


def answer(
    body: str, run: str = "k[1, 32](a, o)", jit: str = "", above: str = "", of: str = "a"
) -> str:
    """A program: the body of kernel k(a, o), how it is launched, and what is above it."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    plan = "".join(f"    {line}\n" for line in run.split("\n"))
    return f"{IMPORTS}{above}@cuda.jit{jit}\ndef k(a, o):\n{lines}def run({of}, o):\n{plan}"


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compile]:
    def compile_(
        source: str, kernel: Kernel | None = None, arch: str = "sm_90", **box: float
    ) -> Report:
        given = Box(**box)  # type: ignore[arg-type]
        return asyncio.run(build(Program("numba", source), kernel or task(), given, arch))

    yield compile_
    builder.forget()
    close_all()


def test_a_kernel_is_reported_for_the_types_of_its_launch(compiled: Compile) -> None:
    report = compiled(answer(PLAIN))
    (kernel,) = report.kernels
    assert (report.problem, report.arch, kernel.kernel) == ("", "sm_90", "k")
    assert 8 <= kernel.registers <= 24
    assert (kernel.shared, kernel.stack, kernel.spill_stores) == (0, 0, 0)


def test_shared_arrays_are_counted(compiled: Compile) -> None:
    body = (
        "s, t = cuda.shared.array((16, 17), float32), cuda.shared.array(16, float64)\n"
        "s[0, 0] = a[0]\n"
        "t[0] = 1\n"
        "cuda.syncthreads()\n"
        "o[0] = s[1, 1] + t[1]"
    )
    body = body.replace("s, t = ", "s = ").replace(", cuda.shared", "\nt = cuda.shared")
    assert compiled(answer(body)).kernels[0].shared == 4 * 16 * 17 + 8 * 16


def test_every_architecture_has_its_report(compiled: Compile) -> None:
    assert compiled(answer(PLAIN), arch="sm_80").kernels[0].registers > 0
    assert compiled(answer(PLAIN), arch="sm_80").arch == "sm_80"


@pytest.mark.parametrize(
    "body",
    [
        "o[0] = max(a[0], 0.0)",
        "o[0] = min(a[0], float32(1.0), a[1])",
        "i = cuda.grid(1)\no[min(i, o.size - 1)] = a[max(0, i - 1)]",
        "o[0] = math.erf(a[0]) + math.hypot(a[0], a[1]) + abs(a[0]) + round(a[1]) + a[0] ** 2",
        (
            "o[0] = cuda.shfl_down_sync(0xFFFFFFFF, a[0], 16) + cuda.popc(5) + cuda.fma(a[0], a[1],"
            " a[2])"
        ),
        "cuda.atomic.add(o, 0, a[0])\ncuda.atomic.max(o, 1, a[0])",
        (
            "o[0] = cuda.warpsize + cuda.laneid + cuda.gridsize(1) + cuda.cbrt(a[0]) +"
            " cuda.activemask()"
        ),
        "o[0] = cuda.syncthreads_count(3) + cuda.ballot_sync(0xFFFFFFFF, a[0] > 0) + (5 >> 1) % 2",
        (
            "x = cuda.local.array(8, float32)\n"
            "for j in range(8):\n"
            "    x[j] = a[j]\n"
            "o[0] = x[int32(a[0]) & 7]"
        ),
    ],
)
def test_what_kernels_are_made_of_compiles(compiled: Compile, body: str) -> None:
    report = compiled(answer(body))
    assert report.problem == ""


@pytest.mark.parametrize("dtype", ["f2", "f8", "bf16", "i1", "u2", "i8", "b1", "c8", "c16"])
def test_arrays_of_every_type_are_passed_as_they_are(compiled: Compile, dtype: str) -> None:
    kernel = Kernel(
        "numba",
        (Array("a", dtype, ("n",)),),
        (Array("o", dtype, ("n",)),),
        "return [a]",
        hidden=({"n": 9},),
    )
    assert compiled(answer(PLAIN), kernel).problem == ""


@pytest.mark.parametrize(
    "names", ["float16, boolean, uint8, complex64, types", "float16 as f2, int8 as i1"]
)
def test_types_that_the_rules_know_can_be_imported(compiled: Compile, names: str) -> None:
    report = compiled(answer(PLAIN, above=f"from numba import {names}\n"))
    assert report.problem == "" or "cannot be imported" in report.problem


def test_loops_over_tuples_and_types_in_words_compile(compiled: Compile) -> None:
    body = (
        "s = cuda.shared.array(32, 'float32')\n"
        "for d in STEPS:\n"
        "    for w in (0.5, 0.25):\n"
        "        s[d] = w\n"
        "o[0] = s[1]"
    )
    run = "t = cuda.device_array(a.size, a.dtype)\nfor n in [1, 2]:\n    k[n, 32](t, o)"
    report = compiled(answer(body, run, above="STEPS = (4, 2, 1)\n"))

    assert (report.problem, report.kernels[0].shared) == ("", 128)


def test_fewer_registers_are_paid_for_in_spills(compiled: Compile) -> None:
    body = (
        "i = cuda.grid(1)\n"
        "s = float32(0)\n"
        "for j in range(8):\n"
        "    s += math.sin(a[i + j]) * math.exp(a[i])\n"
        "o[i] = s"
    )
    free = compiled(answer(body)).kernels[0]
    bound = compiled(answer(body, jit="(max_registers=16)")).kernels[0]
    assert bound.registers < free.registers
    assert bound.spill_stores + bound.spill_loads > free.spill_stores + free.spill_loads


def test_fast_mathematics_take_less(compiled: Compile) -> None:
    body = "o[0] = math.sin(a[0])"
    fast = compiled(answer(body, jit="(fastmath=True)")).kernels[0]
    assert fast.registers < compiled(answer(body)).kernels[0].registers


def test_the_worst_of_a_kernels_types_counts(compiled: Compile) -> None:
    one = compiled(answer("o[0] = a[0] / o[1]")).kernels[0]
    run = "k[1, 1](a, o)\nb = cuda.device_array(4, np.float64)\nk[1, 1](b, b)"
    both = compiled(answer("o[0] = a[0] / o[1]", run=run)).kernels[0]
    assert both.registers > one.registers


def test_reports_of_one_kernel_merge_to_the_worst() -> None:
    one = Resources("x", 1, 20, 3, 40, 5, 1024)
    other = Resources("y", 10, 2, 30, 4, 50, None)
    assert worst("k", one, other) == Resources("k", 10, 20, 30, 40, 50, 1024)


def test_a_plan_that_asks_what_a_number_is_hides_no_kernel(compiled: Compile) -> None:
    above = "@cuda.jit\ndef big(a, o):\n    o[0] = math.sin(a[0])\n"
    run = "if c > 0:\n    k[1, 1](a, o)\nelse:\n    big[1, 1](a, o)"
    kernel = task(INPUT, Array("c", "scalar"))
    report = compiled(answer(PLAIN, run=run, above=above, of="a, c"), kernel)
    assert [k.kernel for k in report.kernels] == ["big", "k"]


def test_a_plan_that_asks_for_shapes_hides_no_kernel(compiled: Compile) -> None:
    above = "@cuda.jit\ndef big(a, o):\n    o[0] = math.sin(a[0])\n"
    run = "if a.shape[0] < 200:\n    k[1, 1](a, o)\nelse:\n    big[(a.size + 31) // 32, 32](a, o)"
    assert [k.kernel for k in compiled(answer(PLAIN, run=run, above=above)).kernels] == ["big", "k"]


def test_a_plan_cannot_know_the_numbers_that_it_is_played_through_with(compiled: Compile) -> None:
    above = "@cuda.jit\ndef big(a, o):\n    o[0] = math.sin(a[0])\n"
    guess = " or ".join(f"c == {number}" for number in (1.0, 0.0, -1.0, 2.5, 1e-6, 1e6, 1, 0.5))
    run = f"if {guess}:\n    k[1, 1](a, o)\nelse:\n    big[1, 1](a, o)"
    report = compiled(
        answer(PLAIN, run=run, above=above, of="a, c"), task(INPUT, Array("c", "scalar"))
    )
    assert "big" in [k.kernel for k in report.kernels]


def test_numbers_of_a_plan_are_those_of_the_task_or_drawn() -> None:
    kernel = task(Array("n", "int"), Array("m", "int"), Array("c", "scalar"), hidden=({"n": 5},))
    drawn = shapes(kernel, "a program")
    assert drawn == shapes(kernel, "a program") != shapes(kernel, "another")
    assert {case[0][2] for case in drawn} == {5}
    assert {case[1][2] for case in drawn} <= set(range(1, 16))
    assert all(0.25 <= abs(case[2][2]) <= 2.25 for case in drawn)
    given = Kernel(
        "numba",
        kernel.inputs,
        kernel.outputs,
        "return [a]",
        hidden=({"n": 5},),
        values={"c": 2.0, "m": 7},
    )
    assert shapes(given, "") == [
        [["int", None, 5], ["int", None, 7], ["scalar", None, 2.0], ["f4", [5], None]]
    ]


@pytest.mark.parametrize(
    ("source", "said", "line"),
    [
        (answer("o[0] = a[0] + zzz"), "zzz", 6),
        (answer("o[0] = a[0, 1]"), "numba: ", 6),
        (answer("s = cuda.shared.array(a.size, float32)\ns[0] = 1\no[0] = s[0]"), "", 6),
        (
            answer(
                "s = cuda.shared.array(20000, float32)\n"
                "s[0] = a[0]\n"
                "cuda.syncthreads()\n"
                "o[0] = s[1]"
            ),
            "too much shared data",
            0,
        ),
        (answer(PLAIN, run="x = 1"), "no kernel is launched", 9),
        (answer(PLAIN, of="a, b"), "run takes 3 arguments, and is given 2", 9),
        (answer(PLAIN, run="k[1, 32](a)"), "takes 2 arguments", 0),
        (answer(PLAIN, run="k[1, 32](a, a.shape)"), "", 0),
        (
            answer(PLAIN, run="for i in range(10 ** 15):\n    x = i"),
            "run does not end within 3 s",
            9,
        ),
        (
            answer(PLAIN, run="for i in range(10000):\n    k[1, 32](a, o)"),
            "more than 4096 launches",
            11,
        ),
        (answer(PLAIN, run="x = 1 // (a.size - 1)\nk[1, 32](a, o)"), "run: ZeroDivisionError", 10),
        (answer("import os"), "import", 6),
        (answer("o[0] = a["), "", 6),
    ],
)
def test_what_does_not_compile_says_why_and_where(
    compiled: Compile, source: str, said: str, line: int
) -> None:
    report = compiled(source)
    assert report.problem
    assert said in report.problem
    assert report.kernels == ()
    assert not line or report.line == line
    assert "/" not in report.problem.replace("1 // ", "")


@pytest.mark.parametrize(
    "source",
    [
        answer(PLAIN).replace("def k(a, o)", "def k(a: EVIL, o)"),
        answer(PLAIN).replace("def k(a, o)", "def k(a, o) -> EVIL"),
        answer(PLAIN).replace("def run(a, o)", "def run(a, o: EVIL)"),
        answer("x: EVIL = 1.0\no[0] = x"),
        answer(PLAIN, run="x: EVIL = 1\nk[1, 32](a, o)"),
    ],
)
def test_annotations_are_not_run(compiled: Compile, source: str) -> None:
    forged = "[print(open('/box/kernel_where.py').read()), exit(9)]"
    report = compiled(source.replace("EVIL", forged))
    assert report.kernels or "annotation" in report.problem or "place" in report.problem


def test_a_compiler_that_finds_no_end_costs_its_answer(compiled: Compile) -> None:
    body = "s = float32(0)\n" + "\n".join(f"s += a[{j}] * s" for j in range(1500)) + "\no[0] = s"
    assert compiled(answer(body), budget=0.5).problem == "compiling it takes more than 0.5 s"
    assert compiled(answer(PLAIN)).kernels


def test_compiling_sees_numba_and_none_of_what_lies_beside_it() -> None:
    profile = places.compilers("numba", "jail")
    assert not any(path.endswith(("site-packages", "dist-packages")) for path in profile.paths)
    assert {"numba", "numpy"} <= {path.rpartition("/")[2] for path in profile.paths}
    assert (
        places.compilers("cuda", "jail").paths
        == toolchain.Toolchain(
            nvrtc=toolchain.toolchain().nvrtc, builtins=toolchain.toolchain().builtins
        ).folders
    )


def test_a_compiler_that_cannot_be_loaded_is_no_answers_fault(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = toolchain.toolchain()
    lost = toolchain.Toolchain(
        here.nvrtc, here.builtins, here.libdevice, here.libdevice, here.ptxas
    )
    for module in (builder, places, toolchain):
        monkeypatch.setattr(module, "toolchain", lambda: lost)
    places.compilers.cache_clear()
    try:
        with pytest.raises(VerifierFault, match="libNVVM cannot be used") as caught:
            compiled(answer(PLAIN))
    finally:
        places.compilers.cache_clear()
    assert caught.value.fault.kind == "error"
