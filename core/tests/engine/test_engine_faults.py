"""What a stage raised or returned, told as a fault: its kind, its words, whether a retry may
help.
"""

import asyncio
import re
from math import inf

import pytest
from attrs import frozen
from engine_stages import Count, Fill, Heavy, HeavyLater, Split
from rlenv import Attempt, Environment, Outcome, Slot, TaskError, VerifierFault
from rlenv.engine.checks import check_now, fault_of, faulted, judged
from rlenv.engine.plan import CompiledSlot, compile_slot
from rlenv.model.values import Fault, ScoreError, StageResult, Task

HERE = r"engine/test_engine_faults\.py:\d+"


@frozen
class Plain:
    phase = "diff"
    where = "inline"


@frozen
class Raises(Plain):
    what: BaseException

    def check(self, attempt: Attempt) -> Outcome:
        raise self.what


def leaf(stage: object) -> CompiledSlot:
    return compile_slot(0, "here", Slot("here", stage))


def raised(error: BaseException) -> Fault:
    result = check_now(leaf(Raises(error)), Attempt(Task("p"), "r"))
    assert result.outcome is None
    assert result.stage == "here"
    assert 0.0 <= result.seconds < inf
    assert result.fault is not None
    return result.fault


def test_an_error_is_told_with_its_type_its_words_and_its_place():
    fault = raised(ValueError("no such column"))

    assert fault.kind == "error"
    assert not fault.transient
    assert re.fullmatch(rf"ValueError: no such column \({HERE}\)", fault.message)


def test_an_error_from_nowhere_is_told_without_a_place():
    assert fault_of(KeyError("x")) == Fault("error", "KeyError: 'x'", transient=False)


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), TimeoutError("slow")])
def test_what_could_not_be_reached_may_be_tried_again(error):
    fault = raised(error)

    assert (fault.kind, fault.transient) == ("unavailable", True)


def test_memory_that_ran_out_is_no_reason_to_try_again():
    assert raised(MemoryError()) == Fault("memory", "the stage ran out of memory", transient=False)


def test_a_task_that_a_stage_cannot_use_is_bad_input():
    assert raised(TaskError("no gold", "t")) == Fault("input", "task 't': no gold")


def test_a_fault_that_a_stage_passes_on_stays_what_it_was():
    fault = Fault("unavailable", "the judge is away", transient=True)

    assert raised(VerifierFault(fault)) == fault


def test_a_score_out_of_range_breaks_the_contract_at_a_place():
    fault = raised(ScoreError("not 2"))

    assert fault.kind == "contract"
    assert re.fullmatch(rf"not 2 \({HERE}\)", fault.message)


def test_a_long_message_is_cut():
    shown = raised(ValueError("x" * 501)).message

    assert shown.startswith("ValueError: " + "x" * 500 + " (")


def test_a_place_is_a_file_and_its_folder_on_every_system():
    def broken(filename):
        try:
            exec(compile("1 / 0", filename, "exec"))
        except ZeroDivisionError as error:
            return fault_of(error).message

    for filename in ("/a/b/c.py", "C:\\a\\b\\c.py", "b/c.py"):
        assert broken(filename).endswith(" (b/c.py:1)")
    assert broken("c.py").endswith(" (c.py:1)")


def test_only_a_person_stops_a_stage():
    with pytest.raises(KeyboardInterrupt):
        raised(KeyboardInterrupt())
    assert raised(SystemExit(1)).kind == "error"


@frozen
class Returns(Plain):
    what: object

    def check(self, attempt: Attempt) -> Outcome:
        return self.what  # type: ignore[return-value]


NUMBER = "; write return Outcome(score), with score in [0, 1]"


@pytest.mark.parametrize(
    ("what", "named"), [(None, "NoneType"), (1.0, "float" + NUMBER), (True, "bool" + NUMBER)]
)
def test_what_is_no_outcome_is_named_by_its_type(what, named):
    result = check_now(leaf(Returns(what)), Attempt(Task("p"), "r"))

    message = f"a stage returns an Outcome, not {named}"
    assert result == StageResult("here", None, Fault("contract", message, transient=False))
    assert 0.0 <= result.seconds < inf


def test_an_outcome_is_passed_on_with_the_time_it_took():
    outcome = Outcome(1.0)

    assert judged(leaf(Returns(outcome)), outcome, 2.5).seconds == 2.5
    assert judged(leaf(Returns(outcome)), outcome, 2.5).outcome is outcome
    assert judged(leaf(Returns(None)), None, 2.5).seconds == 2.5


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_the_ends_of_the_unit_interval_are_scores(score):
    assert judged(leaf(Returns(None)), Outcome(score), 0.0).fault is None


@pytest.mark.parametrize("score", [-0.5, 1.5, 1, None])
def test_an_outcome_that_was_tricked_is_a_fault(score):
    outcome = Outcome(0.0)
    object.__setattr__(outcome, "score", score)

    fault = judged(leaf(Returns(None)), outcome, 0.0).fault

    assert fault == Fault("contract", "a stage returns an Outcome, not Outcome")


def test_an_awaitable_from_a_plain_check_is_closed_and_told():
    async def check():
        return Outcome(1.0)

    said = check()
    fault = judged(leaf(Returns(None)), said, 0.0).fault

    assert said.cr_frame is None
    assert fault == Fault(
        "contract",
        "a stage returns an Outcome, not an awaitable from a plain check; write async def",
    )


def test_what_only_has_something_to_close_is_left_open():
    class File:
        closed = False

        def close(self):
            self.closed = True

    file = File()

    assert judged(leaf(Returns(None)), file, 0.0).fault.message.endswith("not File")
    assert not file.closed


def test_the_time_of_a_stage_ends_when_it_returns_or_raises(monkeypatch):
    for stage in (Returns(Outcome(1.0)), Returns(None), Raises(ValueError("no"))):
        clock = iter([100.0, 102.5])
        monkeypatch.setattr("rlenv.engine.checks.perf_counter", lambda clock=clock: next(clock))

        assert check_now(leaf(stage), Attempt(Task("p"), "r")).seconds == 2.5


def test_the_place_of_an_error_is_where_it_was_raised_however_deep():
    def deep(levels):
        return deep(levels - 1) if levels else exec(compile("1 / 0", "far/down.py", "exec"))

    @frozen
    class Deep(Plain):
        def check(self, attempt: Attempt) -> Outcome:
            raise AssertionError(deep(5))

    fault = check_now(leaf(Deep()), Attempt(Task("p"), "r")).fault

    assert fault == Fault("error", "ZeroDivisionError: division by zero (far/down.py:1)")


def test_a_fault_of_our_own_takes_no_time_and_is_not_transient_unless_said():
    result = faulted(leaf(Returns(None)), "timeout", "too late")

    assert result == StageResult("here", None, Fault("timeout", "too late", transient=False))
    assert result.seconds == 0.0
    assert faulted(leaf(Returns(None)), "pool", "away", transient=True).fault.transient


class LateRaise:
    phase = "diff"
    where = "caller"

    async def check(self, attempt: Attempt) -> Outcome:
        await asyncio.sleep(0.05)
        raise ConnectionError("away")


@pytest.mark.parametrize("place", ["caller", "worker"])
def test_an_async_stage_that_raises_counts_its_time(place):
    late = LateRaise()
    late.where = place
    with Environment("e", [Slot("late", late)]) as env:
        (result,) = env.evaluate(Task("?"), "r").results

    assert result.fault.kind == "unavailable"
    assert result.seconds >= 0.05


LATER = pytest.param(HeavyLater(), marks=pytest.mark.slow)  # makes a text of 80 MB three times more


@pytest.mark.parametrize("heavy", [Heavy(), LATER], ids=["plain", "async"])
def test_a_result_that_cannot_be_sent_is_a_fault_of_its_own_stage(heavy):
    with Environment("e", [Slot("first", Split()), Slot("heavy", heavy)]) as env:
        first, second = env.evaluate(Task("p"), "2").results
        rows = [(Task("p"), "2"), (Task("p"), "0")]
        batch = [verdict.value for verdict in env.evaluate_many(rows)]

    assert (first.outcome, second.stage) == (Outcome.passed(), "heavy")
    assert second.fault is not None
    assert "bytes of results" in second.fault.message
    assert batch == [None, 1.0]


def test_an_artifact_may_be_sent_again_for_each_later_stage():
    later = [Slot(f"count {number}", Count()) for number in range(4)]
    with Environment("e", [Slot("fill", Fill()), *later]) as env:
        verdict = env.evaluate(Task("p", answer="y"), "x")

    assert verdict.fault is None
    assert [result.stage for result in verdict.results] == ["fill", *(slot.name for slot in later)]
