"""The answer stands in nothing that a policy can see."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from rlenv.values import Task

from rlenv_audit.bench import Bench
from rlenv_audit.model import Result
from rlenv_audit.solved import text_of

from .base import Probe, Skip, counted, finding

__all__ = ["PROBES"]

SHORTEST = 4  # characters of a secret: shorter ones stand everywhere by chance


def _secrets(task: Task) -> Iterator[str]:
    wanted = text_of(task.answer)
    if wanted is not None and len(wanted) >= SHORTEST:
        yield wanted
    tests = task.info.get("tests")
    if isinstance(tests, dict):
        for key in ("golden", "test"):
            if isinstance(tests.get(key), str) and len(tests[key]) >= SHORTEST:
                yield tests[key]


def _forms(secret: str) -> Iterator[tuple[str, str]]:
    yield "as it is", secret
    yield (
        "in base64",
        base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode().rstrip("="),
    )
    yield "in hexadecimal", secret.encode("utf-8", "surrogatepass").hex()
    yield "backwards", secret[::-1]


def _stands(form: str, text: str) -> bool:
    if re.fullmatch(r"[\w.]+", form):
        return re.search(rf"(?<![\w.]){re.escape(form)}(?![\w.])", text) is not None
    return form in text


def _prompt(bench: Bench, probe: Probe) -> Result:
    """Not a number that the problem needs: only what says that it is the answer, or a golden program whole."""
    found, tried = [], 0
    for task in bench.tasks:
        for secret in _secrets(task):
            tried += 1
            told = re.search(
                rf"(?i)(answer|solution|gold|result)\s*(is|=|:)\s*\W{{0,3}}{re.escape(secret)}(?!\w)",
                task.prompt,
            )
            long = len(secret) > 40 and secret in task.prompt
            encoded = next(
                (
                    name
                    for name, form in list(_forms(secret))[1:3]
                    if form in task.prompt and len(form) > 7
                ),
                "",
            )
            if told or long or encoded:
                title = f"the prompt tells the answer{' ' + encoded if encoded else ''}"
                found.append(
                    finding(
                        probe, task, task.prompt[:400], None, title, "a prompt without the answer"
                    )
                )
                break
    if not tried:
        raise Skip("its tasks have no answer that is long enough to be recognized")
    return counted(probe, found, len(found), len(bench.tasks))


def _details(bench: Bench, probe: Probe) -> Result:
    """What comes with a reward for wrong responses."""
    wrong = (
        "",
        "42",
        "I do not know.",
        "\\boxed{-999}",
        "```python\ndef solution(*a): return None\n```",
    )
    found, tried = [], 0
    for task in bench.tasks:
        secrets = [secret for secret in _secrets(task) if secret not in task.prompt]
        if not secrets:
            continue
        tried += 1
        for text, reply in zip(wrong, bench.ask([(task, text) for text in wrong]), strict=True):
            words = f"{reply.said}\n{reply.message}"
            hit = next(
                (
                    name
                    for secret in secrets
                    if secret not in text
                    for name, form in _forms(secret)
                    if _stands(form, words)
                ),
                "",
            )
            if hit:
                title = f"what comes with the reward tells the answer, {hit}"
                found.append(
                    finding(
                        probe,
                        task,
                        text,
                        reply.reward,
                        title,
                        "feedback without the answer",
                        said=words[:300],
                    )
                )
                break
    if not tried:
        raise Skip("its tasks have no answer that is long enough to be recognized")
    return counted(probe, found, len(found), tried)


PROBES = (
    Probe("secrecy.prompt", "the prompt does not tell the answer", "high", "keep answers in a column of their own", "leak", special=_prompt),
    Probe("secrecy.detail", "feedback and errors do not tell the answer", "high", "say that it is wrong, and not what would be right", "leak", special=_details),
)  # fmt: skip
