"""Right answers pass, and the right answers of other tasks do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlenv_auditor.bench import Bench
from rlenv_auditor.golds import elsewhere
from rlenv_auditor.items import Items, place_of
from rlenv_auditor.near import documents, lacking, missed, nearly, only_one, ordered, turned
from rlenv_auditor.programs import program_of
from rlenv_auditor.responses import written
from rlenv_auditor.solved import plainly_in, text_of
from rlenv_auditor.target.forms import read

from .base import Probe, Skip, Try, unanimous

__all__ = ["PROBES"]

UNKNOWN = (
    "no right response is known: its tasks carry no answer that a response could say; give some"
    " with --right FILE"
)
EPISODES = (
    "a right response is an episode with calls of tools, and none is known; give some with --right"
    " FILE"
)
# Where one more may be near enough.
MEASURED = re.compile(r"(?i)\b(pixels?|bbox|bounding box|coordinates|approximate(ly)?|estimate)\b")
ANOTHER = "a right response with another answer"
BY_ONE = re.compile(r"\bone\b|replaced$")  # names of near misses that differ by one
NEAR = 12  # near misses of one task in the profile ci; others meet other tasks


def _gold(bench: Bench) -> Iterator[Try]:
    golds = bench.golds.known()
    if not golds:
        raise Skip(EPISODES if bench.target.acts else UNKNOWN, "no-right-response")
    for task, response in golds:
        form = "given" if bench.golds.given(task) else bench.golds.carrier
        name = f"the right answer ({form or 'as a person would write it'})"
        yield Try(task, response, "pass", name)


def _swap(bench: Bench) -> Iterator[Try]:
    golds = bench.golds.known()
    if len(golds) < 2:
        raise Skip("fewer than two tasks have a right response", "too-few-tasks")
    for task, _, other in elsewhere(golds, steps=(1, 7)):
        yield Try(task, other, name="the right answer of another task", other=True)


def _near(bench: Bench) -> Iterator[Try]:
    """The answer, and what has a structure in a right response, with one thing in it wrong."""
    tried = False
    for task, gold in bench.golds.known():
        shaped = (
            isinstance(read(gold), str)
            and set(bench.archetypes) != {"constraints"}
            and program_of(gold) is None
        )
        wanted = text_of(task.answer)
        before, own, after = place_of(gold, wanted)
        # in an object or a list, a field may be none of the answer
        beside = wanted is not None and wanted[0] not in "{["
        changed = documents(gold, ordered(task.prompt)) if shaped else ()
        made = [(name, text) for name, text in changed if not (beside and plainly_in(task, text))]
        placed = own == wanted and own not in before + after
        if wanted and not made and (placed or bench.golds.form is not None):
            form = f"{before}{{}}{after}" if placed else str(bench.golds.form)
            made = [(name, written(form, text)) for name, text in missed(wanted)]
            likely = [(name, written(form, text)) for name, text in nearly(wanted)]
            made += [(name, text) for name, text in likely if not plainly_in(task, text)]
        listed = Items.of(own) if shaped and "{" not in own else None
        if listed:
            made += [
                (name, before + text + after)
                for name, text in lacking(listed)
                if name.endswith("added") or not (text == own or plainly_in(task, text))
            ]
            orders = [
                Try(task, before + text + after, name=name, other=True)
                for name, text in turned(listed, task.prompt).items()
            ]
            yield from orders if only_one(task.prompt) else unanimous(bench, orders)
        measured = MEASURED.search(task.prompt) is not None
        if measured:
            made = [(name, text) for name, text in made if not BY_ONE.search(name)]
        tried = tried or bool(made)
        most = len(made) if bench.full else NEAR
        for name, text in bench.chance("near", task.id).sample(made, min(most, len(made))):
            yield Try(task, text, "fail" if measured else "lose", name, other=True)
    if not tried:
        raise Skip(
            "no form of the answer is paid, and no right response has fields, so there is nothing"
            " to miss by a little",
            "right-response-not-paid",
        )


def _hollow(bench: Bench) -> Iterator[Try]:
    """A right response with everything but what makes it right."""
    golds = bench.golds.known()
    if not golds:
        raise Skip("no right response is known", "no-right-response")
    answers = [text for task in bench.tasks if (text := text_of(task.answer)) is not None]
    for task, gold in golds:
        wanted = text_of(task.answer)
        other = next((text for text in answers if text != wanted), None)
        for name, text in _hollowed(gold, wanted, other):
            if text.strip() and text != gold and not plainly_in(task, text):
                yield Try(task, text, name=name, other=name == ANOTHER)


def _hollowed(gold: str, wanted: str | None, other: str | None) -> Iterator[tuple[str, str]]:
    if wanted and wanted in gold and gold.strip() != wanted:
        yield "a right response without its answer", gold.replace(wanted, "")
        if other:
            yield ANOTHER, gold.replace(wanted, other)
    if (program := program_of(gold)) is not None:
        yield from _emptied(gold, program)


def _emptied(gold: str, program: str) -> Iterator[tuple[str, str]]:
    """Its functions still have their names, parameters and comments, and do nothing."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError):
        return
    bodies = [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if bodies:
        for node in bodies:
            node.body = [ast.Pass()]
        kept = re.findall(r"(?m)^\s*#.*$", program)
        text = "\n".join([*kept, ast.unparse(tree)])
        yield "a right program without its body", gold.replace(program, f"{text}\n")


PROBES = (
    Probe(
        "gold.passes",
        "a right answer is paid",
        "high",
        "read the forms in which people write the answer",
        "fn",
        tries=_gold,
    ),
    Probe(
        "gold.swap",
        "the answer of another task is not paid",
        "critical",
        "compare with this task's own answer",
        tries=_swap,
    ),
    Probe(
        "gold.near",
        "a near miss is a miss",
        "critical",
        "compare whole values and all of their fields, not beginnings, parts or roundings",
        tries=_near,
    ),
    Probe(
        "gold.hollow",
        "a right response without what is right in it is not paid",
        "critical",
        "pay the answer, and no phrase, form or name beside it",
        tries=_hollow,
    ),
)
