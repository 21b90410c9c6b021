"""Responses that say nothing: blank ones, the prompt again, refusals, fillers, a list of what was
asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import fmean

from rlenv import Attempt, Task

from .constraint import Constraint
from .echoes import echoes
from .lists import words
from .programs import parsed
from .text import Text

__all__ = ["CONSTANTS", "contentless", "earnings", "remedy", "says_nothing"]

CONSTANTS = {
    "an empty response": "",
    '"."': ".",
    '"ok"': "ok",
    '"12345"': "12345",
    "a refusal": "I'm sorry, but I can't help with that.",
}
_TASKS = 300  # tasks of a survey, spread over all
_RUN = 4  # words that are in the prompt in this order are its words
_FILLERS = words("fillers")
_FILLED = "it has only fillers, numbers and what the constraints ask for"
_ANSWERS = frozenset(("yes", "no", "true", "false"))
# What asks for a number: its size, its name, an instruction to work it out, or arithmetic; the
# years of a life and "words with lengths that are prime numbers" do not.
_QUANTITIES = (
    "number|sum|total|value|product|difference|quotient|area|volume|probability|perimeter|average|mean|median|price|cost|population|age"
    "|percentage|remainder|root|distance|speed|height|weight|length|temperature|score|year|limit|integral|derivative|factorial|digit"
)
_ASKS_NUMBER = re.compile(
    r"how (?:many|much|old|long|far|tall|big)\b|(?:what|which|whose) year|\bequals?\b"
    r"|what(?:'s|’s| is| are| was| were| will be) "
    rf"(?:-?\(?\d|(?:[\w'-]+ ){{0,4}}?(?:{_QUANTITIES})\b)"
    r"|(?:^|[.!?:,\n]\s*|\bplease |\band |\bthen )"
    r"(?:calculate|compute|solve|evaluate|(?:find|determine|give|pick|choose|name|guess) "
    rf"(?:[\w'-]+ ){{0,4}}?(?:{_QUANTITIES}))\b"
    r"|(?:answer|respond|reply|output|return)\b[^.!?\n]{0,40}"
    r"\b(?:a number|numbers? only|integers?|digits?|numerals?|decimal|mathematical notation)\b"
    r"|\d\s*[+*×÷=^]\s*\d|\d\s+[-−/]\s+\d",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"(?:^|[.!?:,\n]\s*)(?:is|are|was|were|am|do|does|did|should|has|have|had)\s"
    r"(?!you\b)[^.!?\n]{2,200}\?"
    r"|true or false|yes or no",
    re.I,
)
_REFUSAL = re.compile(
    r"(?:(?:i(?:'m| am)|we(?:'re| are))\s+(?:\w+\s+)?(?:sorry|afraid)"
    r"|sorry|apologies|unfortunately|no comment\b|as an ai\b[^.]{0,40}"
    r"|i(?:'m| am) (?:not able|unable)"
    r"|i (?:can(?:no|')t|cannot|won't|will not|don't know|do not know|must decline))",
)
_HELPLESS = re.compile(
    r"(?:can(?:no|')t|cannot|unable|not able|won't|will not|must decline|could not|couldn't)\b"
    r"[^.!?]{0,40}?"
    r"\b(?:help|assist|comply|answer|fulfil+|provide|do (?:that|this|it)|with (?:that|this|it)"
    r"|request|continue|respond)"
    r"|don't know|do not know",
)


def says_nothing(
    text: Text, constraints: Sequence[Constraint], attempt: Attempt, *, content: bool | None
) -> str:
    """``contentless`` where it is asked for, or left open and no other stage tells what is right.

    Args:
        text: the response, with its prompt.
        constraints: what it was asked for.
        attempt: tells whether the stage is alone.
        content: the option of the stage.
    """
    if content or (content is None and attempt.alone):
        return contentless(text, constraints)
    return "" if content is False or text.plain.strip() else "there is nothing in it"


def contentless(text: Text, constraints: Sequence[Constraint]) -> str:
    """Why a response says nothing, in a few words; "" where it says something.

    It tests what can be decided without knowing the answer: a response without a word, one that
    only refuses, the prompt again, also with small changes, and one of nothing but fillers, numbers
    and the markers that the constraints ask for.  Where a constraint asks for an answer in itself
    (a choice, a JSON document), only a blank response and a refusal say nothing.

    Args:
        text: the response, with its prompt.
        constraints: what it was asked for.
    """
    if text.blank:
        return "there is no word in it"
    if _refuses(text):
        return "it only refuses"
    markers = _words(mark for part in constraints for mark in getattr(part, "markers", tuple)())
    answers = {part.kind for part in constraints if getattr(part, "is_answer", False)}
    repeated = _repeated(text.prompt, constraints)
    said = [word for word in text.even_words[repeated:] if word not in markers]
    if answers <= {"choice"} and echoes(said, text.prompt) and not _is_program(text):
        return "it only repeats the prompt"
    return "" if answers else _empty(text, markers, again=repeated > 0)


def remedy(reason: str) -> str:
    """What to do if a response with this reason is right all the same, as the answer ``42`` may be.

    Args:
        reason: of ``contentless``.
    """
    if reason != _FILLED:
        return "the option content decides this"
    return (
        "if such answers can be right, set content = false in the options of this stage, or add a"
        " stage that compares with the answer"
    )


def _is_program(text: Text) -> bool:
    """Whether most of it is a Python program, which may well repeat the text that its prompt
    gives.
    """
    source = parsed(text)
    return source.tree is not None and 2 * len(source.block.text) > len(text.raw)


def _repeated(prompt: str, constraints: Sequence[Constraint]) -> int:
    """How many words of the prompt a response must begin with."""
    asked = [getattr(p, "prompt", "") for p in constraints if p.kind == "repeats_prompt"]
    return max((len(Text(part or prompt).words) for part in asked), default=0)


def _empty(text: Text, markers: frozenset[str], *, again: bool) -> str:
    words = text.lower_words
    covered, head = _covered(words, text.prompt)
    distinct = set(words)
    saying = {
        word
        for word in distinct
        if not (word in markers or word.strip(".") in _FILLERS or word.isnumeric())
        and (len(word) > 1 or not word.isascii())
    }
    own = [word for word, known in zip(words, covered, strict=True) if not known and word in saying]
    if head and len(own) < (1 if again else 5 + len(words) // 20):
        return "it only repeats the prompt"
    if not own and not any(covered) and not _may_be_short(words, text.prompt, markers):
        return _FILLED
    if len(words) >= 20 and len(distinct) <= 3 + len(words) // 30:
        return "it says the same few words over and over"
    return ""


def _refuses(text: Text) -> bool:
    if len(text.raw) > 400:
        return False
    said = " ".join(text.caseless_view.text.split())
    return _REFUSAL.match(said) is not None and (
        _HELPLESS.search(said) is not None or len(text.words) <= 3
    )


def _may_be_short(words: Sequence[str], prompt: str, markers: frozenset[str]) -> bool:
    """Whether these few words may answer the prompt: yes or no, a number, the one word asked
    for.
    """
    if len(words) == 1 and words[0] in markers:
        return True
    if any(map(str.isnumeric, words)):
        return _ASKS_NUMBER.search(prompt) is not None
    return any(word in _ANSWERS for word in words) and _ASKS_WHETHER.search(prompt) is not None


def _covered(words: Sequence[str], prompt: str) -> tuple[list[bool], bool]:
    """Which words are in the prompt in runs, and whether its first words are among them."""
    runs, first, size = _runs(prompt)
    covered = [False] * len(words)
    head = False
    if size:
        for at, run in enumerate(zip(*(words[step:] for step in range(size)), strict=False)):
            if run in runs:
                covered[at : at + size] = [True] * size
                head = head or run == first
    return covered, head


@lru_cache(maxsize=64)  # many responses have one prompt
def _runs(prompt: str) -> tuple[frozenset[tuple[str, ...]], tuple[str, ...], int]:
    words = Text(prompt).lower_words
    size = min(_RUN, len(words))
    runs = [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]
    return frozenset(runs), runs[0] if runs else (), size


def _words(marks: Iterable[str]) -> frozenset[str]:
    return frozenset(word for mark in marks for word in Text(mark).lower_words)


def earnings(score: Callable[[Task, str], float], tasks: Sequence[Task]) -> list[str]:
    """What policies that read nothing earn on these tasks, as warnings of an environment.

    Args:
        score: what the stage gives for a response to a task.
        tasks: the environment's; at most 300 of them, spread evenly, are tried.

    Returns:
        One line, or none where no such policy earns anything and the tasks have answers, which
        other stages may read.
    """
    step = max(1, -(-len(tasks) // _TASKS))
    some = tasks[::step]
    if not some:
        return []
    earned = {name: fmean(score(task, said) for task in some) for name, said in CONSTANTS.items()}
    earned["an echo of the prompt"] = fmean(score(task, task.prompt) for task in some)
    best = max(earned.values())
    if best == 0 and any(task.answer is not None for task in some):
        return []
    listed = ", ".join(f"{name} {mean:.3f}" for name, mean in sorted(earned.items(), key=_dearest))
    said = f"a policy that reads nothing earns up to {best:.3f} here ({listed})"
    return [
        f"{said}: constraints say how to answer, not whether it is right; add a stage that does"
    ]


def _dearest(item: tuple[str, float]) -> tuple[float, str]:
    return -item[1], item[0]
