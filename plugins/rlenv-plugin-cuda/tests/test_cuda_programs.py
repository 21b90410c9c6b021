"""The program of a response, and what of a run may be told."""

from __future__ import annotations

import pytest
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv_plugin_cuda.allowing import refused
from rlenv_plugin_cuda.artifacts import Program, Runs, Trial
from rlenv_plugin_cuda.programs import SOURCE_BYTES, Bad, program_in, program_of
from rlenv_plugin_cuda.running import shifted
from rlenv_plugin_cuda.shown import at_line, hushed


def found(response: str, lang: str = "numba") -> Program:
    program = program_of(Attempt(Task("?"), response), lang)
    assert isinstance(program, Program), program
    return program


def said(response: str, lang: str = "numba") -> str:
    bad = program_of(Attempt(Task("?"), response), lang)
    assert isinstance(bad, Bad), bad
    return bad.said


@pytest.mark.parametrize(
    ("response", "source", "line"),
    [
        ("```python\nx = 1\n```", "x = 1\n", 2),
        ("First:\n```python\nx = 0\n```\nBetter:\n```py\nx = 1\n```\n", "x = 1\n", 7),
        ("```numba\nx = 1\n```", "x = 1\n", 2),
        ("```python3.11\nx = 1\n```", "x = 1\n", 2),
        ("```\nx = 1\n```", "x = 1\n", 2),
        ("```python\nx = 1\n```\n```text\n3\n```", "x = 1\n", 2),
        ("```python\nx = 1\n```\n```\nit prints 3\n```", "x = 1\n", 2),
        ("~~~python\nx = 1\n~~~", "x = 1\n", 2),
        ("````python\nx = '''\n```\n'''\n````", "x = '''\n```\n'''\n", 2),
        ("- a list\n    ```python\n    x = 1\n    ```", "x = 1\n", 3),
        ("\n\nx = 1\n", "x = 1\n", 3),
        ("<think>\n```python\nx = 0\n```\n</think>\n```python\nx = 1\n```", "x = 1\n", 7),
        ("```python\nx = 0\n```\n</think>\n```python\nx = 1\n```", "x = 1\n", 6),
        ("```python\nx = 1", "x = 1\n", 2),
        ("```python\r\nx = 1\r\n```", "x = 1\n", 2),
        ("```python\nx = 1\n```<|im_end|>\n", "x = 1\n", 2),
        ("```markdown\n```python\nx = 1\n```\n```", "x = 1\n", 3),
    ],
)
def test_the_last_block_of_the_language_is_the_program(
    response: str, source: str, line: int
) -> None:
    assert (found(response).source, found(response).line) == (source, line)


def test_blocks_of_other_languages_are_no_program() -> None:
    assert "no block of numba" in said("```java\nclass A {}\n```")
    assert "no block of numba" in said("")
    assert "no block of numba" in said("   \n\n")
    assert "no block of cuda" in said("```python\nx = 1\n```", "cuda")


def test_a_program_is_bounded_and_made_of_characters() -> None:
    assert f"longer than {SOURCE_BYTES} bytes" in said("```python\n" + "x" * SOURCE_BYTES + "\n```")
    assert f"longer than {SOURCE_BYTES} bytes" in said("```python\n" + "é" * 40_000 + "\n```")
    bad = program_of(Attempt(Task("?"), "```python\nx = 1\ny = '\0'\n```"), "numba")
    assert isinstance(bad, Bad)
    assert bad.line == 3
    assert "no program has" in said("```python\nx = '\ud800'\n```")


def test_an_earlier_stage_has_read_it_already() -> None:
    attempt = Attempt(Task("?"), "```python\nx = 1\n```")
    made = Program("numba", "y = 2\n", 7)
    attempt.put(made)

    assert program_in(attempt, "numba") is made
    assert program_in(attempt, "triton") == Program("triton", "x = 1\n", 2)


def test_lines_are_those_of_the_response() -> None:
    program = Program("cuda", "a\nb\nplan\nrun\n", 10, plan_from=3, plan_line=40)
    runs = Runs("x", [Trial(0, None, "race", "", line=2), Trial(1, None, line=0)], line=4)

    assert [program.place(line) for line in (0, 1, 2, 3, 4)] == [0, 10, 11, 40, 41]
    assert shifted(runs, program).line == 41
    assert [trial.line for trial in shifted(runs, program).trials] == [11, 0]


def test_a_refusal_names_the_line_of_the_response() -> None:
    program = found("Here:\n\n```python\nimport os\ndef run(a):\n    pass\n```")
    bad = refused(program)

    assert bad is not None
    assert bad.line == 4
    assert "os" in bad.said


@pytest.mark.parametrize(
    "source",
    ["x = " + "(" * 9000 + ")" * 9000, "x = " + "-" * 60_000 + "1", "x = " + "a." * 20_000 + "b"],
)
def test_however_deep_a_program_nests_it_is_only_refused(source: str) -> None:
    assert refused(Program("numba", source)) is not None


def test_of_a_run_no_number_is_told_that_gives_a_shape_away() -> None:
    source = "# 257\nk[(o.size + 127) // 128, 2048](a, o)"

    assert (
        hushed("a[257] is beyond its extent of 257", source, 2) == "a[…] is beyond its extent of …"
    )
    assert (
        hushed("2048 threads a block, 1024 are allowed", source, 2)
        == "2048 threads a block, 1024 are allowed"
    )
    assert hushed("thread 3 of block 0", "", 0) == "thread 3 of block 0"
    assert hushed("value -12.5e3 there", source, 0) == "value … there"
    assert hushed("a\nb\x00c", "", 9) == "a b c"
    assert len(hushed("long " * 1000, "", 0)) <= 240
    assert at_line(0, "x") == "x"
    assert at_line(7, "x") == "line 7: x"


CPP = 'extern "C" __global__ void k(const float* a, float* o) {\n  o[0] = a[0];\n}'
PLAN = "def run(a, o):\n    k[1, 1](a, o)"


@pytest.mark.parametrize("plan_first", [True, False])
def test_a_plan_in_a_block_of_its_own_joins_its_kernels(plan_first: bool) -> None:
    parts = [f"```cuda\n{CPP}\n```", f"```python\n{PLAN}\n```"]
    program = found("\n".join(reversed(parts) if plan_first else parts), "cuda")
    lines = program.source.split("\n")
    at = next(number for number, line in enumerate(lines, 1) if "def run" in line)

    assert refused(program) is None
    assert program.place(1) == (6 if plan_first else 2)
    assert program.place(at) == (2 if plan_first else 7)


def test_a_plan_in_comments_needs_no_block_of_its_own() -> None:
    own = "\n".join(["// launch:", *(f"// {line}" for line in PLAN.split("\n"))])
    program = found(f"```cuda\n{CPP}\n{own}\n```\nIt runs:\n```python\nprint(1)\n```", "cuda")

    assert program.plan_from == 0
    assert refused(program) is None


def test_host_code_beside_kernels_is_refused_on_its_line() -> None:
    bad = refused(found(f"```cuda\n{CPP}\n```\n```python\nimport os\n{PLAN}\n```", "cuda"))

    assert bad is not None
    assert bad.line == 7
