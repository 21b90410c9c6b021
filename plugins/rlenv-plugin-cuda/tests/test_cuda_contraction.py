"""Every backend that runs kernels on a CPU rounds products that are added as the device's compiler
does: once, or twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment, Task
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.backends.njit import Njit
from rlenv_plugin_cuda.lang_cuda.native import lacking

FMA: dict[str, Any] = {
    "inputs": [["a", "f4", ["n"]], ["x", "f4", ["n"]], ["y", "f4", ["n"]]],
    "outputs": [["o", "f4", ["n"]]],
    "hidden": [{"n": 200}, {"n": 90}],
    "dists": ["normal"],
}
ONCE = "return [a * x + y]"  # nearest numbers of float64, rounded once
TWICE = "return [(a * x).astype(np.float32).astype(float) + y]"
NUMBA = """```python
from numba import cuda, float32
@cuda.jit
def k(a, x, y, o):
    i = cuda.grid(1)
    if i < o.size:
        {}
def run(a, x, y, o):
    k[(o.size + 63) // 64, 64](a, x, y, o)
```
"""
CPP = """```cuda
extern "C" __global__ void k(const float* a, const float* x, const float* y, float* o, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{ {} }}
}}
```

```python
def run(a, x, y, o):
    k[(o.size + 63) // 64, 64](a, x, y, o, o.size)
```
"""
ANSWERS = {
    "numba": (NUMBA, "o[i] = a[i] * x[i] + y[i]", "o[i] = a[i] * x[i] + y[i] + float32(1e-3)"),
    "cuda": (CPP, "o[i] = a[i] * x[i] + y[i];", "o[i] = a[i] * x[i] + y[i] + 1e-3f;"),
}
BACKENDS = [("numba", "interpreter"), ("numba", "njit"), ("cuda", "cpu")]


@pytest.fixture(scope="module", params=BACKENDS, ids="-".join)
def made(request: pytest.FixtureRequest) -> Iterator[tuple[Environment, str]]:
    lang, backend = request.param
    lack = lacking() if lang == "cuda" else Njit().usable()
    if backend != "interpreter" and " fma " not in Path("/proc/cpuinfo").read_text():
        lack = lack or "this processor cannot multiply and add with one rounding"
    if lack:
        pytest.skip(lack)
    stages: list[dict[str, Any]] = [
        {"use": "cuda/compile", "options": {"compiler": "none"}},
        {"use": "cuda/run", "weight": 0, "options": {"backend": backend}},
        {"use": "cuda/diff"},
    ]
    with Environment.from_dict({"name": "contraction", "stage": stages}) as env:
        yield env, lang
    close_all()


def value(made: tuple[Environment, str], golden: str, which: int, **tol: Any) -> float:
    env, lang = made
    frame, *bodies = ANSWERS[lang]
    kernel = {**FMA, "golden": golden, "lang": lang, **({"tol": tol} if tol else {})}
    verdict = env.evaluate(Task("Write it.", info={"kernel": kernel}), frame.format(bodies[which]))
    ran = verdict.results[1].outcome
    assert ran is not None
    assert ran.score == 1.0, ran.detail
    return verdict.reward


@pytest.mark.parametrize("golden", [ONCE, TWICE])
def test_a_product_that_is_added_may_be_rounded_before_or_not(
    made: tuple[Environment, str], golden: str
) -> None:
    assert value(made, golden, 0) == 1.0
    assert value(made, golden, 0, contract=True) == 1.0


def test_a_task_may_say_that_the_device_rounds_it(made: tuple[Environment, str]) -> None:
    assert value(made, ONCE, 0, contract=False) == 0.0
    assert value(made, TWICE, 0, contract=False) == 1.0


def test_a_wrong_sum_is_wrong_both_ways(made: tuple[Environment, str]) -> None:
    assert value(made, ONCE, 1) == 0.0
