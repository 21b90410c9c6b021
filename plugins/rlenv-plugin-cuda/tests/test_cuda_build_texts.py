"""What is read and refused without a compiler: sources, logs, complaints, objects."""

import struct

import pytest
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_cuda.building.cpp_rules import SOURCE_BYTES, refused
from rlenv_plugin_cuda.building.cubin import BadCubin, entries
from rlenv_plugin_cuda.building.log import said
from rlenv_plugin_cuda.building.scrub import complaint

KERNEL = 'extern "C" __global__ void k(float* a) { a[threadIdx.x] = 1.0f; }\n'

HONEST = {
    "plain": KERNEL,
    "macros": "#define N 16\n#if N > 8\n# define M (N / 2)\n#else\n#define M N\n#endif\n" + KERNEL,
    "a macro over lines": "#define ADD(a, b) \\\n  ((a) + \\\n   (b))\n" + KERNEL,
    "pragmas": "#pragma once\n" + KERNEL + "// \n#pragma unroll 4\n# pragma nounroll\n",
    "words in comments": '// asm, #include <x>, __has_include and R"(\n/* ## _Pragma */' + KERNEL,
    "words in strings": '__device__ const char* s = "#include \\"x\\" asm ## __TIME__";\n' + KERNEL,
    "numbers": "__device__ int x = 1'000'000; __device__ float y = 1.5e-3f, z = 0x1p-4f;" + KERNEL,
    "letters": "__device__ char c = '\\'', d = '\"', e = '#';\n" + KERNEL,
    "an empty directive": "#\n" + KERNEL,
    "lines of Windows": KERNEL.replace("\n", "\r\n"),
    "words that only begin so": "__device__ int asm_count, has_include, R2; " + KERNEL,
    "usual headers": (
        '#include <cuda_runtime.h>\n # include "math.h" // yes\n#include<cstdint>/* */\n' + KERNEL
    ),
    "a stringizing hash": "#define S(x) #x\n" + KERNEL,
    "other letters in a comment": "// größe ∑\n" + KERNEL,
}

ATTACKS = {
    "include": '#include "/etc/passwd"\n',
    "include of a header": "#include <cub/cub.cuh>\n",
    "include of ours": '#include "rlenv.h"\n',
    "include of two": "#include <cmath> <math.h>\n",
    "include of a way to one": '#include "../cmath"\n#include <x/../cmath>\n',
    "include of one, unlike": '#include <cmath"\n',
    "include of one, by a macro": "#define H <cmath>\n#include H\n",
    "include of nothing": "#include\n",
    "include of one, joined to more": "#include <cmath>\\\n.h\n",
    "space": '  #  include "x"\n',
    "comment before": '/* */ #/* */include "x"\n',
    "comment over lines": '/*\n*/ #include "x"\n',
    "joined": '#inc\\\nlude "x"\n',
    "joined twice": '#in\\\nc\\\nlude "x"\n',
    "joined with a space": '#inc\\ \nlude "x"\n',
    "digraph": '%:include "x"\n',
    "digraph, joined": '%\\\n:include "x"\n',
    "trigraph": '??=include "x"\n',
    "trigraph for a joining": '#inc??/\nlude "x"\n',
    "include_next": '#include_next "x"\n',
    "import": '#import "x"\n',
    "embed": '__device__ char x[] = {\n#embed "x"\n};\n',
    "line": '#line 7 "/etc/shadow"\n',
    "line marker": '# 7 "/etc/shadow"\n',
    "error": "#error ptxas info    : Used 1 registers\n",
    "warning": "#warning x\n",
    "ident": '#ident "x"\n',
    "message": '#pragma message("ptxas info    : Used 1 registers")\n',
    "message by operator": '_Pragma("message(\\"x\\")")\n',
    "message by a macro": '#define P _Pragma\nP("message(\\"x\\")")\n',
    "has_include": '#if __has_include("/etc/passwd")\n#endif\n',
    "has_include by a macro": '#define H __has_include\n#if H("/etc/passwd")\n#endif\n',
    "has_include, pasted": '#define C(a, b) a##b\n#if C(__has_, include)("/etc/passwd")\n#endif\n',
    "has_include, pasted by digraphs": "#define C(a, b) a%:%:b\n",
    "has_embed": '#if __has_embed("/etc/passwd")\n#endif\n',
    "asm": '__device__ void f() { asm(".file 1 \\"/etc/passwd\\""); }\n',
    "asm, joined": '__device__ void f() { as\\\nm("x"); }\n',
    "asm by another name": '__device__ void f() { __asm__ volatile("x"); }\n',
    "asm in a macro": '#define A asm\n__device__ void f() { A("x"); }\n',
    "asm, pasted": "#define A a##s##m\n",
    "time": '__device__ const char* t = __TIME__;\n',
    "raw string": 'R"(\n)"\n#include "x"\n',
    "raw string with a prefix": 'u8R"x(\n)x"\n',
    "string without an end": '__device__ const char* s = "\n#include "x"\n',
    "comment without an end": "/* \n",
    "letter without an end": "'\n",
    "carriage return": '#define A \r#include "x"\n',
    "vertical tab": '#\x0binclude "x"\n',
    "form feed": '\x0c#include "x"\n',
    "zero": '#inc\x00lude "x"\n',
    "escape": "\x1b[2J\n",
    "too long": "/" * SOURCE_BYTES + "/\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_honest_sources_meet_the_compiler(name: str) -> None:
    assert refused(HONEST[name]) is None


@pytest.mark.parametrize("name", ATTACKS)
def test_what_reaches_for_files_or_leaves_the_language_does_not(name: str) -> None:
    found = refused(KERNEL + ATTACKS[name])
    assert found is not None
    assert found[1]


def test_a_refusal_names_the_line_as_it_was_written() -> None:
    assert refused("int a; \\\n int b; \\\n int c;\n\n  #line 7\n") == (
        5,
        "`#line` has no place in a kernel: its lines are its own",
    )


@pytest.mark.parametrize(
    "unit", ["#\n", "/*", '"', "'", "# \\\n", "/**/#", "%:", "??", "\\\n", "1'"]
)
def test_reading_a_source_takes_time_in_proportion(unit: str) -> None:
    refused(unit * (SOURCE_BYTES // len(unit)))
    assert_linear(refused, unit)


@given(st.text(max_size=200))
@settings(max_examples=50, deadline=None)
def test_any_text_is_refused_or_not(text: str) -> None:
    found = refused(text)
    assert found is None or 1 <= found[0] <= text.count("\n") + 1


LOG = """kernel.cu(3): remark: whatever an answer makes the compiler say
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 1 registers, used 0 barriers
ptxas info    : 3 bytes gmem, 16 bytes cmem[3]
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
ptxas         .     544 bytes stack frame, 800 bytes spill stores, 900 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 1088 bytes smem, 380 bytes cmem[0]
ptxas info    : Compile time = 3.843 ms
ptxas info    : Function properties for _Z1fPf
ptxas         .     16 bytes stack frame, 88 bytes spill stores, 24 bytes spill loads
ptxas info    : Compiling entry function 'l' for 'sm_90'
ptxas info    : Function properties for l
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
"""


def test_only_the_end_of_the_assemblers_output_is_read() -> None:
    found = said(LOG)
    assert set(found) == {"k", "l"}
    assert (found["k"].registers, found["k"].shared) == (64, 1088)
    assert (found["l"].registers, found["l"].spill_stores) == (12, 0)


def test_the_spills_of_a_function_count_for_the_kernel_that_calls_it() -> None:
    assert (said(LOG)["k"].spill_stores, said(LOG)["k"].spill_loads) == (888, 924)


def test_a_log_without_an_assembler_says_nothing() -> None:
    assert said("ptxas info    : Used 1 registers\n") == {}
    assert said("") == {}


@pytest.mark.parametrize(
    ("log", "words", "line"),
    [
        ('kernel.cu(12): error: expected a ";"\n  a[0] = 1\n', 'expected a ";"', 12),
        ("kernel.cu(1): catastrophic error: could not open x\n", "could not open x", 1),
        (
            "/etc/passwd(1): error: no type\n  root:x:0:0\n",
            "an error in what is not the program itself",
            0,
        ),
        (
            "ptxas fatal   : Unresolved extern function '_Z1gf'\n",
            "Unresolved extern function '_Z1gf'",
            0,
        ),
        (
            "ptxas kernel.ptx, line 26; fatal   : Parsing error near '.file'\n",
            "Parsing error near '.file'",
            0,
        ),
        ('kernel.cu(2): error: cannot open "/etc/a/b.h"\n', 'cannot open "…"', 2),
        ('At end of source: error: expected a "}"\n', 'at its end: expected a "}"', 0),
        ("root:x:0:0:root\n", "the compiler refused it", 0),
    ],
)
def test_a_complaint_is_its_words_and_its_line(log: str, words: str, line: int) -> None:
    assert (complaint(log).said, complaint(log).line) == (words, line)


def test_a_complaint_quotes_no_source_and_no_path() -> None:
    log = (
        "kernel.cu(1): error: bad \x1b[31m /etc/passwd C:\\x "
        + "y" * 5000
        + "\n  root:x:0:0:root:/root\n"
    )
    told = complaint(log).said
    assert len(told) <= 200
    assert told.isprintable()
    assert not any(word in told for word in ("root", "passwd", "\\"))


@pytest.mark.parametrize(
    ("around", "unit", "told"),
    [
        ('kernel.cu(1): error: identifier "{}" is undefined\n', "x", 'identifier "xxx'),
        ("{}\nptxas ptxas", "(", "the compiler refused it"),
        ("(((\n{}", "ptxas ", "the compiler refused it"),
    ],
)
def test_a_complaint_is_read_in_proportion(around: str, unit: str, told: str) -> None:
    assert complaint(around.format(unit * 20_000)).said.startswith(told)
    assert_linear(lambda text: complaint(around.format(text)), unit)


def test_a_log_is_read_in_proportion() -> None:
    unit = "ptxas info    : Function properties for "
    assert said(unit * 1000) == {}
    assert_linear(said, unit)


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_bytes_that_are_no_object_are_said_to_be_none(data: bytes) -> None:
    for content in (data, b"\x7fELF\x02\x01" + bytes(12) + struct.pack("<H", 190) + data):
        with pytest.raises(BadCubin):
            entries(content)
