"""Triton kernels compiled without a GPU: what they take, and what does not compile is the answer's
doing.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rlenv import Task
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.artifacts import Program, Report
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.lang_triton.build import build
from rlenv_plugin_cuda.lang_triton.where import missing
from rlenv_plugin_cuda.reading import kernel_of

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "triton is here")
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
KERNEL = {
    "lang": "triton",
    "inputs": [["x", "f4", ["n"]]],
    "outputs": [["o", "f4", ["n"]]],
    "golden": "return [x]",
    "hidden": [{"n": 1}, {"n": 64}, {"n": 100}],
    "tol": {"atol": 0, "rtol": 1e-6},
}
ANSWERS: dict[str, tuple[str, str]] = {
    "copies": (
        (
            "@triton.jit\n"
            "def k(x, o, n, B: tl.constexpr):\n"
            "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
            "    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)\n"
            "def run(x, o):\n"
            "    k[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), B=128)\n"
        ),
        "",
    ),
    "shares": (
        (
            "@triton.jit\n"
            "def k(x, o, n):\n"
            "    i = tl.arange(0, 64)\n"
            "    j = i[:, None] * 64 + i[None, :]\n"
            "    t = tl.load(x + j, mask=j < n, other=0.0)\n"
            "    tl.store(o + j, tl.dot(t, tl.trans(t)), mask=j < n)\n"
            "def run(x, o):\n"
            "    k[(1,)](x, o, x.numel(), num_warps=4)\n"
        ),
        "",
    ),
    "spills": (
        (
            "@triton.jit\n"
            "def k(x, o, n, B: tl.constexpr):\n"
            "    i = tl.arange(0, B)\n"
            "    a = tl.load(x + i, mask=i < n)\n"
            "    b = tl.load(x + i + 1, mask=i + 1 < n)\n"
            "    tl.debug_barrier()\n"
            "    tl.store(o + i, a * b, mask=i < n)\n"
            "def run(x, o):\n"
            "    k[(1,)](x, o, x.numel(), B=4096, num_warps=1, maxnreg=32)\n"
        ),
        "",
    ),
    "a block that is no power of two": (
        (
            "@triton.jit\n"
            "def k(x, o):\n"
            "    tl.store(o + tl.arange(0, 100), 1.0)\n"
            "def run(x, o):\n"
            "    k[(1,)](x, o)\n"
        ),
        "power of 2",
    ),
    "a shape that is no constant": (
        (
            "@triton.jit\n"
            "def k(x, o, n):\n"
            "    tl.store(o + tl.arange(0, n), 1.0)\n"
            "def run(x, o):\n"
            "    k[(1,)](x, o, x.numel() + 1)\n"
        ),
        "constexpr",
    ),
    "a global that is no constant of the compiler": (
        (
            "N = 64\n"
            "@triton.jit\n"
            "def k(x, o):\n"
            "    tl.store(o + tl.arange(0, N), 1.0)\n"
            "def run(x, o):\n"
            "    k[(1,)](x, o)\n"
        ),
        "",
    ),
    "more versions than anybody needs": (
        (
            "@triton.jit\n"
            "def k(x, o, B: tl.constexpr):\n"
            "    pass\n"
            "def run(x, o):\n"
            "    for i in range(99):\n"
            "        k[(1,)](x, o, B=i)\n"
        ),
        "fewer",
    ),
    "a refused word": ("import os\ndef run(x, o):\n    pass\n", "cannot be imported"),
}


@pytest.fixture(scope="module")
def reports() -> Any:
    kernel = kernel_of(Task("Write it.", info={"kernel": KERNEL}, id="t"))

    async def all_() -> dict[str, Report]:
        made = {}
        for name, (text, _) in ANSWERS.items():
            made[name] = await build(Program("triton", HEAD + text), kernel, Box(), "sm_90")
        return made

    yield asyncio.run(all_())
    close_all()


def test_registers_shared_memory_and_spills_are_reported(reports: dict[str, Report]) -> None:
    (copies,) = reports["copies"].kernels
    assert (copies.kernel, copies.shared, copies.stack, copies.spill_stores) == ("k", 0, 0, 0)
    assert 4 <= copies.registers <= 32
    (shares,) = reports["shares"].kernels
    assert shares.shared >= 64 * 64 * 4
    (spills,) = reports["spills"].kernels
    assert spills.registers <= 32
    assert spills.spill_stores > 0
    assert spills.stack > 0


def test_what_does_not_compile_is_said_with_its_line(reports: dict[str, Report]) -> None:
    for name, (_, words) in ANSWERS.items():
        if name in ("copies", "shares", "spills"):
            assert not reports[name].problem
            continue
        assert reports[name].problem, name
        assert words in reports[name].problem, reports[name].problem
        assert reports[name].line >= 4
        assert "/" not in reports[name].problem


def test_an_unknown_architecture_is_nobodys_zero() -> None:
    from rlenv.model.errors import VerifierFault

    kernel = kernel_of(Task("Write it.", info={"kernel": KERNEL}, id="t"))
    with pytest.raises(VerifierFault, match="sm_11"):
        asyncio.run(build(Program("triton", HEAD), kernel, Box(), "sm_11"))
