"""``agent/state``: whether an episode changed what its task asks for, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from attrs import field, frozen
from rlenv import Attempt, Fault, Outcome, Task, TaskError, VerifierFault
from rlenv.authoring import Problems, Safe, build

from rlenv_plugin_agent.state.final import FinalState

from .expectations import ExpectedState, compare, problems_of_files


@frozen
class GoldCall:
    """One call of a tool that helps to solve a task."""

    name: Safe[str]
    arguments: Safe[Mapping[str, object]] = field(factory=dict)


@frozen
class Gold:
    """``info.gold`` of a task: what solves it.

    Args:
        calls: of tools, in order.
        reply: what is written after them.
        reward: what it earns.
    """

    calls: Sequence[GoldCall] = ()
    reply: Safe[str] = "done"
    reward: float = 1.0


@frozen
class State:
    """Compares the final state with ``answer``, which lists the changes that solve the task; any
    other change is worth 0.

    Args:
        partial: pay the share of what is expected that came, in the mean over tables, values and
            files, where nothing else changed; else all or nothing.
        buffer: where a response comes without an episode, it is the content of the file of this
            name.
    """

    partial: bool = False
    buffer: Safe[str] = field(default="", kw_only=True)

    phase = "diff"
    where = "inline"
    uses = ("answer",)
    takes = (FinalState,)

    def validate(self, task: Task) -> None:
        """Check that what is expected makes sense, and that the task records its gold calls and
        what doing nothing earns.

        Raises:
            TaskError: it does not.
        """
        problems = Problems()
        expected = _expectation(task)
        if expected == ExpectedState(allow=expected.allow, forbid=expected.forbid):
            problems.add(
                "answer",
                "nothing is expected, so doing nothing would pass; list tables, values, files or"
                " hash",
            )
        for place, told in problems_of_files(expected):
            problems.add(place, told)
        build(Gold, task.info.get("gold"), "info.gold", problems)  # an error without it
        noop = task.info.get("noop", 0.0)
        if isinstance(noop, bool) or not isinstance(noop, (int, float)) or not 0 <= noop < 1:
            problems.add("info.noop", f"expected what doing nothing earns, in [0, 1), not {noop!r}")
        if problems.found:
            raise TaskError("; ".join(problems.lines()), task.id)

    def check(self, attempt: Attempt) -> Outcome:
        """Compare the final state with what the task expects.

        Raises:
            VerifierFault: the response comes without a final state, and there is no ``buffer``.
        """
        if (final := attempt.find(FinalState)) is None:
            if not self.buffer:
                raise VerifierFault(
                    Fault(
                        "input",
                        "this response comes without the final state of an episode: play it with"
                        " rlenv rollout, or set buffer",
                    )
                )
            text = attempt.visible.encode("utf-8", "surrogatepass")
            final = FinalState(files={self.buffer: sha256(text).hexdigest()} if text else {})
        met, unmet, extra = compare(final, _expectation(attempt.task))
        score = 0.0 if extra or (unmet and not self.partial) else met
        detail = "the state is not what the task asks for" if unmet else "the state is as expected"
        detail = final.overflow or detail
        private = {"met": met, "unmet": unmet[:50]}
        return Outcome(score, detail, {"extra": extra, "hash": final.hash}, private=private)


def _expectation(task: Task) -> ExpectedState:
    problems = Problems()
    found = build(ExpectedState, task.answer, "answer", problems)
    if problems.found:
        raise TaskError("; ".join(problems.lines()), task.id)
    return found
