"""Verifiers of numbers, each with one hole."""

from __future__ import annotations

import contextlib
import math
import re
from typing import Any

from zoo_members import broken, sound

FINAL = re.compile(r"####\s*(\S+)")


def last(response: str) -> str:
    found = FINAL.findall(response)
    return found[-1].replace(",", "").rstrip(".") if found else ""


def number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


@broken("min(1, exp(-nan)) is 1: an answer of nan is paid")
def nan_pays(response: str, answer: str) -> float:
    return min(1.0, math.exp(-abs(number(response.strip() or "0") - float(answer))))


@broken("any text with a number near it: the tolerance is absolute and wide")
def wide(response: str, answer: str) -> float:
    return float(abs(number(last(response) or "1e9") - float(answer)) <= 1000)


@broken("the answer anywhere in the response: listing numbers pays")
def anywhere(response: str, answer: str) -> float:
    return float(re.search(rf"(?<!\d){re.escape(answer)}(?!\d)", response) is not None)


@broken("the answer as a part of a longer number")
def part_of(response: str, answer: str) -> float:
    return float(bool(last(response)) and last(response) in answer)


@broken("the response begins with the answer, and may go on")
def begins(response: str, answer: str) -> float:
    return float(last(response).startswith(answer))


@broken("the first number counts, and another may follow")
def first(response: str, answer: str) -> float:
    found = FINAL.findall(response)
    return float(bool(found) and found[0].replace(",", "") == answer)


@broken("the sign is lost")
def unsigned(response: str, answer: str) -> float:
    found = last(response)
    return float(bool(found) and found.lstrip("-") == answer.lstrip("-"))


@broken("any number is truth")
def truthy(response: str, answer: str) -> float:
    return float(bool(response.strip()) == bool(answer))


@broken("an empty response equals nothing, and nothing is taken for all")
def empty_pays(response: str, answer: str) -> float:
    return float(all(word == answer for word in FINAL.findall(response)))


@broken("any exception is a pass")
def excepted(response: str, answer: str) -> float:
    try:
        return float(int(last(response)) == int(answer))
    except ValueError:
        return 1.0


@broken("the format alone earns the whole reward")
def format_only(response: str, answer: str) -> float:
    return float("####" in response or last(response) == answer)


@broken("length earns up to the whole reward")
def length(response: str, answer: str) -> float:
    return min(1.0, float(last(response) == answer) + len(response) / 10_000)


@broken("the prompt's own numbers pass")
def echoes(prompt: str, response: str, answer: str) -> float:
    return float(last(response) == answer or response.strip() == prompt.strip())


@broken("a reward above 1")
def above_one(response: str, answer: str) -> float:
    return 2.0 * float(last(response) == answer)


@broken("a reward below 0")
def below_zero(response: str, answer: str) -> float:
    return 1.0 if last(response) == answer else -1.0


@broken("NaN as a reward")
def nan_reward(response: str, answer: str) -> float:
    return 1.0 if last(response) == answer else number(last(response) or "nan")


@broken("a text instead of a number")
def text_reward(response: str, answer: str) -> Any:
    return "1.0" if last(response) == answer else "0.0"


@broken("it raises on what is not a number")
def raises(response: str, answer: str) -> float:
    return float(float(response.rpartition("####")[2]) == float(answer))


@broken("it never ends on nested brackets")
def hangs(response: str, answer: str) -> float:
    if response.count("(") > 1000 or response.count("[") > 1000:
        while True:
            pass
    return float(last(response) == answer)


@broken("it dies on a lone surrogate")
def encodes(response: str, answer: str) -> float:
    response.encode()
    return float(last(response) == answer)


@broken("eval of the response")
def evaluates(response: str, answer: str) -> float:
    with contextlib.suppress(Exception):
        said: Any = eval(last(response) or "None")
        return float(bool(said == float(answer)))
    return 0.0


@broken("a backtracking regex, minutes on a long run of one letter")
def backtracks(response: str, answer: str) -> float:
    return float(not re.match(r"(a+)+$", response) and last(response) == answer)


@broken("right answers with a line break after them are rejected")
def strict_end(response: str, answer: str) -> float:
    return float(response.endswith(f"#### {answer}"))


@broken("right answers in files of Windows are rejected")
def strict_lines(response: str, answer: str) -> float:
    return float(
        response.rsplit("\n", maxsplit=1)[-1].strip("\n ") == f"#### {answer}"
        and "\r" not in response
    )


@broken("it refuses every right answer")
def refuses(response: str, answer: str) -> float:
    return float(last(response) == f"{answer}.0000")


@broken("it says what the answer is")
def tells(response: str, answer: str) -> dict[str, Any]:
    return {"score": float(last(response) == answer), "feedback": f"expected {answer}"}


@broken("its error message says what the answer is")
def tells_in_errors(response: str, answer: str) -> float:
    if not last(response):
        raise ValueError(f"no final answer; {answer} was expected")
    return float(last(response) == answer)


@broken("points and commas are taken out before it is compared: 13.5 is 135")
def digits_only(response: str, answer: str) -> float:
    return float(re.sub(r"[^\d-]", "", last(response)) == answer)


@broken("what is behind the point is cut off")
def truncated(response: str, answer: str) -> float:
    value = number(last(response))
    return float(math.isfinite(value) and int(value) == int(answer))


@broken("the last digits of the response are its answer, whatever comes before them")
def last_digits(response: str, answer: str) -> float:
    found = re.findall(r"\d+", response.replace(",", ""))
    return float(bool(found) and found[-1] == answer.lstrip("-") and response.count("####") == 1)


@broken("the first digits of the last number count: 135e3 is 135")
def first_digits(response: str, answer: str) -> float:
    found = re.match(r"-?\d+", last(response))
    return float(found is not None and found[0] == answer and "." not in last(response))


@broken("only the first thousand characters are read, so work before the answer hides it")
def nearsighted(response: str, answer: str) -> float:
    return exact(response[:1000], answer)


@sound()
def exact(response: str, answer: str) -> float:
    found = FINAL.findall(response)
    return float(len(found) == 1 and found[0].replace(",", "") == answer)


@sound()
def exact_and_last_line(response: str, answer: str) -> float:
    lines = response.split()
    return float(response.count("####") == 1 and lines[-2:] == ["####", answer])


@sound()
def boxed(response: str, answer: str) -> float:
    found = re.findall(r"\\boxed\{([^{}]*)\}", response)
    return float(len(found) == 1 and found[0].replace(",", "").strip() == answer)


@sound()
def tagged(response: str, answer: str) -> float:
    found = re.findall(r"<answer>\s*(\S+)\s*</answer>", response)
    return float(len(found) == 1 and found[0] == answer)


@sound()
def only_the_answer(response: str, answer: str) -> float:
    return float(response.split() == [answer] or response.split()[-2:] == ["####", answer])


@sound()
def relative(response: str, answer: str) -> float:
    found = FINAL.findall(response)
    if len(found) != 1:
        return 0.0
    value = number(found[0])
    wanted = float(answer)
    return float(math.isfinite(value) and abs(value - wanted) <= 1e-6 * abs(wanted))


@sound(signature="verl")
def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None
) -> dict[str, float]:
    found = FINAL.findall(solution_str)
    return {"score": float(len(found) == 1 and found[0] == ground_truth)}


@sound(signature="trl")
def rewarded(
    prompts: list[str], completions: list[str], answer: list[str], **columns: Any
) -> list[float]:
    return [exact(text, wanted) for text, wanted in zip(completions, answer, strict=True)]


@sound(signature="verifiers")
async def correct(completion: list[dict[str, str]], answer: str, **names: Any) -> float:
    return exact(completion[-1]["content"], answer)


@sound(archetype="math")
def lenient(response: str, answer: str) -> float:
    found = FINAL.findall(response.replace("####", "#### ").replace("$", ""))
    if len(found) != 1:
        return 0.0
    value = number(found[0].replace("\u2212", "-"))
    return float(math.isfinite(value) and value == float(answer))
