"""What a step is answered, in the one form from which every protocol makes its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
from rlenv import StageResult, Verdict
from rlenv.authoring import plain
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict
from rlenv_plugin_agent import Step

from rlenv_serve.http.answers import encode
from rlenv_serve.keys import Tenant, sees_private
from rlenv_serve.state.journal import Kept


class Answer(Kept, msgspec.Struct, frozen=True, omit_defaults=True):
    """What one step came to.

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
        """What a step gave."""
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


def fault_kind(verdict: Verdict) -> str:
    """The kind of the fault of an unscored verdict; "" of a scored one."""
    if verdict.scored:
        return ""
    return verdict.fault.kind if verdict.fault else "error"


def encode_verdict(verdict: Verdict) -> bytes:
    """The whole verdict as JSON."""
    return encode(plain(verdict_to_dict(verdict)))


def decode_verdict(kept: bytes) -> Verdict:
    """The verdict that ``encode_verdict`` wrote."""
    return verdict_from_dict(json.loads(kept))


def stage_rows(verdict: Verdict, tenant: Tenant) -> list[dict[str, object]]:
    """The stages of a verdict, as an answer to this tenant has them."""
    private = sees_private(tenant)
    return [_stage(result, private=private) for result in verdict.results]


def _stage(result: StageResult, *, private: bool) -> dict[str, object]:
    row: dict[str, object] = {"stage": result.stage, "score": None, "seconds": result.seconds}
    if outcome := result.outcome:
        row |= {"score": outcome.score, "detail": outcome.detail, "data": plain(outcome.data)}
        row |= {"private": plain(outcome.private)} if private and outcome.private else {}
    if result.fault:
        row["fault"] = result.fault.kind
    if result.children:
        row["children"] = [_stage(each, private=private) for each in result.children]
    return row
