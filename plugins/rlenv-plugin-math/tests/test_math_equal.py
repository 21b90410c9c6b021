"""The stage ``math/equal``: what it pays, what it says, and what it never does."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Outcome, Task
from rlenv_plugin_math import match as matching
from rlenv_plugin_math.equal import Equal


def outcome(answer: Any, response: str, prompt: str = "a question", **options: Any) -> Outcome:
    stage = Equal(**options)
    task = Task(prompt, answer=answer, id="t1")
    stage.validate(task)
    return stage.check(Attempt(task, response))


@pytest.mark.parametrize(
    "answer", ["18", 18, 18.0, "$18$", "\\boxed{18}", "x\n#### 18", ["17", "18"], [17, 18]]
)
def test_a_gold_answer_may_come_in_any_form(answer: Any) -> None:
    assert outcome(answer, "The answer is \\boxed{18}.").score == 1.0
    assert outcome(answer, "The answer is \\boxed{19}.").score == 0.0


def test_any_of_several_gold_answers_is_right_but_all_of_them_together_are_not() -> None:
    golds = ["\\frac{1}{4}", "1/3"]
    assert outcome(golds, "\\boxed{0.25}").score == 1.0
    assert outcome(golds, "\\boxed{\\frac13}").score == 1.0
    assert outcome(golds, "\\boxed{\\frac14} or \\boxed{\\frac13}").score == 0.0


@pytest.mark.parametrize(
    "response",
    [
        "\\boxed{\\frac{1}{2}} \\boxed{0.5}",
        "\\boxed{0.5}. So the answer is $\\frac{1}{2}$.",
        "The answer is 0.5.\n#### 1/2",
    ],
)
def test_one_value_in_several_forms_is_one_answer(response: str) -> None:
    found = outcome("1/2", response)
    assert found.score == 1.0
    assert found.data["state"] == "found"


def test_a_list_in_several_boxes_is_the_list() -> None:
    for response in (
        "\\boxed{3} and \\boxed{5}",
        "\\boxed{5}, \\boxed{3}",
        "$x=\\boxed{3}$ or $x=\\boxed{5}$",
    ):
        assert outcome("3, 5", response).score == 1.0
        assert outcome("3", response).score == 0.0
    assert outcome("3, 5", "\\boxed{3}").score == 0.0


def test_the_detail_says_what_was_read_and_never_the_gold() -> None:
    wrong = outcome("987654", "The answer is 41 apples.")
    assert "41 apples" in wrong.detail
    assert "987654" not in wrong.detail + repr(wrong.data)
    assert wrong.private["gold"] == ["987654"]
    assert wrong.data["state"] == "found"
    assert wrong.data["from"] == "statement"
    span: Any = wrong.data["span"]
    start, end = span
    assert "The answer is 41 apples."[start:end] == "41 apples"


@pytest.mark.parametrize(
    ("response", "state", "words"),
    [
        ("", "missing", "no answer"),
        ("\\boxed{}", "empty", "empty"),
        ("<think>\\boxed{18}", "missing", "thinking"),
        ("\\boxed{17} \\boxed{18}", "found", "several"),
        ("Answer: 17\nAnswer: 18", "ambiguous", "several"),
        ("The answer is 17 or maybe 18.", "found", "several"),
        ("\\boxed{1 2}", "found", "cannot be read"),
        ("\\boxed{\\text{maybe}}", "found", "words"),
        ("\\boxed{19}", "found", "not equal"),
    ],
)
def test_every_zero_has_a_reason(response: str, state: str, words: str) -> None:
    found = outcome("18", response)
    assert found.score == 0.0
    assert found.data["state"] == state
    assert words in found.detail


def test_a_long_answer_is_shown_shortened() -> None:
    found = outcome("18", "\\boxed{" + "9" * 5000 + "}")
    assert found.score == 0.0
    assert len(found.detail) < 200


def test_a_gold_that_cannot_be_read_is_an_error_at_load_with_the_remedy() -> None:
    for answer in ("\\frac{1}{", "(1", "1 2 3"):
        with pytest.raises(TaskError, match=r"--set math/equal\.unparsed=text") as error:
            Equal().validate(Task("q", answer=answer, id="t7"))
        assert "t7" in str(error.value)
        assert answer in str(error.value)


@pytest.mark.parametrize("answer", [None, "", [], {}, b"1", float("nan")])
def test_a_gold_that_is_none_is_an_error_at_load(answer: Any) -> None:
    with pytest.raises(TaskError):
        Equal().validate(Task("q", answer=answer, id="t7"))
    with pytest.raises(TaskError):
        Equal(unparsed="text").validate(Task("q", answer=answer, id="t7"))


def test_such_a_gold_may_be_compared_as_text_on_demand() -> None:
    same = outcome("1 2 3", "\\boxed{1  2 3}", unparsed="text")
    assert same.score == 1.0
    other = outcome("1 2 3", "\\boxed{1 2 4}", unparsed="text")
    assert other.score == 0.0
    assert "as text" in other.detail
    assert "as text" not in outcome("1/2", "\\boxed{0.5}", unparsed="text").detail


def test_the_place_of_the_answer_can_be_prescribed() -> None:
    response = "#### 3\n<answer>5</answer> \\boxed{6} and 7"
    for extract, answer in {"hash": 3, "answer-tag": 5, "boxed": 6, "last-number": 7}.items():
        assert outcome(answer, response, extract=extract).score == 1.0
    assert outcome(6, response, extract=["hash", "boxed"]).score == 0.0
    assert outcome(6, "\\boxed{6}", extract=["hash", "boxed"]).score == 1.0
    assert outcome(6, "The answer is 6.", extract="boxed").score == 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"extract": "box"}, "boxed"),
        ({"extract": ["boxed", "tail"]}, "tail"),
        ({"unparsed": "skip"}, "error"),
        ({"tolerance": "wide"}, "rounded"),
        ({"digits": 0}, "digits"),
        ({"rel_tol": -1.0}, "rel_tol"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_by_name(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises((ConfigError, ValueError), match=words):
        Equal(**options)


def test_tolerances_are_off_by_default_and_work_when_asked_for() -> None:
    assert outcome("100", "\\boxed{101}").score == 0.0
    assert outcome("100", "\\boxed{101}", rel_tol=0.02).score == 1.0
    assert outcome("100", "\\boxed{101}", abs_tol=2.0).score == 1.0
    assert outcome("100", "\\boxed{103}", abs_tol=2.0).score == 0.0


def test_a_response_that_repeats_the_prompt_is_no_answer() -> None:
    prompt = "Sam has 42 apples and eats none. So how many are left of the 42"
    assert outcome("42", prompt, prompt=prompt).score == 0.0


@pytest.mark.parametrize(
    "response",
    ["", "42", "0", "1", "nan", "inf", "\\boxed{}", "true", "x=x", "\\boxed{0=0}", "\\boxed{x}"],
)
@pytest.mark.parametrize(
    "answer", ["18", "\\frac{1}{2}", "x^2+1", "(1,2)", "\\text{Tuesday}", "5 \\text{ kg}"]
)
def test_constants_are_not_paid(answer: str, response: str) -> None:
    assert outcome(answer, response).score == 0.0


def test_injected_code_is_never_run(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    command = f"open({str(canary)!r}, 'w').close()"
    payloads = [
        command,
        f"exec({command!r})",
        f"__import__('os').system('touch {canary}')",
        (
            "().__class__.__base__.__subclasses__()[0].__init__.__globals__['os'].system('touch"
            f" {canary}')"
        ),
        f"Symbol('x').func({command!r})",
        f"lambdify(x, {command!r})(1)",
        f"{{0.__class__.__init__.__globals__}}%s{command}",
        f"\\input{{{canary}}} \\write18{{touch {canary}}} \\immediate\\openout {canary}",
        f"$(touch {canary}) `touch {canary}`",
        f"__reduce__ cos\nsystem\n(S'touch {canary}'\ntR.",
    ]
    for payload in payloads:
        for form in (
            "{}",
            "\\boxed{{{}}}",
            "The answer is {}.",
            "<answer>{}</answer>",
            "#### {}",
            "\\boxed{{18+{}}}",
        ):
            assert outcome("18", form.format(payload)).score == 0.0
    assert not canary.exists()


def test_a_failing_comparison_is_an_undecided_zero_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("secret 18")

    stage = Equal()
    task = Task("q", answer="\\frac{1}{2}", id="t1")
    monkeypatch.setattr(matching, "given", broken)
    with caplog.at_level(logging.WARNING, logger="rlenv"):
        found = stage.check(Attempt(task, "\\boxed{0.5}"))
    assert found.score == 0.0
    assert found.data["how"] == "undecided"
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    "response",
    [
        "\\boxed{\ud800}",
        "\x00",
        "\\boxed{\x00}",
        "﷽" * 1000,
        "\\boxed{" + "{" * 100 + "}" * 101,
        "İ" * 100 + " answer is 18",
    ],
)
def test_any_text_gets_a_verdict(response: str) -> None:
    assert outcome("19", response).score == 0.0


@pytest.mark.parametrize(
    "content",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "9^{" * 3_000 + "9" + "}" * 3_000,
        "9^{9^{9^{9^{9}}}}",
        "(10^{10^{10}})!",
        "10000000!!!!!!!!",
        "\\binom{10^{9}}{5 \\cdot 10^{8}}",
        "\\sqrt{" * 2_000 + "2" + "}" * 2_000,
        "1" * 100_000,
        "0." + "3" * 100_000,
        "1+" * 50_000 + "1",
        "x^{1000000}-x^{999999}",
        "(x+y+z)^{500}",
        "\\frac{1}{" * 1_000 + "2" + "}" * 1_000,
        "\\sum_{k=1}^{10^{12}} k",
        "-" * 10_000 + "1",
        "\\{" * 3_000,
        "e^{e^{e^{e^{e}}}}",
        "2^{2^{100}}-2^{2^{100}}",
    ],
)
def test_a_bomb_is_refused_by_its_size(content: str) -> None:
    assert outcome("19", f"\\boxed{{{content}}}").score == 0.0


def test_two_equal_bombs_are_still_equal() -> None:
    assert outcome("9^{9^{9^{9}}}", "\\boxed{9^{9^{9^9}}}").score == 1.0


def test_no_secret_takes_part_where_only_math_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines without a common secret draw the same points, and resume each other's files."""
    seen: dict[str, list[Any]] = {}

    def match(*args: Any, **more: Any) -> matching.Match:
        seen[secret].append(args[2]())
        return real(*args, **more)

    real = matching.match
    monkeypatch.setattr("rlenv_plugin_math.equal._matcher", lambda: match)
    for secret in ("one", "two"):
        monkeypatch.setenv("RLENV_SECRET", secret)
        task = {"prompt": "p", "answer": "2\\sin x\\cos x"}
        stages = [{"use": "math/boxed"}, {"use": "math/equal"}]
        with Environment.from_dict({"name": "m", "stage": stages, "task": [task]}) as env:
            seen[secret] = [env.fingerprint]
            assert env.verify("p", "\\boxed{\\sin 2x}") == 1.0
            assert env.verify("p", "\\boxed{\\sin 3x}") < 1.0
    assert seen["one"] == seen["two"]
    assert len(set(seen["one"])) > 2


def test_a_secret_that_cannot_be_had_is_told_when_the_environment_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a home that cannot be written; before, only responses with a formula were unscored."""
    monkeypatch.delenv("RLENV_SECRET")
    monkeypatch.setenv("XDG_STATE_HOME", "/proc")
    with pytest.raises(ConfigError, match="set RLENV_SECRET"):
        Environment.from_dict({"name": "m", "stage": [{"use": "math/equal"}]})


@pytest.mark.parametrize(
    "gold",
    [
        "",
        " ",
        "$$",
        "1/0",
        "\\frac{1}{0}",
        "0/0",
        "0^{-1}",
        "\\log(0)",
        "(1, 2/0)",
        "1/(3-3)",
        [],
        ["2", ""],
    ],
)
def test_a_gold_answer_that_is_empty_or_has_no_value_is_a_mistake_of_the_task(gold: Any) -> None:
    stage = Equal()
    task = Task("p", answer=gold, id="t1")
    with pytest.raises(TaskError, match=r"gold answer|expected"):
        stage.validate(task)
    with Environment("x", stage) as env:
        verdict = env.evaluate(task, "\\boxed{3}")

    assert verdict.fault is not None
    assert verdict.fault.kind == "input"
    assert ".py" not in verdict.fault.message


@pytest.mark.parametrize(
    "gold", ["1/x", "\\infty", "0", "0^2", "\\ln 1", "0/5", "\\text{undefined}"]
)
def test_a_gold_answer_with_a_zero_in_it_is_sound(gold: str) -> None:
    Equal().validate(Task("p", answer=gold))
