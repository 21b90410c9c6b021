"""Verdicts as the server keeps them, and as it shows them to a tenant."""

from __future__ import annotations

import json

from rlenv import StageResult, Verdict
from rlenv.authoring import plain
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict

from .http.answers import encode
from .http.keys import Tenant, sees_private


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
    """Return the stages of a verdict, as an answer to this tenant has them.

    Args:
        verdict: of an episode or a response.
        tenant: who sees it.
    """
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
