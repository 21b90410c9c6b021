"""Right answers pass, and the right answers of other tasks do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlenv_audit.bench import Bench
from rlenv_audit.golds import elsewhere
from rlenv_audit.programs import program_of
from rlenv_audit.solved import plainly_in, text_of

from .base import Probe, Skip, Try

__all__ = ["PROBES"]


def _gold(bench: Bench) -> Iterator[Try]:
    golds = bench.golds.known()
    if not golds:
        raise Skip(
            "no right response is known: its tasks carry no answer that a response could say; give some with --right FILE"
        )
    for task, response in golds:
        yield Try(
            task,
            response,
            "pass",
            f"the right answer ({bench.golds.carrier or 'as a person would write it'})",
        )


def _swap(bench: Bench) -> Iterator[Try]:
    golds = bench.golds.known()
    if len(golds) < 2:
        raise Skip("fewer than two tasks have a right response")
    for task, _, other in elsewhere(golds, steps=(1, 7)):
        yield Try(task, other, name="the right answer of another task")


def _near(bench: Bench) -> Iterator[Try]:
    """The answer changed in its smallest part."""
    if bench.golds.carrier is None:
        bench.golds.find()
    carrier = bench.golds.carrier
    if carrier is None:
        raise Skip("no form of the answer is paid, so there is nothing to miss by a little")
    for task in bench.tasks:
        wanted = text_of(task.answer)
        for name, text in _missed(wanted) if wanted else ():
            response = bench.golds.write(task, carrier, text)
            if str(wanted).lstrip("-").isdigit() or not plainly_in(task, response):
                yield Try(task, response, name=name)


def _missed(wanted: str) -> Iterator[tuple[str, str]]:
    if wanted.lstrip("-").isdigit():
        number = int(wanted)
        yield "one more than the answer", str(number + 1)
        if number:
            yield "the answer with the other sign", str(-number)
            yield "ten times the answer", f"{number}0"
            yield "the answer times a power of ten", f"{number}e3"
        if abs(number) > 1:
            yield "one divided by the answer", f"1/{number}"
        yield "the answer and nine tenths", f"{number}.9"
        if abs(number) > 9:
            yield "the answer with a point in it", f"{wanted[:-1]}.{wanted[-1]}"
        return
    if len(wanted) > 2 and wanted[-1].isalnum():
        yield "the answer without its last character", wanted[:-1]
    if len(wanted) > 2 and wanted.isalpha():
        yield "the answer within a longer word", f"un{wanted}"
    if wanted and wanted[0].isalpha() and len(wanted) == 1:
        yield "the next letter", chr(ord(wanted) + 1)


def _hollow(bench: Bench) -> Iterator[Try]:
    """A right response with everything but what makes it right."""
    golds = bench.golds.known()
    if not golds:
        raise Skip("no right response is known")
    answers = [text for task in bench.tasks if (text := text_of(task.answer)) is not None]
    for task, gold in golds:
        wanted = text_of(task.answer)
        other = next((text for text in answers if text != wanted), None)
        for name, text in _hollowed(gold, wanted, other):
            if text.strip() and text != gold and not plainly_in(task, text):
                yield Try(task, text, name=name)


def _hollowed(gold: str, wanted: str | None, other: str | None) -> Iterator[tuple[str, str]]:
    if wanted and wanted in gold and gold.strip() != wanted:
        yield "a right response without its answer", gold.replace(wanted, "")
        if other:
            yield "a right response with another answer", gold.replace(wanted, other)
    if (program := program_of(gold)) is not None:
        yield from _emptied(gold, program)


def _emptied(gold: str, program: str) -> Iterator[tuple[str, str]]:
    """Its functions still have their names, parameters and comments, and do nothing."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError):
        return
    bodies = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]  # fmt: skip
    if bodies:
        for node in bodies:
            node.body = [ast.Pass()]
        kept = re.findall(r"(?m)^\s*#.*$", program)
        text = "\n".join([*kept, ast.unparse(tree)])
        yield "a right program without its body", gold.replace(program, f"{text}\n")


PROBES = (
    Probe("gold.passes", "a right answer is paid", "high", "read the forms in which people write the answer", "fn", tries=_gold),
    Probe("gold.swap", "the answer of another task is not paid", "critical", "compare with this task's own answer", tries=_swap),
    Probe("gold.near", "a near miss is a miss", "critical", "compare whole values, not beginnings, parts or roundings", tries=_near),
    Probe("gold.hollow", "a right response without what is right in it is not paid", "critical", "pay the answer, and no phrase, form or name beside it", tries=_hollow),
)  # fmt: skip
