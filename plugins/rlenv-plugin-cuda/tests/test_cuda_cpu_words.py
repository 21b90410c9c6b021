"""What g++ would take and a compiler of CUDA would not earns nothing, and what both take is
paid.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cpp_corpus import PLAN, TASKS, answers
from rlenv import Environment, Task
from rlenv_plugin_cuda.lang_cuda import native

pytestmark = pytest.mark.skipif(bool(native.lacking()), reason=native.lacking())
WRONG = [*answers("wrong-cuda-words.md")]
HONEST = """#include <cuda_runtime.h>
#define FULL 0xffffffff
#define TWICE(x) \\
  do { \\
    x; \\
  } while (0)
namespace mine {
template <class T> struct alignas(8) Pair {
  T x, y;
  __device__ Pair(T x, T y) : x(x), y(y) {}
  __device__ T sum() const { return x + y; }
};
enum Kind { ONE = (1), TWO };
constexpr int twice(int n) { return 2 * n; }
__device__ __forceinline__ float same(float x) { if (x > 0) { return x; } return x; }
}
static __constant__ float W[2] = {float(0), 1.0f};
extern "C" {
__global__ void k(const float* a, const float* b, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto add = [=](float x, float y) { return mine::Pair<float>(x, y).sum(); };
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
  if (i < n) TWICE(o[i] = mine::same(add(a[i], b[i])) + W[0] + W[mine::twice(0)]);
#endif
}
}
"""


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    stages = [
        {"use": "cuda/compile", "options": {"compiler": "none"}},
        {"use": "cuda/run", "weight": 0},
        {"use": "cuda/diff"},
    ]
    with Environment.from_dict({"name": "kernels", "stage": stages}) as made:
        yield made


@pytest.mark.parametrize(("title", "task", "said"), WRONG, ids=[row[0] for row in WRONG])
def test_a_program_for_hosts_earns_nothing(
    env: Environment, title: str, task: Task, said: str
) -> None:
    verdict = env.evaluate(task, said)
    run = {result.stage: result.outcome for result in verdict.results}.get("run")
    refused = run is None or "cases" not in run.data

    assert (verdict.value, refused) == (0.0, "[refused]" in title)


def test_helpers_that_are_a_device_s_however_they_say_so_are_paid(env: Environment) -> None:
    task = Task("Add.", info={"kernel": {**TASKS["vadd"], "lang": "cuda"}}, id="vadd")
    verdict = env.evaluate(task, f"```cuda\n{HONEST}```\n\n```python\n{PLAN}```\n")

    assert verdict.value == 1.0, verdict
