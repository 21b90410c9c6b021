"""CUDA C++ through NVRTC in the jail: what the report says, and what no answer can make it say or
do.
"""

import asyncio
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from shutil import which

import pytest
from rlenv.model.errors import VerifierFault
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.artifacts import Program, Report
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building import asking, builder, nvrtc, prelude
from rlenv_plugin_cuda.building.builder import build
from rlenv_plugin_cuda.building.cubin import UNBOUNDED
from rlenv_plugin_cuda.building.prelude import halves
from rlenv_plugin_cuda.building.report import resources
from rlenv_plugin_cuda.building.toolchain import missing, toolchain
from rlenv_plugin_cuda.spec import Array, Kernel

TASK = Kernel(
    "cuda",
    (Array("a", "f4", ("n",)),),
    (Array("o", "f4", ("n",)),),
    "return [a]",
    hidden=({"n": 7},),
)
TILED = """
extern "C" __global__ void __launch_bounds__(256) \
tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float s[16][17], t[16][16];
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    s[threadIdx.y][threadIdx.x] = a[threadIdx.y * n + k + threadIdx.x];
    t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 16; j++) sum += s[threadIdx.y][j] * t[j][threadIdx.x];
    __syncthreads();
  }
  c[threadIdx.y * n + threadIdx.x] = sum;
}
"""
PLAIN = (
    'extern "C" __global__ void k(const float* a, float* o) { o[threadIdx.x] = a[threadIdx.x]; }\n'
)
BODY = """
  float x[128];
  for (int i = 0; i < 128; i++) x[i] = a[i * 1024 + threadIdx.x];
  for (int j = 0; j < 8; j++) for (int i = 0; i < 128; i++) x[i] = x[(i + 1) % 128] * x[i] + a[j];
  float s = 0;
  for (int i = 0; i < 128; i++) s += x[i] * x[127 - i];
"""
pytestmark = pytest.mark.skipif(bool(missing("cuda")), reason=missing("cuda"))
Compile = Callable[..., Report]


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compile]:
    def compile_(source: str, arch: str = "sm_90", **box: float) -> Report:
        return asyncio.run(build(Program("cuda", source), TASK, Box(**box), arch))  # type: ignore[arg-type]

    yield compile_
    builder.forget()
    close_all()


def test_a_kernel_is_reported_as_its_assembler_counts_it(compiled: Compile) -> None:
    report = compiled(TILED)
    (kernel,) = report.kernels
    assert (report.problem, report.arch, kernel.kernel) == ("", "sm_90", "tiled")
    assert kernel.shared == 4 * 16 * (17 + 16)
    assert 20 <= kernel.registers <= 64
    assert (kernel.stack, kernel.spill_stores, kernel.spill_loads) == (0, 0, 0)
    assert kernel.max_threads == 256


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"])
def test_shared_memory_is_counted_without_what_the_system_reserves(
    compiled: Compile, arch: str
) -> None:
    assert compiled(TILED, arch).kernels[0].shared == 2112


def test_registers_that_do_not_suffice_spill(compiled: Compile) -> None:
    source = (
        f'extern "C" __global__ void __launch_bounds__(1024) k(const float* a, float* o) {{ {BODY}'
        " o[threadIdx.x] = s; }"
    )
    (kernel,) = compiled(source).kernels
    assert kernel.registers == 64
    assert min(kernel.stack, kernel.spill_stores, kernel.spill_loads) > 200


@pytest.mark.parametrize("bound", ["__maxnreg__(24)", "__launch_bounds__(1024, 2)"])
def test_bounds_on_registers_are_paid_for_in_spills(compiled: Compile, bound: str) -> None:
    source = (
        f'extern "C" __global__ void {bound} k(const float* a, float* o) {{ {BODY} o[threadIdx.x] ='
        " s; }"
    )
    (kernel,) = compiled(source).kernels
    assert kernel.registers <= 32
    assert kernel.spill_stores > 500


def test_spills_cannot_be_hidden_in_a_function(compiled: Compile) -> None:
    source = (
        f'__device__ __noinline__ float f(const float* a) {{ {BODY} return s; }}\nextern "C"'
        " __global__ void __launch_bounds__(1024) k(const float* a, float* o) { o[threadIdx.x] ="
        " f(a); }"
    )
    (kernel,) = compiled(source).kernels
    assert kernel.spill_stores > 200
    assert kernel.stack > 200


def test_recursion_leaves_the_stack_without_a_bound(compiled: Compile) -> None:
    source = (
        "__device__ __noinline__ float f(float* a, int n) { return n ? f(a, n - 1) + a[n] : a[0];"
        ' }\nextern "C" __global__ void k(float* a, int n) { a[0] = f(a, n); }'
    )
    assert compiled(source).kernels[0].stack == UNBOUNDED


def test_what_nvcc_knows_without_a_file_is_known(compiled: Compile) -> None:
    body = (
        "uint32_t i = threadIdx.x; float m = -INFINITY; m = fmaxf(m, a[i]); o[i] = m + (float)M_PI;"
        " o[0] = FLT_MAX;"
    )
    source = (
        "#include <cuda_runtime.h>\n"
        '#include "math.h"\n'
        "#include <cfloat>\n"
        "typedef unsigned int uint32_t;\n"
        "#define INT_MIN 3\n"
        f'extern "C" __global__ void k(const float* a, float* o) {{ {body} }}\n'
    )
    report = compiled(source)
    assert report.problem == ""
    assert compiled(source + "int x = y;").line == 7


HALF = (
    "#include <cuda_fp16.h>\n"
    '#include "cuda_bf16.h"\n'
    'extern "C" __global__ void k(const half* a, __nv_bfloat16* o) {{ {} }}\n'
)
halved = pytest.mark.skipif(not halves("cuda_bf16.h"), reason="the headers are not installed")


@halved
def test_numbers_of_16_bits_have_their_headers_and_no_macro_of_theirs(compiled: Compile) -> None:
    sums = (
        "half2 v = __halves2half2(a[0], a[1]); o[0] ="
        " __float2bfloat16(__half2float(__hadd(__low2half(v), a[2]) * a[3]));"
    )
    assert compiled(HALF.format(sums)).kernels
    report = compiled("#define add nothing\n" + HALF.format("__HALF_TO_US(a[0]);"))
    assert (report.problem, report.line) == ('identifier "__HALF_TO_US" is undefined', 4)


@halved
def test_headers_that_are_not_installed_are_no_answers_fault(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prelude, "halves", lambda _: "")
    with pytest.raises(VerifierFault, match=r"cuda_fp16\.h is not installed here; pip install"):
        compiled(HALF.format("o[0] = o[1];"))


def test_every_kernel_of_a_program_is_reported(compiled: Compile) -> None:
    source = (
        PLAIN + "template <class T> __global__ void l(T* a) { a[0] = 1; }\ntemplate __global__ void"
        " l<int>(int*);"
    )
    assert [kernel.kernel for kernel in compiled(source).kernels] == ["_Z1lIiEvPT_", "k"]


@pytest.mark.parametrize(
    ("source", "said", "line"),
    [
        ("\n" + PLAIN.replace(";", ""), 'expected a ";"', 2),
        ("__device__ int f() { return 1; }", "0 kernels", 0),
        (PLAIN + '#include "/etc/passwd"\n', "`#include`", 2),
        (
            "__device__ float g(float);\n" + PLAIN.replace("= a[threadIdx.x]", "= g(a[0])"),
            "Unresolved extern",
            0,
        ),
        (
            PLAIN.replace(
                "o[",
                "__shared__ float s[20000]; s[threadIdx.x] = a[0]; __syncthreads(); o[0] ="
                " s[3]; o[",
            ),
            "80000 bytes of static shared memory",
            0,
        ),
        ("".join(PLAIN.replace("k(", f"k{i}(") for i in range(80)), "80 kernels", 0),
    ],
)
def test_what_does_not_compile_says_why_and_where(
    compiled: Compile, source: str, said: str, line: int
) -> None:
    report = compiled(source)
    assert said in report.problem
    assert (report.kernels, report.line) == ((), line)


NVCC = Path(toolchain().ptxas).with_name("nvcc") if toolchain().ptxas else Path("no nvcc")


@pytest.mark.skipif(
    not NVCC.is_file() or not which("g++"), reason="nvcc or its host compiler is not here"
)
def test_a_report_is_what_nvcc_says(compiled: Compile, tmp_path: Path) -> None:
    source = (
        TILED + 'extern "C" __global__ void __launch_bounds__(1024) k(const float* a, float* o) {'
        f" {BODY} o[threadIdx.x] = s; }}"
    )
    path = tmp_path / "k.cu"
    path.write_text(source, "utf-8")
    words = [NVCC, "-cubin", "-arch=sm_90", "-Xptxas", "-v", "-o", path.with_suffix(".cubin"), path]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    theirs = resources(path.with_suffix(".cubin").read_bytes(), done.stderr)
    assert compiled(source).kernels == theirs


FORGED = (
    "ptxas info    : 0 bytes gmem\\nptxas info    : Compiling entry function 'k' for"
    " 'sm_90'\\nptxas info    : Function properties for k\\n    0 bytes stack frame, 0 bytes spill"
    " stores, 0 bytes spill loads\\nptxas info    : Used 1 registers\\n"
)


@pytest.mark.parametrize(
    "prefix",
    [
        (
            f'[[deprecated("{FORGED}")]] __device__ float f() {{ return 1.0f; }}\n__device__ float'
            " g() { return f(); }\n"
        ),
        (
            f'[[nodiscard("{FORGED}")]] __device__ int f() {{ return 1; }}\n__device__ void g() {{'
            " f(); }\n"
        ),
        f'__device__ __attribute__((warning("{FORGED}"))) float f();\n',
        f'__device__ const char* s = "{FORGED}";\n',
    ],
)
def test_no_message_of_an_answer_is_taken_for_the_assemblers(
    compiled: Compile, prefix: str
) -> None:
    assert compiled(prefix + PLAIN).kernels == compiled(PLAIN).kernels


BOMBS = {
    "templates": (
        "template <int A, int B> struct S { static const int v = S<A - 1, B>::v + S<A, B - 1>::v;"
        " };\n"
        "__device__ int x = S<800, 800>::v;\n"
    ),
    "macros": (
        "#define A0 1,1,1,1,1,1,1,1,1,1\n"
        + "".join(f"#define A{i} {','.join([f'A{i - 1}'] * 10)}\n" for i in range(1, 9))
        + "__device__ int x[] = {A8};\n"
    ),
    "constants": (
        "__device__ constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
        "__device__ long x = f(90);\n"
        "__device__ char y[f(90)];\n"
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_cost_their_answer_and_nobody_else(compiled: Compile, name: str) -> None:
    report = compiled(BOMBS[name] + PLAIN, budget=0.5)
    assert report.problem
    assert not report.kernels
    assert compiled(PLAIN).kernels


def test_an_object_may_not_be_endless(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FRAME_BYTES", 1 << 20)
    assert "1 MiB" in compiled("__device__ char x[3 << 19] = {1};\n" + PLAIN).problem


def test_depth_is_no_weapon(compiled: Compile) -> None:
    source = PLAIN.replace("= a[", "= " + "(" * 20_000 + "1" + ")" * 20_000 + " * a[")
    report = compiled(source)
    assert report.kernels or report.problem


def test_a_report_is_kept_by_its_source_and_architecture(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compiled(PLAIN + "// kept")
    monkeypatch.setattr(builder, "_built", None)
    assert compiled(PLAIN + "// kept") is first


def test_an_architecture_that_the_compiler_does_not_know_is_nobodys_answer(
    compiled: Compile,
) -> None:
    with pytest.raises(VerifierFault, match="sm_35 is unknown to the compiler") as caught:
        compiled(PLAIN, "sm_35")
    assert caught.value.fault.kind == "unavailable"


def test_a_compiler_that_breaks_on_everything_is_no_answers_fault(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvrtc, "asked", partial(asking.asked, boot="raise SystemExit(3)"))
    builder.forget()
    with pytest.raises(VerifierFault, match="do not work here"):
        compiled(PLAIN + "// not yet compiled")
