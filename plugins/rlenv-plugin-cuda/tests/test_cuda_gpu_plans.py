"""Plans as lists of launches, what a sandbox says of them, and the reports of compute-sanitizer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from rlenv.model.errors import VerifierFault
from rlenv.model.values import Task
from rlenv_plugin_cuda.artifacts import Program
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.toolchain import missing
from rlenv_plugin_cuda.cases import Case, cases_of
from rlenv_plugin_cuda.gpu import device, sanitizer
from rlenv_plugin_cuda.gpu.backend import Gpu
from rlenv_plugin_cuda.gpu.objects import Objects, _plan, objects
from rlenv_plugin_cuda.gpu.plans import Plan, Step, Wrong, cpp_plan
from rlenv_plugin_cuda.lang_cuda.rules import joined
from rlenv_plugin_cuda.reading import kernel_of

KERNEL = {
    "inputs": [["a", "f4", ["n"]], ["c", "scalar", []]],
    "outputs": [["o", "f4", ["n"]]],
    "golden": "return [a * c]",
    "hidden": [{"n": 257}],
    "tol": {"atol": 1e-6, "rtol": 1e-5},
}
NUMBA = """from numba import cuda, float32
@cuda.jit
def scale(a, t, c):
    i = cuda.grid(1)
    if i < t.size:
        t[i] = a[i] * c
@cuda.jit
def copy(t, o, n, on):
    i = cuda.grid(1)
    if i < n and on:
        o[i] = t[i]
def run(a, c, o):
    t = cuda.device_array(o.shape, float32)
    scale[(o.size + 127) // 128, 128](a, t, c)
    copy[(o.size + 63) // 64, (64, 1), 0, 256](t, o, o.size, True)
"""
CPP = 'extern "C" __global__ void k(const float* a, float c, float* o, int n) { o[0] = a[0] * c; }'
numba = pytest.mark.skipif(
    bool(missing("numba")), reason="the compilers of numba are not installed"
)


def cases(lang: str) -> tuple[Case, ...]:
    task = Task(id="t", prompt="p", info={"kernel": {**KERNEL, "lang": lang}})
    return cases_of(kernel_of(task), bytes(32))


def made(source: str, lang: str = "numba") -> Objects:
    return asyncio.run(objects(Program(lang, source), cases(lang)[:2], Box(), "sm_90"))


@numba
def test_the_launches_of_numba_are_listed_with_their_objects_and_numbers() -> None:
    found = made(NUMBA)
    assert [image[:4] for image in found.images] == [b"\x7fELF"] * 2
    first, second = found.plans[0].steps
    assert (first.kernel, first.grid, first.block, first.types) == (
        "scale", (3, 1, 1), (128, 1, 1), ("f4[1]", "f4[1]", "float"),
    )  # fmt: skip
    assert (second.kernel, second.grid, second.block, second.dynamic) == (
        "copy",
        (5, 1, 1),
        (64, 1, 1),
        256,
    )
    assert [word for word in first.words if isinstance(word, int)] == [0, 2]  # a, and t behind o
    assert [word for word in second.words if isinstance(word, int)] == [2, 1]
    assert found.plans[0].temporaries == (257 * 4,)
    assert first.words[-1] == __import__("struct").pack("<d", cases("numba")[0].values["c"]).hex()
    json.dumps(found.order(0))


@numba
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("128, 128]", "128, 4096]", "4096"),
        ("scale[(o.size + 127) // 128, 128](a, t, c)", "pass", ""),
        ("(a, t, c)\n    copy", "(a, t)\n    copy", "takes 3 arguments"),
        ("def run(a, c, o):", "def run(a, c, o):\n    import os", "import"),
        ("0, 256]", "1, 256]", "stream"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said(old: str, new: str, said: str) -> None:
    source = NUMBA.replace(old, new)
    if not said:
        assert len(made(source).plans[0].steps) == 1
        return
    with pytest.raises(Wrong, match=said):
        made(source)


def forged(**changes: Any) -> dict[str, Any]:
    step = ["k", 0, [1, 32], [["array", 0, "f4", [257]], ["float", "0x1p0"]]]
    return {"temporaries": [["f4", [8]]], "steps": [step], **changes}


def test_what_a_sandbox_says_of_a_plan_is_held_against_what_there_is() -> None:
    case = cases("numba")[0]
    plan = _plan(forged(), case, {"0": (0, "k")})
    assert plan.temporaries == (32,)


@pytest.mark.parametrize(
    "step",
    [
        ["k", 7, [1, 32], []],
        ["k", 0, [1, 32], [["array", 3, "f4", [1]]]],
        ["k", 0, [1, 32], [["array", -1, "f4", [1]]]],
        ["k", 0, [1, 32], [["array", 0, "f9", [1]]]],
        ["k", 0, [1, 32], [["array", 0, "f4", [-1]]]],
        ["k", 0, [1, 32], [["array", 0, "f4", "1"]]],
        ["k", 0, [1, 32], [["float", "one"]]],
        ["k", 0, [1, 32], [["int", str(1 << 70)]]],
        ["k", 0, [1, 1 << 20], []],
        ["k", 0],
        None,
    ],
)
def test_a_forged_plan_is_the_answers_loss(step: Any) -> None:
    with pytest.raises(Wrong):
        _plan(forged(steps=[step]), cases("numba")[0], {"0": (0, "k")})


@pytest.mark.parametrize("size", [1 << 39, -5, 2.5, None])
def test_forged_arrays_are_the_answers_loss(size: Any) -> None:
    with pytest.raises(Wrong):
        _plan(forged(temporaries=[["f4", [size]]]), cases("numba")[0], {"0": (0, "k")})


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("k[1, 32](a, c, o)", "4 arguments"),
        ("k[1, 32](a, c, o, 2.5)", "integer"),
        ("k[1, 32](c, c, o, 1)", "pointer"),
        ("k[1, 32, 0, 1 << 30](a, c, o, 1)", "shared"),
        ("k[0, 32](a, c, o, 1)", "from 1"),
        ("n = o.size", "no kernel"),
        ("for i in range(5000):\n        k[1, 1](a, c, o, 1)", "4096"),
    ],
)
def test_what_is_wrong_with_a_plan_of_cpp_is_said_without_a_compiler(plan: str, said: str) -> None:
    program = Program("cuda", joined(CPP, f"def run(a, c, o):\n    {plan}\n"))
    with pytest.raises(Wrong, match=said):
        cpp_plan(program, cases("cuda")[0])


def test_triton_is_not_launched_and_says_so() -> None:
    with pytest.raises(VerifierFault, match="not launched on a GPU"):
        made("", "triton")


def test_without_a_gpu_the_backend_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    device.absent.cache_clear()
    monkeypatch.setattr(device, "devices", tuple)
    assert "no GPU is here" in Gpu().usable()
    assert "NVIDIA" in sanitizer.missing()
    device.absent.cache_clear()


REPORT = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at k+0x90
=========     by thread (32,0,0) in block (0,0,0)
=========     Address 0x7f is out of bounds
========= Error: Race reported between Write access at k+0x30 and Read access at k+0x60 [4 hazards]
========= Barrier error detected. Divergent thread(s) in block
========= Uninitialized __global__ memory read of size 4 bytes
========= ERROR SUMMARY: 4 errors
"""


def test_reports_of_the_sanitizer_are_read() -> None:
    kinds = [finding.kind for finding in sanitizer.findings("memcheck", REPORT)]
    assert kinds == ["bounds", "race", "barrier", "uninitialized"]


def test_a_clean_report_has_no_findings() -> None:
    clean = "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed\n"
    assert sanitizer.findings("racecheck", clean) == ()


def test_orders_for_the_sanitizer_are_lines() -> None:
    plan = Plan((), (Step("k", "k", (1, 1, 1), (1, 1, 1), 0, (0,)),))
    ready = Objects((b"\x7fELF",), {"k": (0, "k")}, (plan,))
    lines = sanitizer.lines_of(ready, cases("numba")[:1]).splitlines()
    assert [json.loads(line)["do"] for line in lines] == ["load", "run"]
