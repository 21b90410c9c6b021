"""Right answers pass, and the right answers of other tasks do not."""

from __future__ import annotations

from collections.abc import Iterator

from rlenv_audit.bench import Bench
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
    for index, (task, own) in enumerate(golds):
        for step in (1, 7):
            _, other = golds[(index + step) % len(golds)]
            if other != own and not plainly_in(task, other):
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
        return
    if len(wanted) > 2 and wanted[-1].isalnum():
        yield "the answer without its last character", wanted[:-1]
    if wanted and wanted[0].isalpha() and len(wanted) == 1:
        yield "the next letter", chr(ord(wanted) + 1)


PROBES = (
    Probe("gold.passes", "a right answer is paid", "high", "read the forms in which people write the answer", "fn", tries=_gold),
    Probe("gold.swap", "the answer of another task is not paid", "critical", "compare with this task's own answer", tries=_swap),
    Probe("gold.near", "a near miss is a miss", "critical", "compare whole values, not beginnings, parts or roundings", tries=_near),
)  # fmt: skip
