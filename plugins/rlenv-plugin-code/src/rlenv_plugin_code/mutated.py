"""The programs that a test suite is tried on: a golden one, and mutants that are known to differ
from it.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from attrs import frozen
from rlenv import Task, TaskError

from .artifacts import Answer
from .compare import same
from .drive.golden import answered, calls_of, drawn
from .drive.runs import Runs
from .mutate import mutants
from .reading import tests_of

__all__ = ["Mutated", "SuiteSpec", "mutated", "suite_of"]

_KEPT = 256
_seen: OrderedDict[bytes, Mutated] = OrderedDict()


@frozen
class SuiteSpec:
    """What a task of kind "suite" says.

    Args:
        wanted: how many mutants are made; 0 where the task has its own.
        given: the task's own mutants.
    """

    wanted: int
    given: tuple[str, ...] = ()


@frozen
class Mutated:
    """``sources[0]`` is the golden program.

    ``what[i]`` says what is wrong with ``sources[i + 1]``.
    """

    sources: tuple[str, ...]
    what: tuple[str, ...]


def suite_of(task: Task, default: int) -> SuiteSpec:
    """Read ``task.info["tests"]``: kind "suite", golden, entry_point, inputs or cases, mutants (a
    number or sources).

    Raises:
        TaskError: it is no such thing; the message says what is expected.
    """
    data = task.info.get("tests")
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or kind != "suite":
        raise TaskError(
            f'info.tests.kind: code/tests is for tasks of kind "suite", not {kind!r}: {{"kind":'
            ' "suite", "golden": source, "entry_point": name, "inputs": [...], "mutants": 12}',
            task.id,
        )
    wanted = data.get("mutants", default)
    given: tuple[str, ...] = ()
    if isinstance(wanted, (list, tuple)) and wanted and all(isinstance(s, str) for s in wanted):
        given = tuple(wanted)
        wanted = 0
    elif isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= 200:
        said = f"a number from 1 to 200, or sources of programs, not {wanted!r:.60}"
        raise TaskError(f"info.tests.mutants: {said}", task.id)
    return SuiteSpec(wanted, given)


async def mutated(task: Task, spec: SuiteSpec, runs: Runs) -> Mutated:
    """The programs of a task.

    Mutants that answer every reference input like the golden program are left out.

    The same for every response to a task, and made once per process.

    Raises:
        TaskError: the golden program fails on an input, or every mutant answers as it does.
        VerifierFault: the sandbox broke.
    """
    info: Mapping[str, Any] = task.info
    key = marshal.dumps((task.id, dict(info["tests"]), spec.wanted), 2)
    found = _seen.get(key)
    if found is None:
        found = _seen[key] = await _made(task, spec, runs)
        if len(_seen) > _KEPT:
            _seen.popitem(last=False)
    return found


async def _made(task: Task, spec: SuiteSpec, runs: Runs) -> Mutated:
    tests = tests_of(task)
    seed = sha256(tests.golden.encode("utf-8", "surrogatepass")).digest()
    if spec.given:
        made = [(source, f"the task's mutant {n}") for n, source in enumerate(spec.given, 1)]
    else:
        every = mutants(tests.golden, 2 * spec.wanted, int.from_bytes(seed[:8], "little"))
        made = [(m.source, f"line {m.line}: {m.what}") for m in every]
    inputs = await drawn(tests, seed, runs.calls, task.id)
    calls = calls_of(tests, inputs, task.id)
    expected = answered(await runs.calls(tests.golden, calls), task.id)
    kept: list[tuple[str, str]] = []
    for source, what in made:
        if len(kept) == (spec.wanted or len(made)):
            break
        answers = await runs.calls(source, calls)
        if not _unloadable(answers) and _differs(answers, expected):
            kept.append((source, what))
    if not kept:
        raise TaskError(
            "info.tests: every mutant answers as the golden program does; give more inputs, or"
            " mutants",
            task.id,
        )
    return Mutated((tests.golden, *(s for s, _ in kept)), tuple([w for _, w in kept]))


def _unloadable(answers: tuple[Answer, ...]) -> bool:
    return all(answer.error.endswith("before any call") for answer in answers)


def _differs(answers: tuple[Answer, ...], expected: tuple[object, ...]) -> bool:
    return any(
        answer.status != "ok" or not same(answer.value, wanted)
        for answer, wanted in zip(answers, expected, strict=True)
    )
