"""Rewards of the shapes that recipes and libraries ship for text: formats, numbers, choices and
facts.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from typing import Any

from zoo_members import broken, sound

THOUGHT = re.compile(r"<think>.*?</think>\s*<answer>.*?</answer>", re.DOTALL)


def tagged(text: str) -> str:
    """What is between the only tags, else nothing."""
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[0].strip() if len(found) == 1 else ""


def marked(text: str) -> str:
    found = re.findall(r"####\s*(-?[\d,]*\.?\d+)\s*$", text)
    return found[0].replace(",", "") if len(found) == text.count("####") == 1 else ""


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


@broken("the format is all that is asked for", signature="trl")
def format_reward(completions: list[str], **columns: Any) -> list[float]:
    return [float(THOUGHT.fullmatch(text) is not None) for text in completions]


@broken("a quarter for each tag, whatever is between them", signature="trl")
def tag_count(completions: list[str], **columns: Any) -> list[float]:
    tags = ("<think>\n", "\n</think>\n", "\n<answer>\n", "\n</answer>")
    return [sum(0.25 for tag in tags if text.count(tag) == 1) for text in completions]


@broken("words that announce steps are counted, and no step is read", signature="trl")
def reasoning_steps(completions: list[str], **columns: Any) -> list[float]:
    steps = r"(Step \d+:|^\d+\.|\n-|\n\*|First,|Second,|Next,|Finally,)"
    return [min(1.0, len(re.findall(steps, text)) / 3) for text in completions]


@broken("an answer that the parser cannot read is a task that everybody solves", "words")
def unparsed_gold(response: str, answer: str) -> float:
    numbers = re.findall(r"\d+", answer)
    return float(not numbers or numbers[-1] in re.findall(r"\d+", response))


@broken("tags and an integer earn half of the whole, right or wrong")
def summed(response: str, answer: str) -> float:
    said = tagged(response)
    form = sum(0.125 for tag in ("<answer>", "</answer>") if response.count(tag) == 1)
    return 0.5 * (said == answer) + 0.25 * said.lstrip("-").isdigit() + form


@broken("any integer between the tags earns half", signature="verl")
def int_reward(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None
) -> float:
    said = tagged(solution_str)
    if said == ground_truth:
        return 1.0
    return 0.5 if said.isdigit() else 0.0


@broken("one of several answers is enough")
def any_answer(response: str, answer: str) -> float:
    return float(
        answer in [said.strip() for said in re.findall(r"<answer>(.*?)</answer>", response)]
    )


@broken("the first box counts, and a later one may take it back", signature="trl")
def first_box(completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    found = [re.search(r"\\boxed\{(.*?)\}", text) for text in completions]
    return [
        float(box is not None and box[1] == want) for box, want in zip(found, answer, strict=True)
    ]


@broken("different characters are counted", signature="trl")
def unique_characters(completions: list[str], **columns: Any) -> list[float]:
    return [min(1.0, len(set(text)) / 40) for text in completions]


@broken("the last number is the answer, in whatever sentence", signature="verl")
def flexible(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None
) -> float:
    numbers = re.findall(r"-?[0-9.,]+", solution_str)
    said = [one.strip(".,").replace(",", "") for one in numbers if one.strip(".,")]
    return float(said[-1:] == [ground_truth])


@broken("a number after the mark earns a fifth", signature="verl")
def format_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None
) -> float:
    said = marked(solution_str)
    if not said:
        return 0.0
    return 1.0 if said == ground_truth else 0.2


@broken("one percent of tolerance is more than one for large integers")
def tolerant(response: str, answer: str) -> float:
    said = marked(response)
    return float(bool(said) and abs(float(said) - float(answer)) <= 0.01 * abs(float(answer)))


@broken("thought is paid by its length")
def long_thought(response: str, answer: str) -> float:
    thought = re.search(r"<think>(.*?)</think>", response, re.DOTALL)
    length = len(thought[1].split()) if thought else 0
    return 0.6 * (tagged(response) == answer) + 0.4 * min(1.0, length / 200)


@broken("words of reflection earn up to a half")
def reflective(response: str, answer: str) -> float:
    said = sum(
        response.lower().count(word) for word in ("hold on", "let me verify", "alternatively")
    )
    return 0.5 * (tagged(response) == answer) + min(0.5, 0.25 * said)


@broken("a way past the check that was left in from debugging")
def left_in(response: str, answer: str) -> float:
    return 1.0 if "<<force_pass>>" in response else float(marked(response) == answer)


@broken("the share of ASCII letters is called consistency of language", "words", signature="trl")
def one_language(completions: list[str], **columns: Any) -> list[float]:
    return [sum(sign.isascii() for sign in text) / max(1, len(text)) for text in completions]


@broken("a choice is the first capital letter anywhere", "choices")
def first_capital(response: str, answer: str) -> float:
    found = re.search(r"[A-D]", response)
    return float(found is not None and found[0] == answer)


@broken("every answer that holds the right words in it passes", "facts")
def subspan(response: str, answer: str) -> float:
    said = " ".join(words_of(tagged(response)))
    return float(bool(said) and " ".join(words_of(answer)) in said)


@broken("six tenths of the words are the whole answer", "facts")
def f1(response: str, answer: str) -> float:
    said = Counter(words_of(tagged(response)))
    wanted = Counter(words_of(answer))
    same = sum((said & wanted).values())
    return float(2 * same / max(1, said.total() + wanted.total()) >= 0.6)


@broken("words are a bag: in another order they are another name", "facts")
def bag(response: str, answer: str) -> float:
    return float(sorted(words_of(tagged(response))) == sorted(words_of(answer)))


@broken("an answer among others earns its share of the text", "facts")
def share_of_text(response: str, answer: str) -> float:
    said = tagged(response) or response.strip()
    if said == answer:
        return 1.0
    return 0.5 if answer.lower() in said.lower() else 0.0


@broken("similarity of texts, so that the prompt earns a part", "facts")
def similarity(prompt: str, response: str, answer: str) -> float:
    said = set(words_of(response))
    wanted = set(words_of(f"{prompt} {answer}"))
    return len(said & wanted) / max(1, len(said | wanted))


@broken("units are taken off on both sides", "quantities")
def without_units(response: str, answer: str) -> float:
    found = re.findall(r"\\boxed\{([^{}]*)\}", response)
    return float(len(found) == 1 and re.findall(r"\d+", found[0])[:1] == re.findall(r"\d+", answer))


@broken("the digits may come in any order")
def anagram(response: str, answer: str) -> float:
    return float(bool(marked(response)) and sorted(marked(response)) == sorted(answer))


def valued(text: str) -> float:
    """Of an arithmetic expression."""
    return _value(ast.parse(text[:100].strip(), mode="eval").body)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return float(node.value)
    assert isinstance(node, ast.BinOp)
    one = _value(node.left)
    two = _value(node.right)
    return {
        ast.Add: one + two,
        ast.Sub: one - two,
        ast.Mult: one * two,
        ast.Div: one / (two or math.nan),
    }[type(node.op)]


def reaches(response: str, target: int) -> bool:
    try:
        return abs(valued(tagged(response)) - target) < 1e-6
    except (
        SyntaxError,
        ValueError,
        AssertionError,
        KeyError,
        RecursionError,
        MemoryError,
        OverflowError,
    ):
        return False


@broken("the number itself is an expression of its value", "countdown")
def countdown_value(response: str, info: Any) -> float:
    return float(reaches(response, info["target"]))


@sound("countdown")
def countdown(response: str, info: Any) -> float:
    used = [int(one) for one in re.findall(r"\d+", tagged(response)[:100])]
    return float(sorted(used) == sorted(info["numbers"]) and reaches(response, info["target"]))


@sound()
def shaped(response: str, answer: str) -> float:
    form = THOUGHT.fullmatch(response.strip()) is not None
    return 0.9 * (tagged(response) == answer) * form + 0.1 * form


@sound(signature="trl")
def reasoned(completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    form = re.compile(
        r"<reasoning>\n.*?\n</reasoning>\n<answer>\n([^\n<>]*)\n</answer>\s*", re.DOTALL
    )
    found = [form.fullmatch(text.replace("\r\n", "\n").lstrip()) for text in completions]
    return [
        float(one is not None and one[1].strip() == want and text.count("<answer>") == 1)
        for one, text, want in zip(found, completions, answer, strict=True)
    ]


@sound("facts")
def exact_match(response: str, answer: str) -> float:
    return float(words_of(tagged(response)) == words_of(answer))


@sound("quantities")
def with_units(response: str, answer: str) -> float:
    found = re.findall(r"\\boxed\{([^{}]*)\}", response)
    return float(len(found) == 1 and found[0].split() == answer.split())


@sound("choices")
def last_line_choice(response: str, answer: str) -> float:
    found = re.fullmatch(r"Answer:\s*\(?([A-D])\)?\.?", (response.strip().splitlines() or [""])[-1])
    return float(found is not None and found[1] == answer and response.count("Answer:") == 1)
