"""Secrecy: what only the verifier knows is in nothing that a policy may read."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve
from rlenv.model.record import plain
from rlenv.model.values import StageResult, Task

from rlenv_testing.law import broken, case, for_each, law, skip
from rlenv_testing.strategies import NASTY
from rlenv_testing.subject import Subject, with_answer


@law
def test_secrecy(subject: Subject) -> None:
    """The answer is in no detail, data or error message: a policy that reads them would learn it by
    heart.

    A stage names in ``tells`` what of a task's info the prompt says too (``info.constraints``):
    that is no secret.
    """
    if not any(task.answer is not None or task.info for task in subject.tasks):
        skip("its tasks hold no answer")
    told = tuple(getattr(subject.stage, "tells", ()))
    nasty = [(task, text) for task in subject.tasks[:3] for text in ("", "?", *NASTY[10:16])]

    @for_each(subject, [*subject.wrong, *nasty])
    def _(task: Task, response: str) -> None:
        result = subject.result(task, response)
        for secret in secrets(_untold(task, told), response):
            if _tells(result, secret) and not _by_chance(subject, task, response, secret):
                shown = *case((task, response), result), ("public", public(result))
                broken("what a policy may read holds the answer", ("secret", secret), *shown)


def _untold(task: Task, told: tuple[str, ...]) -> Task:
    """The task without what the stage says that its prompt tells."""
    keys = {path.split(".")[1] for path in told if path.startswith("info.")}
    return evolve(task, info={k: v for k, v in task.info.items() if k not in keys})


def secrets(task: Task, response: str) -> Iterator[str]:
    """The texts of a task's answer and info that neither its prompt nor the response holds.

    Integers below 100 in info are none: they are in every count that a detail may give.
    """
    known = [text for text in _leaves(task.info) if not re.fullmatch(r"-?\d{1,2}", text)]
    for text in dict.fromkeys([*_leaves(task.answer), *known]):
        if text.strip() and text not in response and text not in task.prompt:
            yield text


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def public(result: StageResult) -> str:
    """All that a policy may come to read of it, as one text."""
    outcome = result.outcome
    fault = result.fault
    own = (
        [plain(outcome.detail), plain(outcome.data)]
        if outcome is not None
        else [fault and fault.message]
    )
    return json.dumps(
        own + [public(child) for child in result.children], ensure_ascii=False, default=str
    )


def _tells(result: StageResult, secret: str) -> bool:
    text = public(result)
    quoted = json.dumps(secret, ensure_ascii=False)[1:-1]
    return any(_stands(form, text) for form in {secret, quoted, quoted.replace("\\", "\\\\")}) or (
        any(form in text for form in _encoded(secret)) if len(secret) > 2 else False
    )


def _stands(form: str, text: str) -> bool:
    if len(form) > 3 and not form.isdigit():
        return form in text
    return re.search(rf"(?<![\w.]){re.escape(form)}(?![\w.])", text) is not None


def _encoded(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield base64.b64encode(raw).decode().rstrip("=")
    yield raw.hex()
    yield secret[::-1]


def _by_chance(subject: Subject, task: Task, response: str, secret: str) -> bool:
    """Whether it is also told when it is not the secret: with another task's answer in its
    place.
    """
    for other in subject.tasks:
        twin = evolve(with_answer(task, other), id=task.id)
        if secret not in [*_leaves(other.answer), *_leaves(other.info)]:
            return _tells(subject.result(twin, response, task), secret)
    return False
