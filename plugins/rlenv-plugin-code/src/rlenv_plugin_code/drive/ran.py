"""What one try at running a response came to."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Sequence

from attrs import evolve, field, frozen
from rlenv import Fault
from rlenv.sandbox import ChannelError, ChannelTimeout, Exit, FrameTooLong, Session

from rlenv_plugin_code.artifacts import Answer, Status

__all__ = [
    "SKIPPED",
    "TOO_BUSY",
    "Ran",
    "Stop",
    "ended",
    "filled",
    "judged",
    "played",
    "shared",
    "stopped_by",
]

TOO_BUSY = Fault(
    "timeout",
    "the machine was too busy: for 30 times the limit a program got next to no processor; run fewer"
    " things at one time",
    transient=True,
)
SKIPPED = Answer("skipped", error="not asked: an earlier case ended the run")


class Stop(Exception):
    """The run is over before its last case.

    Args:
        status: of the case that was being asked.
        error: a few words for a reader.
        starved: the machine was too busy for the program to get there.
        ended: the program has ended, or closed its channel, and ``Exit`` knows more.
    """

    def __init__(
        self, status: Status, error: str = "", *, starved: bool = False, ended: bool = False
    ) -> None:
        self.status: Status = status
        self.error = error
        self.starved = starved
        self.ended = ended
        super().__init__(status, error)


def _tuple(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    return tuple(answers)


@frozen
class Ran:
    """One try.

    Args:
        answers: one per case.
        fault: what of the sandbox broke; the answers then hold only if every try breaks.
        started: whether the program's own code had begun.
        starved: the machine was too busy to tell what it would have answered.
        leaning: of each test that ended, which changes of its arguments it was shown: "none",
            "pinned" (all of them pinned by the test) or "all".
    """

    answers: tuple[Answer, ...] = field(converter=_tuple)
    fault: Fault | None = None
    started: bool = True
    starved: bool = False
    leaning: tuple[str, ...] = ()


def stopped_by(err: ChannelError) -> Stop:
    """What a missing frame means for the case that was being asked."""
    if isinstance(err, ChannelTimeout):
        return Stop("timeout", "no answer in time", starved=err.starved)
    if isinstance(err, FrameTooLong):
        return Stop("protocol", "an answer that is too long")
    return Stop("crash", "ended without an answer", ended=True)


def ended(exit_: Exit) -> Stop:
    """How a program ended that was still being asked."""
    if exit_.reason == "memory":
        return Stop("memory", "the memory limit was reached", ended=True)
    if exit_.reason in ("cpu", "wall"):
        starved = exit_.reason == "wall" and exit_.fault is not None
        return Stop("timeout", f"the {exit_.reason} limit was reached", starved=starved, ended=True)
    if exit_.reason == "killed":
        return Stop("protocol", "it closed its channel", ended=True)
    if exit_.reason == "lost":
        return Stop("crash", "the sandbox was lost", ended=True)
    return Stop("crash", _how(exit_.status), ended=True)


def _how(status: int | None) -> str:
    if status is None or status >= 0:
        return f"exit status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"


def filled(answers: Sequence[Answer], stop: Stop | None, count: int, wall: float) -> list[Answer]:
    """One answer per case: those given, the one that stopped the run, the rest never asked."""
    full = list(answers)
    if stop is not None and len(full) < count:
        full.append(Answer(stop.status, error=stop.error, wall=wall))
    return full + [SKIPPED] * (count - len(full))


def shared(answers: Sequence[Answer], exit_: Exit) -> list[Answer]:
    """The answers of one process, each with an equal share of its CPU and with its peak of
    memory.
    """
    asked = sum(answer is not SKIPPED for answer in answers) or 1
    cpu = exit_.cpu / asked
    peak = exit_.peak_memory
    return [a if a is SKIPPED else evolve(a, cpu=cpu, peak_memory=peak) for a in answers]


def judged(answers: Sequence[Answer], stop: Stop | None, exit_: Exit) -> Ran:
    """The try of one process: its fault, and whether the machine was too busy to tell."""
    if stop is None or stop.status not in ("timeout", "memory", "crash"):
        return Ran(answers)  # it answered: what the sandbox says after that changes nothing
    fault = exit_.fault
    if stop.starved and fault is None:
        fault = TOO_BUSY
    return Ran(answers, fault, exit_.started, stop.starved)


async def played(session: Session, conversation: Awaitable[None]) -> tuple[Stop | None, Exit]:
    """Have the conversation with a session's program, and end that: why it stopped early, and how
    it ended.
    """
    stop: Stop | None = None
    try:
        await conversation
    except Stop as early:
        stop = early
    except BaseException:
        await session.finish(0)
        raise
    gone = stop is not None and stop.ended
    exit_ = await session.finish(0.1 if gone else 0)
    return (ended(exit_) if gone else stop), exit_
