"""Launch plans: what they may say is followed without being executed, and all else is rejected with
its line.
"""

from __future__ import annotations

import ast
import importlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rlenv_plugin_cuda.lang_cuda import rules as cpp
from rlenv_plugin_cuda.lang_cuda.signatures import kernels
from rlenv_plugin_cuda.lang_triton import rules as tri
from rlenv_plugin_cuda.lang_triton.tracing import versions
from rlenv_plugin_cuda.planning.names import Names
from rlenv_plugin_cuda.planning.reading import Grid, Plan
from rlenv_plugin_cuda.planning.rules import check_plan
from rlenv_plugin_cuda.planning.values import Handle, Refused, Trouble
from rlenv_plugin_cuda.planning.worth import Worth

ADD = """extern "C" __global__ void __launch_bounds__(256) \
add(const float* __restrict__ a, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // one element
    if (i < n) o[i] = a[i] + 1.0f;
}
"""
PLAN = "def run(a, o):\n    n = a.size\n    add[(n + 255) // 256, 256](a, o, n)\n"


class Recorder:
    """A host that notes what is asked of it."""

    def __init__(self) -> None:
        self.launches: list[tuple[str, Any, list[Any], dict[str, Any], int]] = []
        self.made: list[tuple[tuple[int, ...], str, float | None]] = []

    def allocate(self, shape: tuple[int, ...], code: str, fill: float | None) -> Handle:
        self.made.append((shape, code, fill))
        return Handle(None, shape, code)

    def fill(self, array: Handle, value: float) -> None:
        self.made.append((array.shape, "filled", value))

    def launch(
        self, kernel: str, shape: Any, args: Sequence[Any], named: Mapping[str, Any], line: int
    ) -> None:
        self.launches.append((kernel, shape, list(args), dict(named), line))


def followed(body: str, *given: Any) -> Recorder:
    """The plan ``def run(x, o): body``, held against the rules and followed."""
    names = Names()
    names.modules.update(
        torch="torch", triton="triton", tl="triton.language", math="math", cuda="cuda"
    )
    names.kernels["k"] = ["x", "o", "n"]
    text = "def run(x, o):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    check_plan(node, names)
    host = Recorder()
    Plan(node, names, host).run(given or (Handle(None, (3, 40), "f4"), Handle(None, (120,), "f2")))
    return host


def test_shapes_strides_and_types_are_known() -> None:
    host = followed(
        "m, n = x.shape\n"
        "t = torch.empty((m, n), dtype=o.dtype, device=x.device)\n"
        "k[(triton.cdiv(x.numel(), 64), m)](t, x.stride(0), x.stride(1), x.size(-1), x.ndim,"
        " n=len(x), num_warps=8)"
    )
    (launch,) = host.launches
    assert launch[1] == (2, 3)
    assert launch[2][1:] == [40, 1, 40, 2]
    assert launch[3] == {"n": 3, "num_warps": 8}
    assert launch[4] == 4
    assert host.made == [((3, 40), "f2", None)]


@pytest.mark.parametrize(
    "grid", ["g = lambda meta: (meta['B'] * 2,)", "def g(meta):\n    return (meta['B'] * 2,)"]
)
def test_a_grid_asks_for_what_a_kernel_is_launched_with(grid: str) -> None:
    host = followed(f"{grid}\nk[g](x, o, n=1)")
    (launch,) = host.launches
    assert isinstance(launch[1], Grid)
    assert launch[1]({"B": 4}) == (8,)


def test_arrays_are_made_filled_and_seen_in_other_shapes() -> None:
    host = followed(
        "a = torch.zeros(4, 5)\n"
        "b = torch.full_like(a, 2.5)\n"
        "c = cuda.device_array((2, 3), torch.int32)\n"
        "o.zero_()\n"
        "k[1](b.view(-1, 2), c.flatten(), 3 if x.is_contiguous() else 4)"
    )
    assert host.made == [
        ((4, 5), "f4", 0),
        ((4, 5), "f4", 2.5),
        ((2, 3), "i4", None),
        ((120,), "filled", 0),
    ]
    (launch,) = host.launches
    assert [handle.shape for handle in launch[2][:2]] == [(10, 2), (6,)]
    assert launch[2][2] == 3


def test_loops_and_branches_launch_again_and_again() -> None:
    host = followed(
        "n = 64\nfor step in range(3):\n    if step != 1:\n        k[n](x, o, step)\n    n //= 2"
    )
    assert [(launch[1], launch[2][2]) for launch in host.launches] == [(64, 0), (16, 2)]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("o[0] = 1", "names only"),
        ("y = x + x", "what arrays hold is for kernels"),
        ("y = x[0]", "only shapes"),
        ("y = int(x[0])", "elements are for kernels"),
        ("y = x.data_ptr()", "cannot be called in a plan"),
        ("y = x.__class__", "knows shape and type"),
        ("y = torch.add(x, x)", "kernels compute"),
        ("y = torch.nn", "has no place in a plan"),
        ("y = open('f')", "cannot be called in a plan"),
        ("y = (lambda: 1)()", "a lambda"),
        ("y = [i for i in range(3)]", "a comprehension"),
        ("y = f'{x}'", "a formatted text"),
        ("import os", "an import"),
        ("while True:\n    pass", "While"),
        ("with x:\n    pass", "with"),
        ("try:\n    pass\nfinally:\n    pass", "try"),
        ("y = k", "no parameter, variable or constant"),
        ("k(x, o)", "cannot be called"),
        ("j[1](x, o)", "only kernels of this answer"),
        ("k[1](*x.shape)", "a star"),
        ("k[1](**x.shape)", "spreads no arguments"),
        ("y = 1 << 999999", "too large"),
        ("y = 9 ** 9 ** 9", "too large"),
        ("y = 3\nfor i in range(400):\n    y = y * y", "too large"),
        ("t = (1,)\nfor i in range(400):\n    t = t + t", "too long"),
        ("for i in range(1 << 60):\n    pass", "steps"),
        ("if x:\n    pass", "no truth"),
        ("m, n, p = x.shape", "names"),
        ("y = torch.empty(-1)", "no shape"),
        ("y = x.view(7)", "not of the shape"),
        ("assert x.shape[0] == 4", "assertion"),
        ("y = 1 // 0", "ZeroDivisionError"),
        ("y = z\nz = 1", "no value yet"),
        ("torch = 3", "something else"),
        ("__x = 3", "two underscores"),
        ("def g(m):\n    n = 1\n    return n", "one return"),
        ("def g(m, n=[]):\n    return 1", "one parameter"),
    ],
)
def test_what_is_more_than_a_plan_is_refused(body: str, words: str) -> None:
    with pytest.raises((Refused, Trouble)) as caught:
        followed(body)
    found = caught.value
    assert isinstance(found, (Refused, Trouble))
    assert words in found.said
    assert 2 <= found.line <= 5


def test_a_plan_of_many_levels_is_not_read() -> None:
    with pytest.raises(Refused, match="levels"):
        followed("y = " + "-" * 200 + "1")


def test_a_cpp_answer_has_kernels_and_a_plan_beside_them() -> None:
    answer = cpp.read(cpp.joined(ADD, PLAN))
    (kernel,) = answer.kernels
    assert (kernel.name, kernel.line) == ("add", 1)
    facts = [(p.name, p.code, p.pointer, p.constant) for p in kernel.parameters]
    assert facts == [("a", "f4", True, True), ("o", "f4", True, False), ("n", "i4", False, False)]
    host = Recorder()
    Plan(answer.plan, answer.names, host).run(
        [Handle(None, (300,), "f4"), Handle(None, (300,), "f4")]
    )
    assert host.launches[0][:2] == ("add", (2, 256))


def test_parameters_of_kernels_are_read_whatever_their_words() -> None:
    found = kernels(
        '/* __global__ void no(int) */ extern "C" {\n'
        "__global__ void __launch_bounds__(128, 2)\n"
        "f(unsigned long long *x, const double y, bool z, half2* h, int (*g)[4]) {} __global__ void"
        " e(void){} }"
    )
    assert [kernel.name for kernel in found] == ["f", "e"]
    assert [(p.name, p.code) for p in found[0].parameters][:4] == [
        ("x", "u8"),
        ("y", "f8"),
        ("z", "b1"),
        ("h", ""),
    ]
    assert not found[1].parameters


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (ADD, "no launch plan"),
        (cpp.joined("int f() { return 1; }", PLAN), "0 kernels"),
        (cpp.joined(ADD + "int main() { add<<<1, 1>>>(0, 0, 0); }", PLAN), "host code"),
        (cpp.joined('#include "/etc/passwd"\n' + ADD, PLAN), "#include"),
        (cpp.joined(ADD + ADD, PLAN), "defined twice"),
        (cpp.joined(ADD, "x = 1"), "no function `run("),
        (cpp.joined(ADD, "def run(a, o):\n  o[0] = 1"), "names only"),
        (cpp.joined(ADD, "import os\ndef run(a, o):\n  pass"), "an import"),
        (cpp.joined(ADD, "def run(a, o):\n  add[1, 1](a.tolist())"), "cannot be called"),
        (cpp.joined(ADD, "def run(a, o):\n  x = 1 + \\\n 2"), "backslash"),
        (cpp.joined(ADD, "def run(a, o:\n"), "no Python"),
        (cpp.joined(ADD, "def run(a, o: print(1)):\n  pass"), "annotated"),
        (cpp.joined(ADD, "def run(a, o) -> exit(0):\n  pass"), "annotated"),
        (cpp.joined(ADD, "def run(a, o):\n  add[1, 32](a, o, 1, 2)"), "takes 3 arguments"),
        (cpp.joined(ADD, "def run(a, o):\n  add[1](a, o, 1)"), "blocks, threads"),
        (cpp.joined("__device__ int calls;\n" + ADD, PLAN), "from launch to launch"),
        (cpp.joined("__device__ float t[4] = {1};\n" + ADD, PLAN), "from launch to launch"),
        (cpp.joined("__device__ const float* p;\n" + ADD, PLAN), "from launch to launch"),
        (cpp.joined(ADD.replace("int i", "static int s; int i"), PLAN), "from launch to launch"),
        (
            cpp.joined("#define S static\n" + ADD.replace("int i", "S int s; int i"), PLAN),
            "from launch to launch",
        ),
        (cpp.joined("__managed__ __align__(8) int m;\n" + ADD, PLAN), "from launch to launch"),
    ],
)
def test_a_cpp_answer_that_is_more_or_less_is_refused(source: str, words: str) -> None:
    with pytest.raises(cpp.Refused) as caught:
        cpp.read(source)
    assert words in caught.value.said
    assert caught.value.line >= 1


def test_versions_of_triton_kernels_are_found_by_shapes_alone() -> None:
    answer = tri.read(
        "import torch\n"
        "import triton\n"
        "import triton.language as tl\n"
        "@triton.autotune(configs=[triton.Config({'B': 32}), triton.Config({'B': 64},"
        " num_warps=8)], key=['n'])\n"
        "@triton.jit\n"
        "def k(x, o, n, s, t, B: tl.constexpr, D: tl.constexpr = 3):\n"
        "    pass\n"
        "def run(x, s, o):\n"
        "    k[(1,)](x, o, x.shape[0], s, None, D=torch.float16)\n"
    )
    cases = [
        [["f4", [n], None], ["scalar", None, 0.5], ["bf16", [n], None]] for n in (1, 32, 33, 34)
    ]
    found = versions(answer, cases, lambda code: f"<{code}>")
    assert len(found) == 6
    assert found[0].signature == {
        "x": "*fp32", "o": "*bf16", "n": "constexpr", "s": "fp32", "t": "constexpr",
        "D": "constexpr", "B": "constexpr",
    }  # fmt: skip
    assert found[0].constants == {"n": 1, "t": None, "D": "<f2>", "B": 32}
    assert found[2].aligned == ("x", "o", "n")
    assert found[3].options == {"num_warps": 8}


def test_reading_rules_imports_no_compiler() -> None:
    for name in ("lang_triton.backend", "lang_triton.build", "lang_cuda.backend"):
        module = importlib.import_module(f"rlenv_plugin_cuda.{name}")
        assert not {"triton", "numpy", "torch"} & set(vars(module))


@pytest.mark.parametrize(
    "before",
    [
        "__device__ __forceinline__ float f(float x) { return x; }",
        "static __device__ float f(float x) { return x; }",
        "__constant__ float c[3] = {1, 2, 3};",
        "__device__ const float c[2] = {1, 2};",
        "static constexpr int N = 3;",
        "template <int N> __device__ int g() { static __shared__ int s[N]; return s[0]; }",
        "struct S { float v; __device__ S operator+(S o) const { return S{v + o.v}; } };",
        "struct S { int v; __device__ S& operator+=(int n) { v += n; return *this; } };",
    ],
)
def test_what_cannot_change_may_stand_in_a_cpp_answer(before: str) -> None:
    answer = cpp.read(cpp.joined(f"{before}\n{ADD}", PLAN))
    assert [kernel.line for kernel in answer.kernels] == [2]


@pytest.mark.parametrize("loop", ["(1, 2)", "[1, 2]", "STEPS", "range(1, 3)"])
def test_plans_of_other_languages_go_over_tuples_too(loop: str) -> None:
    host = followed(f"STEPS = (1, 2)\nfor d in {loop}:\n    k[d, 64](x, o, d)")

    assert [shape for _, shape, *_ in host.launches] == [(1, 64), (2, 64)]


@pytest.mark.parametrize(
    ("given", "code"), [("'int32'", "i4"), ("'u1'", "u1"), ("'float'", "f8"), ("x.dtype", "f4")]
)
def test_plans_of_other_languages_know_types_in_words(given: str, code: str) -> None:
    assert followed(f"t = cuda.device_array(3, {given})").made == [((3,), code, None)]


@pytest.mark.parametrize(
    "macro",
    [
        "DEVICE __device__ __forceinline__",
        "DEVICE static __device__",
        "DEVICE inline __device__ // fast",
    ],
)
def test_a_macro_of_qualifiers_is_read_as_what_it_says(macro: str) -> None:
    source = f"#define {macro}\nDEVICE float f(float x) {{ return x; }}\n{ADD}"

    assert [kernel.line for kernel in cpp.read(cpp.joined(source, PLAN)).kernels] == [3]


@pytest.mark.parametrize(
    "before",
    [
        "#define D __device__\nD float cache[4];",
        "#define S static\n__device__ int f() { S int n; return n++; }",
        "#define D __device__\n#undef D\n#define D\nD float cache[4];",
        "#define D __device__ float\nD cache[4];",
        "#define D(n) __device__ float n\nD(cache)[4];",
    ],
)
def test_a_variable_behind_a_macro_of_qualifiers_is_rejected(before: str) -> None:
    with pytest.raises(Refused):
        cpp.read(cpp.joined(f"{before}\n{ADD}", PLAN))


def test_a_plan_loops_until_it_is_left() -> None:
    host = numba_plan(
        "while True:\n"
        "    n = n // 2\n"
        "    if n == 4:\n"
        "        continue\n"
        "    if n == 1:\n"
        "        break\n"
        "    k[n, 32](o, n)",
        16,
    )
    assert [launch[1] for launch in host.launches] == [(8, 32), (2, 32)]


def test_what_a_language_computes_by_itself_is_its_own() -> None:
    class Own(Worth):
        def binary(self, op: type[ast.operator], left: Any, right: Any) -> Any:
            return (op, left, right)

    host = numba_plan("k[n * 2, 32](o, n)", 3, worth=Own(), constants={"C": 5})
    assert host.launches[0][1] == ((ast.Mult, 3, 2), 32)


def numba_plan(body: str, number: int, **more: Any) -> Recorder:
    """A plan that the rules of numba let through, followed by the one interpreter."""
    text = f"def run(o, n):\n{textwrap.indent(body, '    ')}"
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    host = Recorder()
    Plan(node, Names(), host, **more).run([Handle(None, (9,), "f4"), number])
    return host
