"""Programs on text: a process per case, its exit status and its output as they are."""

from __future__ import annotations

import shutil

import pytest
from code_runs import closed_sandbox, jailed, judged, run, task_of
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.values import Task
from rlenv.sandbox import REASONS, Exit
from rlenv_plugin_code.drive.stdio import output

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]


def stdio(*inputs: str, **more: object) -> Task:
    cases = [{"stdin": text, "stdout": ""} for text in inputs]
    return task_of({"kind": "stdio", "cases": cases, **more})


def test_each_case_is_a_fresh_program() -> None:
    source = "import os\nopen('mark', 'a').write('x')\nprint(input(), os.path.getsize('mark'))"
    jailed()
    answers = run(stdio("a\n", "b\n"), source, isolation="jail")
    assert [answer.value for answer in answers] == ["a 1\n", "b 1\n"]


def test_the_main_guard_holds_and_nothing_else_is_on_standard_output() -> None:
    source = (
        "def main(): print(sum(map(int, input().split())))\nif __name__ == '__main__':\n    main()"
    )
    assert run(stdio("1 2\n"), source)[0].value == "3\n"


def test_an_exit_status_other_than_0_is_no_answer() -> None:
    answers = run(stdio("1", "x"), "print(6)\nint(input())\n")
    assert [answer.status for answer in answers] == ["ok", "error"]
    assert answers[1].error == "exit status 1 (ValueError)"
    assert run(stdio(""), "print(6); raise SystemExit(3)")[0].error == "exit status 3"
    assert run(stdio(""), "print(6); raise SystemExit")[0].value == "6\n"


def test_the_message_of_an_exception_is_not_passed_on() -> None:
    source = "class the_input_was_x(Exception): pass\nraise the_input_was_x(input())"
    assert run(stdio("x"), source)[0].error == "exit status 1"


def test_a_signal_a_hang_and_a_flood_are_told_apart() -> None:
    crash = run(stdio("", ""), "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert [answer.status for answer in crash] == ["crash", "skipped"]
    hang = run(stdio("", ""), "while True: pass", timeout=0.5)
    assert [answer.status for answer in hang] == ["timeout", "skipped"]
    flood = run(stdio(""), "print('x' * 3_000_000)")
    assert flood[0].status == "output"


def test_output_that_is_no_text_is_no_answer() -> None:
    assert (
        run(stdio(""), "import os; os.write(1, b'\\xff')")[0].error == "what it wrote is not UTF-8"
    )


def test_early_stops_at_the_first_case_without_an_answer() -> None:
    answers = run(stdio("1", "x", "2"), "print(int(input()))", early=True)
    assert [answer.status for answer in answers] == ["ok", "error", "skipped"]
    late = run(stdio("1", "x", "2"), "print(int(input()))")
    assert [answer.status for answer in late] == ["ok", "error", "ok"]


def test_expected_outputs_longer_than_a_mebibyte_can_be_met() -> None:
    cases = [{"stdin": "", "stdout": "x" * 2_000_000}]
    task = task_of({"kind": "stdio", "cases": cases})
    assert run(task, "print('x' * 2_000_000)")[0].status == "ok"


def test_the_score_is_the_share_of_cases_that_answered() -> None:
    outcome, _ = judged(stdio("1", "x"), "print(int(input()))")
    assert outcome.score == 0.5
    assert outcome.data == {
        "isolation": "process",
        "cases": 2,
        "answered": 1,
        "statuses": {"error": 1, "ok": 1},
    }


LANGUAGES = {
    "c": (
        '#include <stdio.h>\nint main(void){int a; if (scanf("%d", &a) != 1) return 1;'
        ' printf("%d\\n", 2 * a);}'
    ),
    "cpp": "#include <iostream>\nint main(){int a; std::cin >> a; std::cout << 2 * a << '\\n';}",
    "javascript": "console.log(2 * Number(require('fs').readFileSync(0, 'utf8')))",
    "shell": "read x; echo $((2 * x))",
}
TOOLS = {"c": "gcc", "cpp": "g++", "javascript": "node", "shell": "bash"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_languages_run_too(language: str) -> None:
    if shutil.which(TOOLS[language]) is None:
        pytest.skip(f"{TOOLS[language]} is not installed")
    answers = run(stdio("21\n", language=language), LANGUAGES[language])
    assert answers[0].value == "42\n", answers[0].error


@given(
    st.builds(
        Exit,
        status=st.none() | st.integers(-64, 255),
        reason=st.sampled_from(REASONS),
        truncated=st.booleans(),
        stdout=st.binary(max_size=20) | st.text(max_size=9).map(str.encode),
        stderr=st.binary(max_size=40),
    )
)
def test_only_a_good_end_with_all_of_a_text_is_an_answer(exit_: Exit) -> None:
    answer = output(exit_, 0.5)
    assert (answer.wall, answer.cpu) == (0.5, exit_.cpu)
    if answer.status == "ok":
        assert (exit_.reason, exit_.status, exit_.truncated) == ("exit", 0, False)
        assert answer.value.encode() == exit_.stdout
    else:
        assert answer.value is None
