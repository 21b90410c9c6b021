"""An environment's stages read the visible text, wherever they run; what the policy wrote stays as
it is.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from attrs import frozen
from rlenv import Attempt, ConfigError, Environment, Outcome, Slot, Task
from rlenv.compose.equal import Equal
from rlenv.runtime.serialization import decode_attempt, encode_attempt

TASK = Task("A color?", "Red.")
THOUGHT = "Blue? No.\n</think>\n\nRed.<|im_end|>"


@frozen
class Words:
    """Passes what has one visible word, in a worker."""

    phase = "constrain"

    def check(self, attempt: Attempt) -> Outcome:
        one = len(attempt.visible.split()) == 1
        return attempt.with_hidden(Outcome(float(one), attempt.response[:4]))


def config(**response: str) -> dict[str, object]:
    return {"name": "e", "response": response, "stage": [{"use": "core/equal"}]}


@pytest.mark.parametrize(("thinking", "reward"), [("hide", 1.0), ("closed", 0.0), ("keep", 0.0)])
def test_the_setting_decides_what_is_read(thinking: str, reward: float) -> None:
    with Environment.from_dict(config(thinking=thinking)) as env:
        verdict = env.evaluate(TASK, THOUGHT)
        assert verdict.value == reward
        outcome = verdict.results[0].outcome
        assert outcome is not None
        assert outcome.data.get("hidden", 0) == (20 if thinking == "hide" else 0)
        assert asyncio.run(env.averify(TASK, THOUGHT)) == reward
        assert [v.value for v in env.evaluate_many([(TASK, THOUGHT)])] == [reward]


def test_thinking_is_hidden_unless_the_environment_says_otherwise() -> None:
    with Environment("e", [Slot("equal", Equal())]) as env:
        assert env.thinking == "hide"
        assert env.verify(TASK, THOUGHT) == 1.0
        assert env.verify(TASK, [{"role": "assistant", "content": THOUGHT}]) == 1.0


def test_a_worker_reads_what_the_caller_reads() -> None:
    for thinking, reward in (("hide", 1.0), ("keep", 0.0)):
        with Environment("e", [Slot("words", Words())], thinking=thinking) as env:  # type: ignore[arg-type]
            verdict = env.evaluate(TASK, THOUGHT)
            assert verdict.value == reward
            assert verdict.results[0].outcome is not None
            assert verdict.results[0].outcome.detail == "Blue"


def test_an_attempt_travels_with_its_setting() -> None:
    attempt = Attempt(TASK, THOUGHT, thinking="closed")
    arrived = decode_attempt(encode_attempt(attempt), None)
    assert (arrived.thinking, arrived.response) == ("closed", THOUGHT)
    assert arrived.visible == attempt.visible


def test_the_setting_is_part_of_the_fingerprint() -> None:
    prints = {
        Environment.from_dict(config(thinking=thinking)).fingerprint
        for thinking in ("hide", "closed", "keep")
    }
    assert len(prints) == 3
    assert Environment.from_dict(config()).fingerprint in prints


def test_an_unknown_setting_is_told_with_those_that_exist() -> None:
    with pytest.raises(ConfigError, match=r"response\.thinking.*keep"):
        Environment.from_dict(config(thinking="kep"))
    with pytest.raises(ConfigError, match=r"response\.thinkin\b.*thinking"):
        Environment.from_dict(config(thinkin="keep"))
    with pytest.raises(ConfigError, match="hide, closed, keep"):
        Environment("e", [Slot("equal", Equal())], thinking="drop")  # type: ignore[arg-type]


def test_the_reader_is_imported_when_it_is_used(tmp_path: Path) -> None:
    import subprocess

    code = "import sys, rlenv; assert 'rlenv.text' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def only_red(visible: str) -> bool:
    return visible == "Red."


def test_a_function_asks_for_the_visible_text_by_name() -> None:
    with Environment("e", only_red) as env:
        assert env.verify(TASK, THOUGHT) == 1.0
