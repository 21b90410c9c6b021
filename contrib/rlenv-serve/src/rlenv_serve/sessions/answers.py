"""Answers to steps, in the one form from which every protocol makes its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from rlenv import Verdict
from rlenv.authoring import plain
from rlenv_plugin_agent import Step

from rlenv_serve.state.journal import JsonRecord
from rlenv_serve.verdicts import fault_kind


class Answer(JsonRecord, msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of one step.

    Args:
        number: of the step, from 1; 0 of the beginning.
        messages: what the policy is answered, as a chat has it.
        value: what the user of a game returned, where there is one.
        done: the episode has ended.
        stop: why.
        reward: in [0, 1] at the end; None before it, and where the episode is unscored.
        fault: the kind of the fault of an unscored episode.
    """

    number: int = 0
    messages: Sequence[Mapping[str, object]] = ()
    value: object = None
    done: bool = False
    stop: str = ""
    reward: float | None = None
    fault: str = ""

    @property
    def text(self) -> str:
        """The texts of the messages."""
        return "\n\n".join(str(each.get("content") or "") for each in self.messages)

    @classmethod
    def of(cls, number: int, step: Step, verdict: Verdict | None, stop: str | None) -> Answer:
        """Make the answer of a step.

        Args:
            number: of the step.
            step: as the episode gave it.
            verdict: of the episode; None before its end.
            stop: why it ended; None before its end.
        """
        messages = [plain(each) for each in step.observation]
        value = plain(step.info.get("observation"))
        if verdict is None:
            return cls(number, messages, value)  # type: ignore[arg-type] # `plain` of a mapping is a mapping
        return cls(
            number,
            messages,  # type: ignore[arg-type] # as above
            value,
            done=True,
            stop=stop or "",
            reward=verdict.value,
            fault=fault_kind(verdict),
        )
