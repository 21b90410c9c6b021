"""Programs on text: a fresh process per case, its standard output as it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import evolve, field, frozen
from rlenv.sandbox import Exit, Session

from rlenv_plugin_code.artifacts import Answer, sent
from rlenv_plugin_code.stdout import decoded

from .clock import Clock
from .link import RAISED, TOTAL_BYTES
from .ran import Ran, Stop, ended, filled, judged

__all__ = ["Programs", "Start", "output"]

_LETHAL = ("timeout", "memory", "crash")
_raised = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?::|$)").match


@frozen
class Start:
    """What ``Session.start`` gets: the program and its files."""

    program: str | Sequence[str]
    files: Mapping[str, bytes | tuple[bytes, int]] = field(factory=dict)


def output(exit_: Exit, wall: float) -> Answer:
    """What a program answered that was left to run to its end, after ``wall`` seconds on its
    clock.
    """
    return evolve(_output(exit_), cpu=exit_.cpu, wall=wall, peak_memory=exit_.peak_memory)


def _output(exit_: Exit) -> Answer:
    if exit_.reason != "exit":
        stop = ended(exit_)
        return Answer(stop.status, error=stop.error)
    if exit_.status != 0:
        return Answer("error", error=_why(exit_))
    if exit_.truncated:
        return Answer("output", error="it wrote more than is kept")
    text = decoded(exit_.stdout)
    if text is None:
        return Answer("output", error="what it wrote is not UTF-8")
    return Answer("ok", sent(text, exit_.stdout, is_text=True))


def _why(exit_: Exit) -> str:
    """The exit status, and the type of the exception that the last line of standard error names."""
    lines = exit_.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    found = _raised(lines[-1]) if lines else None
    name = f" ({found[1]})" if found and found[1] in RAISED else ""
    return f"exit status {exit_.status}{name}"


class Programs:
    """The cases of one response; a new try goes on with the case that the last one broke off.

    Args:
        start: the program.
        inputs: standard input, per case.
        timeout: seconds per case.
        early: stop at the first case that gives no answer.
    """

    def __init__(
        self, start: Start, inputs: Sequence[bytes], timeout: float, *, early: bool = False
    ) -> None:
        self._start = start
        self._inputs = inputs
        self._timeout = timeout
        self._early = early
        self._answers: list[Answer] = []
        self._room = TOTAL_BYTES

    async def run(self, session: Session, clock: Clock) -> Ran:
        """Run what has not been run.

        Raises:
            VerifierFault: the sandbox could not start a program.
        """
        count = len(self._inputs)
        while len(self._answers) < count:
            seconds = min(self._timeout, clock.left())
            if seconds <= 0:
                stop = Stop("timeout", "the budget of the response is used up")
                return Ran(filled(self._answers, stop, count, 0.0))
            before = session.clock()
            exit_ = await self._one(session, self._inputs[len(self._answers)], seconds)
            answer = output(exit_, session.clock() - before)
            ran = judged([*self._answers, answer], _stop(exit_), exit_)
            if ran.fault is not None:
                return evolve(ran, answers=filled(ran.answers, None, count, 0.0))
            self._answers.append(self._bounded(answer))
            if answer.status in _LETHAL or (self._early and answer.status != "ok"):
                break
        return Ran(filled(self._answers, None, count, 0.0))

    async def _one(self, session: Session, stdin: bytes, seconds: float) -> Exit:
        start = self._start
        await session.start(start.program, start.files, stdin=stdin, cpu_s=seconds, wall_s=seconds)
        try:
            return await session.finish()
        except BaseException:
            await session.finish(0)
            raise

    def _bounded(self, answer: Answer) -> Answer:
        if answer.status == "ok":
            self._room -= len(answer.value)
        if self._room >= 0:
            return answer
        error = f"outputs of more than {TOTAL_BYTES >> 20} MiB in all"
        return evolve(answer, status="output", value=None, error=error)


def _stop(exit_: Exit) -> Stop | None:
    return None if exit_.reason == "exit" else ended(exit_)
