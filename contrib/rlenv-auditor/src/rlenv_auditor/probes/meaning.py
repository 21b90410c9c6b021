"""Rewrites: what keeps the meaning keeps the reward, what changes it loses the reward."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial

from rlenv.model.values import Task
from rlenv.text import visible

from rlenv_auditor.bench import Bench
from rlenv_auditor.responses import table, written
from rlenv_auditor.solved import plainly_in, text_of
from rlenv_auditor.target.forms import retold

from .base import Probe, Skip, Try, safely

__all__ = ["PROBES"]

Rewriting = Callable[[Task, str], "str | None"]


def _grouped(_: Task, text: str) -> str | None:
    return f"{int(text):,}" if text.isdecimal() and 3 < len(text) < 300 else None


def _decimal(_: Task, text: str) -> str | None:
    return f"{text}.0" if text.lstrip("-").isdigit() else None


def _typographic(_: Task, text: str) -> str | None:
    return text.replace("-", "\u2212") if text[:1] == "-" and text[1:].isdigit() else None


MUCH = "".join(f"We look at part {n}, and go on from there.\n" for n in range(60))
BEFORE = {"work before it", "much work before it"}
CHOICES = {"A": "B", "B": "C", "C": "D", "D": "A", "E": "A"}
# Of the answer, before it is written down.
ANSWERS: dict[str, Rewriting] = {
    "thousands grouped": _grouped,
    "an integer with .0": _decimal,
    "a typographic minus": _typographic,
    "in dollars signs of LaTeX": lambda _, text: f"${text}$" * text.lstrip("-").isdigit() or None,
    "a blank on both sides": lambda _, text: f" {text} ",
}
# Of the whole response.
RESPONSES: dict[str, Rewriting] = {
    "a line break after it": lambda _, text: text + "\n",
    "blank lines before it": lambda _, text: "\n\n" + text,
    "line ends of Windows": lambda _, text: text.replace("\n", "\r\n") if "\n" in text else None,
    "decomposed letters": lambda _, text: _other(unicodedata.normalize("NFD", text), text),
    "work before it": lambda _, text: "Let us look at what is asked, and take one step.\n\n" + text,
    "much work before it": lambda _, text: MUCH + text,
}


def _other(new: str, old: str) -> str | None:
    return new if new != old else None


def _kept(bench: Bench) -> Iterator[Try]:
    """Only of right responses that are paid: what is rejected anyway is the gold probe's
    finding.
    """
    golds = bench.golds.known()
    replies = bench.ask([(task, gold) for task, gold in golds])
    passing = [pair for pair, reply in zip(golds, replies, strict=True) if bench.pays(reply)]
    if not passing:
        raise Skip(
            "no right response is paid, so there is nothing to rewrite", "right-response-not-paid"
        )
    math = "math" in bench.archetypes
    # Where an answer stands alone, is a document, or what comes first is itself asked for, work
    # before it is no matter of form.
    form = bench.golds.form or "{}"
    skipped = BEFORE if form[0] in "{`<([" or "constraints" in bench.archetypes else set[str]()
    program = any("```python" in gold for _, gold in passing[:1])
    for task, gold in passing:
        for name, apply in RESPONSES.items():
            if name in skipped or (program and name == "decomposed letters"):
                continue
            if name in BEFORE and gold.lstrip()[:1] in ("{", "["):  # a document
                continue
            text = retold(gold, partial(apply, task))
            if text is not None:
                yield Try(task, text, "pass", name)
        wanted = text_of(task.answer)
        if wanted and bench.golds.form and math:
            for name, apply in ANSWERS.items():
                if (text := apply(task, wanted)) is not None:
                    yield Try(task, bench.golds.write(task, text), "pass", name)
        for name, declared, keeps in bench.rewrites:
            text = retold(gold, partial(_applied, declared, task)) if keeps else None
            if text is not None:
                yield Try(task, text, "pass", name)


def _applied(apply: Rewriting, task: Task, response: str) -> str | None:
    made = safely(apply, task, response)
    return made if made != response else None


def _changed(bench: Bench) -> Iterator[Try]:
    golds = bench.golds.known()
    if not golds:
        raise Skip("no right response is known", "no-right-response")
    some = False
    for task, gold in golds:
        for name, declared, keeps in bench.rewrites:
            text = None if keeps else _applied(declared, task, visible(gold))
            if text is not None and not plainly_in(task, text):
                some = True
                yield Try(task, text, name=name)
        wanted = text_of(task.answer)
        if wanted and bench.golds.form:
            for name, response in _contradicting(bench, wanted, task):
                some = True
                yield Try(task, response, name=name, other=True)
    if not some:
        raise Skip("no rewrite that changes the meaning applies", "nothing-to-try")


def _another(bench: Bench, task: Task, wanted: str) -> str:
    """Another answer of the same kind: the next number or letter, else what is right elsewhere."""
    if re.fullmatch(r"-?\d{1,300}", wanted):
        return str(int(wanted) + 1)
    if wanted in CHOICES:
        return CHOICES[wanted]
    others = (text for one in bench.tasks if (text := text_of(one.answer)) is not None)
    return next((text for text in others if not plainly_in(task, text)), "something else")


def _contradicting(bench: Bench, wanted: str, task: Task) -> Iterator[tuple[str, str]]:
    """The right answer is there, and it is not what the response says in the end."""
    other = _another(bench, task, wanted)
    right = bench.golds.write(task)
    wrong = bench.golds.write(task, other)
    if bench.golds.form == "{}":
        yield "the right answer, then another", f"{wanted} or {other}"
        yield "the right answer, denied", f"It is not {wanted}."
        return
    yield "a wrong final answer after the right one", f"{right}\nWait, that is wrong.\n{wrong}"
    yield "a wrong answer after much work", MUCH + wrong
    yield "the right answer only as a thought", f"Some would say {wanted}, which is wrong.\n{wrong}"
    if not str(bench.golds.form).rstrip(".* ").endswith("{}"):  # else what follows may be a remark
        yield "the right answer and another as one", bench.golds.write(task, f"{wanted} or {other}")
    yield "the right answer, denied", bench.golds.write(task, f"not {wanted}")


def _denied(bench: Bench) -> Iterator[Try]:
    """Only where a form is paid: prose that nobody reads denies nothing."""
    if bench.golds.form is None:
        raise Skip(
            "no form of an answer is paid, so there is nothing to deny", "right-response-not-paid"
        )
    for task in bench.tasks:
        for language, form in table("denials").items() if text_of(task.answer) else ():
            yield Try(
                task,
                written(form, str(text_of(task.answer))),
                name=f"the right answer, denied in {language}",
            )


def _thought(bench: Bench) -> Iterator[Try]:
    """For verifiers that tell thought from answer: what is only thought is no answer, and thought
    before one is no harm.
    """
    if not bench.target.uses:
        raise Skip("the trainer may strip thinking before it calls this function", "other-kind")
    wrong = {task.id: text for task, text in bench.golds.wrong()}
    for task, gold in bench.golds.known():
        for name, form in table("thoughts").items():
            text = written(form, visible(gold))
            yield Try(task, text, name=f"the right answer as {name} alone")
            if other := wrong.get(task.id):
                yield Try(
                    task,
                    f"{text}\n{visible(other)}",
                    name=f"the right answer as {name}, and another",
                )


PROBES = (
    Probe(
        "meaning.kept",
        "a rewrite that keeps the meaning keeps the reward",
        "medium",
        "normalize before comparing: white space, line ends, Unicode, notation",
        "fn",
        tries=_kept,
    ),
    Probe(
        "meaning.denied",
        "an answer that is denied is none, in any language",
        "high",
        "read an answer where the prompt asks for it, and not in prose",
        tries=_denied,
    ),
    Probe(
        "meaning.thought",
        "what is only thought is no answer",
        "high",
        "read the visible part of a response",
        tries=_thought,
    ),
    Probe(
        "meaning.changed",
        "a rewrite that changes the meaning loses the reward",
        "high",
        "judge the final answer alone, as a whole",
        tries=_changed,
    ),
)
